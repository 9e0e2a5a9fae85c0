// Tells what it knows, and fails in the ways of a program in Go.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"

	referee "github.com/OWNER/referee/starter_kits/go"
)

var _, _ = fmt.Println("early")

type odd struct {
	match *referee.Match
	calls int
}

func (o *odd) Answer(method string, params json.RawMessage) (any, error) {
	o.calls++
	switch method {
	case "match":
		m, l := o.match, o.match.Limits
		deep := m.Options["deep"]
		return []any{m.Game, m.Seat, m.Names, deep, l.StartupMs, l.CallMs, l.Processes, l.ScratchBytes, m.Seed}, nil
	case "alive":
		return o.calls, nil
	case "child":
		child := exec.Command("sh", "-c", "echo a child; ls /dev/fd/ | wc -l")
		child.Stdout = os.Stdout
		return 0, child.Run()
	case "stdin":
		text, err := io.ReadAll(os.Stdin)
		return string(text), err
	case "nil":
		var nobody *odd
		return nobody.match.Seat, nil
	case "odd":
		panic(o.match.Limits)
	case "background":
		go func() { select {} }()
		return nil, nil
	}
	return nil, referee.ErrUnknownMethod
}

func (o *odd) Notice(method string, params json.RawMessage) error { return fmt.Errorf("in %s", method) }

func fresh(match *referee.Match) referee.Bot {
	if match.Seat == 7 {
		panic("no seat 7")
	}
	return &odd{match: match}
}

func main() {
	println("in main")
	referee.Run(referee.Program{Name: "Odd", Version: "2.1", Game: "odd"}, fresh)
}

// The bot that shows that the library keeps the wire's rules: it plays the pseudo-game "conformance", whose methods are
// the cases of protocol/vectors.
package main

import (
	"encoding/json"
	"errors"
	"fmt"

	referee "github.com/OWNER/referee/starter_kits/go"
)

type conformance struct {
	match *referee.Match
	notes []json.RawMessage
}

// given has the parameters of every method.
type given struct {
	Value   json.RawMessage `json:"value"`
	Message string          `json:"message"`
	Text    string          `json:"text"`
}

func (c *conformance) Answer(method string, params json.RawMessage) (any, error) {
	var given given
	if err := json.Unmarshal(params, &given); err != nil {
		return nil, err
	}
	switch method {
	case "echo":
		return given.Value, nil
	case "fail":
		return nil, errors.New(given.Message)
	case "print":
		fmt.Println(given.Text)
		return nil, nil
	case "nothing":
		return nil, nil
	case "notes":
		notes := c.notes
		c.notes = []json.RawMessage{}
		return notes, nil
	case "clock":
		return c.match.Clock, nil
	}
	return nil, referee.ErrUnknownMethod
}

func (c *conformance) Notice(method string, params json.RawMessage) error {
	var given given
	if err := json.Unmarshal(params, &given); err != nil {
		return err
	}
	if method == "note" {
		c.notes = append(c.notes, given.Value)
	}
	return nil
}

func main() {
	referee.Run(
		referee.Program{Name: "conformance", Version: "1", Game: "conformance"},
		func(match *referee.Match) referee.Bot { return &conformance{match, []json.RawMessage{}} },
	)
}

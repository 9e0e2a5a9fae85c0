// The bot's own tests: `go test .`.
package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestMain lets this program be the bot itself, when a test starts it as one.
func TestMain(m *testing.M) {
	if os.Getenv("BE_THE_BOT") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestItGreetsAndAnswersItsFirstCallAndEnds(t *testing.T) {
	frames, err := os.Open("tests/first_call.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	bot := exec.Command(os.Args[0])
	bot.Env, bot.Stdin, bot.Stderr = append(os.Environ(), "BE_THE_BOT=1"), frames, os.Stderr
	output, err := bot.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(output)), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d answers, wanted 2: %s", len(lines), output)
	}
	for id, line := range lines {
		var answer struct {
			ID     int
			Result any
			Error  any
		}
		if err := json.Unmarshal([]byte(line), &answer); err != nil || answer.ID != id || answer.Error != nil {
			t.Errorf("answer %d: %s", id, line)
		}
	}
}

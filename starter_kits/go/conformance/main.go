// The bot that shows that the library keeps the wire's rules: it plays the pseudo-game "conformance", whose methods are
// the cases of protocol/vectors.
package main

import (
	"errors"
	"fmt"

	"referee.internal/referee"
	"referee.internal/referee/wire"
)

type conformance struct {
	match *referee.Match
	notes []any
}

func (c *conformance) Answer(method string, params *referee.Params, result *wire.Writer) error {
	switch method {
	case "echo":
		result.Any(referee.Param(params, "value", (*wire.Reader).Any))
	case "fail":
		return errors.New(referee.Param(params, "message", (*wire.Reader).String))
	case "print":
		fmt.Println(referee.Param(params, "text", (*wire.Reader).String))
		result.Null()
	case "nothing":
		result.Null()
	case "notes":
		result.Any(c.notes)
		c.notes = nil
	case "clock":
		clock := c.match.Clock
		result.Any(map[string]any{
			"call_ms": clock.CallMs, "remaining_ms": clock.RemainingMs, "last_ms": clock.LastMs,
		})
	default:
		return referee.ErrUnknownMethod
	}
	return params.Err()
}

func (c *conformance) Notice(method string, params *referee.Params) error {
	if method == "note" {
		c.notes = append(c.notes, referee.Param(params, "value", (*wire.Reader).Any))
	}
	return params.Err()
}

func main() {
	referee.Run(
		referee.Program{Name: "conformance", Version: "1", Game: "conformance"},
		func(match *referee.Match) referee.Bot { return &conformance{match: match} },
	)
}

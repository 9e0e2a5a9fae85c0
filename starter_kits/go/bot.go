// Package referee lets a Go program play under the referee, and hides the wire: JSON-RPC 2.0 on standard input and
// output, as JSON lines or as MessagePack. A bot imports the package of its game, which uses this one, and calls
// that package's Run.
//
// Run turns standard output to standard error, empties standard input, and keeps the pipes for itself; where the referee
// has started the program that is done before main. So fmt.Println can be used for debugging.
package referee

import (
	"encoding/json"
	"errors"
)

// Match is what a bot knows about its match. A nil limit is no limit.
type Match struct {
	Game    string         `json:"game"`
	Options map[string]any `json:"options"` // numbers are float64
	Seat    int            `json:"seat"`    // 0 moves first
	Names   []string       `json:"names"`   // in the order of the seats
	Limits  Limits         `json:"limits"`
	Seed    uint64         `json:"seed"` // for the bot's own luck: the same match gives the same seed
	Clock   Clock          `json:"-"`    // of the call that is being answered
}

// Limits are the limits of a match.
type Limits struct {
	StartupMs       *int `json:"startup_ms"`
	CallMs          *int `json:"call_ms"`
	OpeningMs       *int `json:"opening_ms"`   // in the opening, where it is another than later
	ClosingMs       *int `json:"closing_ms"`   // for a call after the result
	ExitMs          *int `json:"exit_ms"`      // from exit to the program's end
	InitialMs       *int `json:"initial_ms"`   // the bank of time that the bot starts with
	IncrementMs     *int `json:"increment_ms"` // added to it after every answer
	CPUMs           *int `json:"cpu_ms"`
	MemoryBytes     *int `json:"memory_bytes"`
	Processes       *int `json:"processes"`         // that live at a time
	FrameBytes      *int `json:"frame_bytes"`       // one frame of the bot's
	CallOutputBytes *int `json:"call_output_bytes"` // standard output in one call
	StderrBytes     *int `json:"stderr_bytes"`      // standard error that is kept
	FileBytes       *int `json:"file_bytes"`        // one file that is written
	ScratchBytes    *int `json:"scratch_bytes"`     // all files in HOME together
}

// Clock is the time, as a call shows it; nil is no such limit, or not yet known.
type Clock struct {
	CallMs      *int `json:"call_ms"`                // the limit of this call
	RemainingMs *int `json:"remaining_ms"`           // what is left in the bank
	LastMs      *int `json:"last_ms"`                // what the previous call was charged
	AnswersLeft *int `json:"answers_left,omitempty"` // until the bank gets more; nil is never
}

// Some gives a member that may be absent its value: BuildType: referee.Some(reantics.Worker).
func Some[T any](value T) *T { return &value }

// Bot plays one match without types. The games' packages make one of a typed bot; each match gets a new one.
type Bot interface {
	// Answer answers a call with a value that encoding/json can write. The referee gets an error or a panic as the
	// call's error, in its own words. ErrUnknownMethod says that there is no such method.
	Answer(method string, params json.RawMessage) (any, error)

	// Notice hears a notification. Ignore unknown ones.
	Notice(method string, params json.RawMessage) error
}

// ErrUnknownMethod is what a bot answers to a call that it does not know.
var ErrUnknownMethod = errors.New("unknown method")

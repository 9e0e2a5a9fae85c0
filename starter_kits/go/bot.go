// Package referee lets a Go program play under the referee, and hides the wire: JSON-RPC 2.0 on standard input and
// output, as JSON lines or as MessagePack. A bot imports the package of its game, which uses this one, and calls
// that package's Run.
//
// Run turns standard output to standard error, empties standard input, and keeps the pipes for itself; where the referee
// has started the program that is done before main. So fmt.Println can be used for debugging.
package referee

import (
	"errors"
	"fmt"

	"referee.internal/referee/wire"
)

// Match is what a bot knows about its match. A nil limit is no limit.
type Match struct {
	Game    string
	Options map[string]any
	Seat    int      // 0 moves first
	Names   []string // in the order of the seats
	Limits  Limits
	Seed    uint64 // for the bot's own luck: the same match gives the same seed
	Clock   Clock  // of the call that is being answered
}

// Limits are the limits of a match.
type Limits struct {
	StartupMs       *int
	CallMs          *int
	OpeningMs       *int // in the opening, where it is another than later
	ClosingMs       *int // for a call after the result
	ExitMs          *int // from exit to the program's end
	InitialMs       *int // the bank of time that the bot starts with
	IncrementMs     *int // added to it after every answer
	CPUMs           *int
	MemoryBytes     *int
	Processes       *int // that live at a time
	FrameBytes      *int // one frame of the bot's
	CallOutputBytes *int // standard output in one call
	StderrBytes     *int // standard error that is kept
	FileBytes       *int // one file that is written
	ScratchBytes    *int // all files in HOME together
}

// Clock is the time, as a call shows it; nil is no such limit, or not yet known.
type Clock struct {
	CallMs      *int // the limit of this call
	RemainingMs *int // what is left in the bank
	LastMs      *int // what the previous call was charged
}

// Some gives a member that may be absent its value: BuildType: referee.Some(WORKER).
func Some[T any](value T) *T { return &value }

// Bot plays one match without types. The games' packages make one of a typed bot; each match gets a new one.
type Bot interface {
	// Answer answers a call: it writes one value. What it returns or panics with goes to the referee as the call's
	// error, in its own words; ErrUnknownMethod tells that there is no such method.
	Answer(method string, params *Params, result *wire.Writer) error

	// Notice hears a notification; unknown ones are ignored.
	Notice(method string, params *Params) error
}

// ErrUnknownMethod is what a bot answers to a call that it does not know.
var ErrUnknownMethod = errors.New("unknown method")

// Params are the parameters of a call or of a notification. They are good until the bot returns.
type Params struct {
	encoding wire.Encoding
	whole    []byte
	names    []string
	values   [][]byte
	clock    Clock
	err      error
}

// split finds the parameters by their names, so that their order does not matter, and reads the clock.
func (p *Params) split(whole []byte, encoding wire.Encoding) error {
	*p = Params{encoding: encoding, whole: whole, names: p.names[:0], values: p.values[:0]}
	if whole == nil {
		return nil
	}
	r := wire.NewReader(whole, encoding)
	for name := range r.Members() {
		if string(name) == "clock" {
			p.clock = wire.OrNil(r, readClock)
		} else {
			p.names = append(p.names, string(name))
			p.values = append(p.values, r.Raw())
		}
	}
	return r.Err()
}

// Whole reads all parameters as one object, as events want it.
func (p *Params) Whole() *wire.Reader { return wire.NewReader(p.whole, p.encoding) }

// Err is the first error of Param, or nil.
func (p *Params) Err() error { return p.err }

// Param reads one parameter. One that is missing reads as null does.
func Param[T any](p *Params, name string, read func(*wire.Reader) T) T {
	r := wire.NewReader([]byte("null"), wire.JSON)
	words := "is missing"
	for index, given := range p.names {
		if given == name {
			r, words = wire.NewReader(p.values[index], p.encoding), ""
		}
	}
	value := read(r)
	if err := r.Err(); err != nil && p.err == nil {
		if words == "" {
			words = err.Error()
		}
		p.err = fmt.Errorf("%s: %s", name, words)
	}
	return value
}

func readMatch(r *wire.Reader) *Match {
	match := &Match{}
	for name := range r.Members() {
		switch string(name) {
		case "game":
			match.Game = r.String()
		case "options":
			match.Options, _ = r.Any().(map[string]any)
		case "seat":
			match.Seat = r.Int()
		case "names":
			match.Names = wire.List(r, (*wire.Reader).String)
		case "limits":
			match.Limits = wire.OrNil(r, readLimits)
		case "seed":
			match.Seed = r.Uint()
		default:
			r.Raw()
		}
	}
	return match
}

func readLimits(r *wire.Reader) (limits Limits) {
	for name := range r.Members() {
		switch string(name) {
		case "startup_ms":
			limits.StartupMs = wire.Maybe(r, (*wire.Reader).Int)
		case "call_ms":
			limits.CallMs = wire.Maybe(r, (*wire.Reader).Int)
		case "opening_ms":
			limits.OpeningMs = wire.Maybe(r, (*wire.Reader).Int)
		case "closing_ms":
			limits.ClosingMs = wire.Maybe(r, (*wire.Reader).Int)
		case "exit_ms":
			limits.ExitMs = wire.Maybe(r, (*wire.Reader).Int)
		case "initial_ms":
			limits.InitialMs = wire.Maybe(r, (*wire.Reader).Int)
		case "increment_ms":
			limits.IncrementMs = wire.Maybe(r, (*wire.Reader).Int)
		case "cpu_ms":
			limits.CPUMs = wire.Maybe(r, (*wire.Reader).Int)
		case "memory_bytes":
			limits.MemoryBytes = wire.Maybe(r, (*wire.Reader).Int)
		case "processes":
			limits.Processes = wire.Maybe(r, (*wire.Reader).Int)
		case "frame_bytes":
			limits.FrameBytes = wire.Maybe(r, (*wire.Reader).Int)
		case "call_output_bytes":
			limits.CallOutputBytes = wire.Maybe(r, (*wire.Reader).Int)
		case "stderr_bytes":
			limits.StderrBytes = wire.Maybe(r, (*wire.Reader).Int)
		case "file_bytes":
			limits.FileBytes = wire.Maybe(r, (*wire.Reader).Int)
		case "scratch_bytes":
			limits.ScratchBytes = wire.Maybe(r, (*wire.Reader).Int)
		default:
			r.Raw()
		}
	}
	return limits
}

func readClock(r *wire.Reader) (clock Clock) {
	for name := range r.Members() {
		switch string(name) {
		case "call_ms":
			clock.CallMs = wire.Maybe(r, (*wire.Reader).Int)
		case "remaining_ms":
			clock.RemainingMs = wire.Maybe(r, (*wire.Reader).Int)
		case "last_ms":
			clock.LastMs = wire.Maybe(r, (*wire.Reader).Int)
		default:
			r.Raw()
		}
	}
	return clock
}

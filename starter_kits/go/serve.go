package referee

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"referee.internal/referee/wire"
)

// Program is what a program says of itself.
type Program struct {
	Name, Version string
	Game          string // the one that it plays
}

// Run plays with the bots that fresh makes, a new one for each match, until the referee ends the program or goes away.
// Then it returns, and main should too.
func Run(program Program, fresh func(*Match) Bot) {
	in, out := takePipes()
	s := server{program: program, fresh: fresh, frames: wire.NewFrames(in), out: out, encoding: wire.JSON}
	if err := s.serve(); err != nil {
		fmt.Fprintln(os.Stderr, "not a frame of the protocol:", err)
		os.Exit(1)
	}
}

var followers []func(*Match)

// OnMatch has follow called with each match when it begins, before its bot is made. A game's package sets its tables
// that depend on the options this way, from an init function.
func OnMatch(follow func(*Match)) { followers = append(followers, follow) }

type server struct {
	program  Program
	fresh    func(*Match) Bot
	frames   *wire.Frames
	out      io.Writer
	encoding wire.Encoding // of the frame at hand: the first answer is still JSON
	agreed   wire.Encoding // from the next frame on, as long as the process lives; "" before the first match
	match    *Match
	bot      Bot
	params   Params
	answers  wire.Writer
}

// serve answers frames until there are no more; the error is one that is none.
func (s *server) serve() error {
	for {
		frame, err := s.frames.Next(s.encoding)
		if wire.IsEnd(err) {
			return nil
		} else if err != nil {
			return err
		}
		var id, params []byte
		method := ""
		r := wire.NewReader(frame, s.encoding)
		for name := range r.Members() {
			switch string(name) {
			case "id":
				id = r.Raw()
			case "method":
				method = r.String()
			case "params":
				params = r.Raw()
			default:
				r.Raw()
			}
		}
		if r.Err() != nil {
			return r.Err()
		}
		if err := s.params.split(params, s.encoding); err != nil {
			return err
		}
		if method == "exit" {
			return nil
		}
		if id == nil {
			s.notice(method)
		} else if !s.respond(method, id) {
			return nil
		}
		if s.agreed != "" {
			s.encoding = s.agreed
		}
	}
}

func (s *server) notice(method string) {
	if s.bot != nil {
		attempt(method, func() error { return s.bot.Notice(method, &s.params) })
	}
}

// respond writes a frame with the result or the error, in one write; false when the referee is gone.
func (s *server) respond(method string, id []byte) bool {
	w := &s.answers
	s.begin(id, "result")
	err := attempt(method, func() error {
		if err := s.answer(method, w); err != nil {
			return err
		}
		return w.Err()
	})
	if err != nil {
		s.begin(id, "error")
		writeError(w, method, err)
	}
	w.EndObject()
	answer := w.Bytes()
	if s.encoding == wire.JSON {
		answer = append(answer, '\n')
	}
	_, err = s.out.Write(answer)
	return err == nil
}

func (s *server) begin(id []byte, member string) {
	w := &s.answers
	w.Reset(s.encoding)
	w.Object(3)
	w.Name("jsonrpc")
	w.String("2.0")
	w.Name("id")
	w.Raw(id)
	w.Name(member)
}

func writeError(w *wire.Writer, method string, err error) {
	code, message := -32000, err.Error()
	if errors.Is(err, ErrUnknownMethod) {
		code, message = -32601, "unknown method "+method
	}
	w.Object(2)
	w.Name("code")
	w.Int(code)
	w.Name("message")
	w.String(message)
	w.EndObject()
}

// attempt does work; what goes wrong, panics included, goes to standard error too. A panic tells where it was.
func attempt(method string, work func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("%v", value)
			fmt.Fprintf(os.Stderr, "%s: panic: %v\n%s", method, value, trace())
		} else if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", method, err)
		}
	}()
	return work()
}

// trace tells where a panic was: the part of the stack that is not Go's and not ours, innermost first.
func trace() string {
	text := ""
	stack := make([]uintptr, 50)
	frames := runtime.CallersFrames(stack[:runtime.Callers(0, stack)])
	for frame, more := frames.Next(); more; frame, more = frames.Next() {
		if !strings.HasPrefix(frame.Function, "runtime.") && !strings.HasPrefix(frame.Function, "referee.internal/referee") {
			text += fmt.Sprintf("\tin %s, %s:%d\n", frame.Function, frame.File, frame.Line)
		}
	}
	return text
}

func (s *server) answer(method string, w *wire.Writer) error {
	if method == "initialize" {
		return s.initialize(w)
	}
	if s.bot == nil {
		return fmt.Errorf("%s came before initialize", method)
	}
	s.match.Clock = s.params.clock
	return s.bot.Answer(method, &s.params, w)
}

func (s *server) initialize(w *wire.Writer) error {
	if protocol := Param(&s.params, "protocol", (*wire.Reader).Any); protocol != nil && protocol != 1 {
		return fmt.Errorf("protocol %v is unknown here; this is 1", protocol)
	}
	r := s.params.Whole()
	match := readMatch(r)
	if r.Err() != nil {
		return r.Err()
	}
	if match.Game != s.program.Game {
		return fmt.Errorf("this bot plays %s, not %s", s.program.Game, match.Game)
	}
	agreed, err := s.choose()
	if err != nil {
		return err
	}
	s.match, s.bot = nil, nil // the last match's bot ends before the next begins
	for _, follow := range followers {
		follow(match)
	}
	bot := s.fresh(match)
	s.match, s.bot, s.agreed = match, bot, agreed
	w.Object(4)
	w.Name("name")
	w.String(s.program.Name)
	w.Name("version")
	w.String(s.program.Version)
	w.Name("encoding")
	w.String(string(agreed))
	w.Name("reuse")
	w.Bool(true)
	w.EndObject()
	return nil
}

// choose gives the encoding in force, before the first match the first that is offered.
func (s *server) choose() (wire.Encoding, error) {
	if s.agreed != "" {
		return s.agreed, nil
	}
	offered := Param(&s.params, "encodings", func(r *wire.Reader) []string {
		return wire.OrNil(r, func(r *wire.Reader) []string { return wire.List(r, (*wire.Reader).String) })
	})
	for _, name := range offered {
		if encoding := wire.Encoding(name); encoding == wire.JSON || encoding == wire.Msgpack {
			return encoding, nil
		}
	}
	if offered == nil {
		return wire.JSON, nil
	}
	return "", fmt.Errorf("this bot speaks json and msgpack, and was offered %q", offered)
}

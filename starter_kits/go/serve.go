package referee

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"runtime"
	"strings"
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
	s := server{program: program, fresh: fresh, frames: newFrames(in), out: out, encoding: JSON}
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
	frames   *frames
	out      io.Writer
	encoding Encoding // of the frame at hand: the first answer is still JSON
	agreed   Encoding // from the next frame on, as long as the process lives; "" before the first match
	match    *Match
	bot      Bot
}

// request is a call, or without an ID a notification.
type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// response has a result or an error.
type response struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *failure        `json:"error,omitempty"`
}

type failure struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// serve answers frames until there are no more; the error is one that is none.
func (s *server) serve() error {
	for {
		frame, err := s.frames.next(s.encoding)
		if isEnd(err) {
			return nil
		} else if err != nil {
			return err
		}
		asked := request{Params: json.RawMessage("{}")}
		if err := json.Unmarshal(frame, &asked); err != nil {
			return err
		}
		if asked.Method == "exit" {
			return nil
		}
		if asked.ID == nil {
			s.notice(asked)
		} else if gone, err := s.respond(asked); gone || err != nil {
			return err
		}
		if s.agreed != "" {
			s.encoding = s.agreed
		}
	}
}

func (s *server) notice(asked request) {
	if s.bot != nil {
		attempt(asked.Method, func() error { return s.bot.Notice(asked.Method, asked.Params) })
	}
}

// respond writes a frame with the result or the error, in one write; true when the referee is gone.
func (s *server) respond(asked request) (bool, error) {
	answer := response{JSONRPC: "2.0", ID: asked.ID}
	err := attempt(asked.Method, func() error {
		result, err := s.answer(asked)
		if err == nil {
			answer.Result, err = encoded(result)
		}
		return err
	})
	if errors.Is(err, ErrUnknownMethod) {
		answer.Error = &failure{-32601, "unknown method " + asked.Method}
	} else if err != nil {
		answer.Error = &failure{-32000, err.Error()}
	}
	frame, err := encoded(answer)
	if err == nil && s.encoding == Msgpack {
		frame, err = packed(frame)
	}
	if err != nil {
		return false, err
	}
	_, err = s.out.Write(frame)
	return err != nil, nil
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
	text, ours := "", reflect.TypeFor[server]().PkgPath()
	stack := make([]uintptr, 50)
	frames := runtime.CallersFrames(stack[:runtime.Callers(0, stack)])
	for frame, more := frames.Next(); more; frame, more = frames.Next() {
		if !strings.HasPrefix(frame.Function, ours) {
			text += fmt.Sprintf("\tin %s, %s:%d\n", frame.Function, frame.File, frame.Line)
		}
	}
	return text
}

func (s *server) answer(asked request) (any, error) {
	if asked.Method == "initialize" {
		return s.initialize(asked.Params)
	}
	if s.bot == nil {
		return nil, fmt.Errorf("%s came before initialize", asked.Method)
	}
	var timed struct {
		Clock Clock `json:"clock"`
	}
	if err := json.Unmarshal(asked.Params, &timed); err != nil {
		return nil, err
	}
	s.match.Clock = timed.Clock
	return s.bot.Answer(asked.Method, asked.Params)
}

func (s *server) initialize(params json.RawMessage) (any, error) {
	offer := struct {
		Protocol  int        `json:"protocol"`
		Encodings []Encoding `json:"encodings"`
		*Match
	}{1, []Encoding{JSON}, &Match{}}
	if err := json.Unmarshal(params, &offer); err != nil {
		return nil, err
	}
	if offer.Protocol != 1 {
		return nil, fmt.Errorf("protocol %v is unknown here; this is 1", offer.Protocol)
	}
	if offer.Game != s.program.Game {
		return nil, fmt.Errorf("this bot plays %s, not %s", s.program.Game, offer.Game)
	}
	agreed, err := s.choose(offer.Encodings)
	if err != nil {
		return nil, err
	}
	s.match, s.bot = nil, nil // the last match's bot ends before the next begins
	for _, follow := range followers {
		follow(offer.Match)
	}
	bot := s.fresh(offer.Match)
	s.match, s.bot, s.agreed = offer.Match, bot, agreed
	return struct {
		Name     string   `json:"name"`
		Version  string   `json:"version"`
		Encoding Encoding `json:"encoding"`
		Reuse    bool     `json:"reuse"`
	}{s.program.Name, s.program.Version, agreed, true}, nil
}

// choose returns the encoding in force, before the first match the first that is offered.
func (s *server) choose(offered []Encoding) (Encoding, error) {
	if s.agreed != "" {
		return s.agreed, nil
	}
	for _, encoding := range offered {
		if encoding == JSON || encoding == Msgpack {
			return encoding, nil
		}
	}
	return "", fmt.Errorf("this bot speaks json and msgpack, and was offered %q", offered)
}

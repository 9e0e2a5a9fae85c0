package referee

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
)

// odd is a bot in trouble.
type odd struct{ match *Match }

func (o *odd) Answer(method string, params json.RawMessage) (any, error) {
	switch method {
	case "clock":
		return []*int{o.match.Clock.CallMs, o.match.Clock.RemainingMs, o.match.Clock.LastMs, o.match.Clock.AnswersLeft}, nil
	case "seed":
		return o.match.Seed, nil
	case "seat":
		var given struct {
			Seat int `json:"seat"`
		}
		return given, json.Unmarshal(params, &given)
	case "panic":
		panic("lost")
	case "index":
		return o.match.Names[9], nil
	case "nan":
		return []float64{math.NaN()}, nil
	case "channel":
		return map[string]any{"a": make(chan int)}, nil
	case "circle":
		circle := []any{nil}
		circle[0] = circle
		return circle, nil
	case "text":
		return "<a\xffb>", nil
	}
	return nil, ErrUnknownMethod
}

func (o *odd) Notice(method string, params json.RawMessage) error { panic("in " + method) }

const initialize = `{"id":0,"method":"initialize","params":{"protocol":1,"game":"odd","seat":0,"names":["a","b"],"encodings":["json"],"seed":18446744073709551615}}`

// answers plays the frames, one a line, and gives what is written.
func answers(t *testing.T, frames ...string) []string {
	t.Helper()
	var out bytes.Buffer
	s := server{
		program:  Program{Name: "Odd", Version: "1", Game: "odd"},
		fresh:    func(match *Match) Bot { return &odd{match} },
		frames:   newFrames(strings.NewReader(strings.Join(frames, "\n") + "\n")),
		out:      &out,
		encoding: JSON,
	}
	if err := s.serve(); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

func equal(t *testing.T, got []string, wanted ...string) {
	t.Helper()
	for index := range max(len(got), len(wanted)) {
		if index >= len(got) || index >= len(wanted) || got[index] != wanted[index] {
			t.Fatalf("got\n%s\nwanted\n%s", strings.Join(got, "\n"), strings.Join(wanted, "\n"))
		}
	}
}

const hello = `{"jsonrpc":"2.0","id":0,"result":{"name":"Odd","version":"1","encoding":"json","reuse":true}}`

func TestTheClockIsTheOneOfTheCallWhateverTheOrderOfTheMembers(t *testing.T) {
	equal(t, answers(t, initialize,
		`{"params":{"clock":{"call_ms":1000,"remaining_ms":null,"last_ms":3},"x":1},"method":"clock","newer":[{}],"id":1}`,
		`{"id":2,"method":"clock","params":{"x":{},"clock":{"last_ms":5,"answers_left":40}}}`,
		`{"id":3,"method":"clock"}`,
	), hello,
		`{"jsonrpc":"2.0","id":1,"result":[1000,null,3,null]}`,
		`{"jsonrpc":"2.0","id":2,"result":[null,null,5,40]}`,
		`{"jsonrpc":"2.0","id":3,"result":[null,null,null,null]}`,
	)
}

func TestABotInTroubleGoesOnServing(t *testing.T) {
	equal(t, answers(t, initialize,
		`{"id":1,"method":"panic"}`,
		`{"id":2,"method":"index"}`,
		`{"id":4,"method":"what"}`,
		`{"method":"trouble"}`,
		`{"id":5,"method":"seat","params":{"seat":3}}`,
		`{"id":6,"method":"seat","params":{"seat":"x"}}`,
		`{"id":7,"method":"seed"}`,
		`{"method":"exit"}`,
		`{"id":8,"method":"seed"}`,
	), hello,
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"lost"}}`,
		`{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"runtime error: index out of range [9] with length 2"}}`,
		`{"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"unknown method what"}}`,
		`{"jsonrpc":"2.0","id":5,"result":{"seat":3}}`,
		`{"jsonrpc":"2.0","id":6,"error":{"code":-32000,"message":"json: cannot unmarshal string into Go struct field .seat of type int"}}`,
		`{"jsonrpc":"2.0","id":7,"result":18446744073709551615}`,
	)
}

func TestAnAnswerThatJSONCannotHoldIsAnError(t *testing.T) {
	got := answers(t, initialize,
		`{"id":1,"method":"nan"}`,
		`{"id":2,"method":"channel"}`,
		`{"id":3,"method":"circle"}`,
		`{"id":4,"method":"text"}`,
	)
	for index, words := range []string{"json: unsupported value: NaN", "json: unsupported type: chan int", "json: unsupported value: encountered a cycle"} {
		if !strings.Contains(got[index+1], `"error":{"code":-32000,"message":"`+words) {
			t.Errorf("%s, not %s", got[index+1], words)
		}
	}
	equal(t, got[4:], `{"jsonrpc":"2.0","id":4,"result":"<a\ufffdb>"}`)
}

func TestAMatchThatCannotBePlayedIsRefused(t *testing.T) {
	equal(t, answers(t,
		`{"id":0,"method":"seed"}`,
		`{"id":1,"method":"initialize","params":{"game":"chess"}}`,
		`{"id":2,"method":"initialize","params":{"game":"odd","protocol":2}}`,
		`{"id":3,"method":"initialize","params":{"game":"odd","encodings":["xml"]}}`,
	),
		`{"jsonrpc":"2.0","id":0,"error":{"code":-32000,"message":"seed came before initialize"}}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"this bot plays odd, not chess"}}`,
		`{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"protocol 2 is unknown here; this is 1"}}`,
		`{"jsonrpc":"2.0","id":3,"error":{"code":-32000,"message":"this bot speaks json and msgpack, and was offered [\"xml\"]"}}`,
	)
}

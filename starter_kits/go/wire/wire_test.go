package wire

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

var encodings = []Encoding{JSON, Msgpack}

// written gives the bytes of a value.
func written(t *testing.T, value any, encoding Encoding) string {
	t.Helper()
	w := &Writer{}
	w.Reset(encoding)
	w.Any(value)
	if w.Err() != nil {
		t.Fatal(w.Err())
	}
	return string(w.Bytes())
}

func read(t *testing.T, text string, encoding Encoding) any {
	t.Helper()
	r := NewReader([]byte(text), encoding)
	value := r.Any()
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return value
}

// One value of every kind, as it is read.
var everyValue = map[string]any{
	"null": nil, "truth": true, "lie": false,
	"small": 1, "negative": -1, "byte": 200, "short": -30000, "long": 4000000000, "least": math.MinInt64,
	"largest": math.MaxInt64, "unsigned": uint64(math.MaxUint64), "double": 0.1, "whole": 1.0, "huge": 1e300, "tiny": -5e-324,
	"text": "quote \" and \\ and \n \u2028 \x00 😁", "empty": "", "long text": strings.Repeat("x", 70000),
	"list": []any{}, "lists": []any{[]any{1, []any{2.5}}, map[string]any{"": nil}}, "object": map[string]any{},
}

func TestEveryValueComesBackAsItWasInBothEncodings(t *testing.T) {
	for _, encoding := range encodings {
		if back := read(t, written(t, everyValue, encoding), encoding); !reflect.DeepEqual(back, everyValue) {
			t.Errorf("%s: %v", encoding, back)
		}
	}
}

func TestGosOwnSlicesMapsAndPointersCanBeSent(t *testing.T) {
	number := uint8(7)
	value := map[string]any{"a": []int{1}, "b": [2]float32{0.5, 1}, "c": map[string]bool{"d": true}, "e": &number, "f": (*int)(nil)}
	wanted := `{"a":[1],"b":[0.5,1.0],"c":{"d":true},"e":7,"f":null}`
	if text := written(t, value, JSON); text != wanted {
		t.Error(text)
	}
}

func TestWhatJSONCannotHoldIsAnErrorAndBadTextIsMended(t *testing.T) {
	circle := []any{nil}
	circle[0] = circle
	for _, encoding := range encodings {
		for words, value := range map[string]any{
			"NaN cannot be sent":             math.NaN(),
			"-Inf cannot be sent":            []float64{math.Inf(-1)},
			"a chan int cannot be sent":      map[string]any{"a": make(chan int)},
			"a map[int]int cannot be sent":   map[int]int{1: 1},
			"more than 256 lists and object": circle,
		} {
			w := &Writer{}
			w.Reset(encoding)
			w.Any(value)
			if w.Err() == nil || !strings.HasPrefix(w.Err().Error(), words) {
				t.Errorf("%s: %v, not %s", encoding, w.Err(), words)
			}
		}
		if back := read(t, written(t, "a\xffb", encoding), encoding); back != "a\ufffdb" {
			t.Errorf("%s: %q", encoding, back)
		}
	}
}

func TestAFrameThatComesInPiecesIsCutWhereItEnds(t *testing.T) {
	frame := map[string]any{"id": 1, "params": everyValue}
	for _, encoding := range encodings {
		text := written(t, frame, encoding)
		stream := text + text + text[:len(text)/2]
		if encoding == JSON {
			stream = "\n" + text + "\r\n\r\n" + text + "\n" + text[:len(text)/2]
		}
		frames := NewFrames(iotest.OneByteReader(strings.NewReader(stream)))
		for range 2 {
			cut, err := frames.Next(encoding)
			if string(cut) != text || err != nil {
				t.Fatalf("%s: %d bytes, not %d: %v", encoding, len(cut), len(text), err)
			}
		}
		if _, err := frames.Next(encoding); !IsEnd(err) {
			t.Errorf("%s: %v is not the end", encoding, err)
		}
	}
}

func TestTheEncodingChangesWithinWhatHasBeenRead(t *testing.T) {
	frames := NewFrames(strings.NewReader("{}\n" + written(t, everyValue, Msgpack)))
	if frame, err := frames.Next(JSON); string(frame) != "{}" || err != nil {
		t.Fatal(string(frame), err)
	}
	frame, err := frames.Next(Msgpack)
	if back := read(t, string(frame), Msgpack); err != nil || !reflect.DeepEqual(back, everyValue) {
		t.Error(back, err)
	}
}

func TestBytesThatAreNoFrameAreNotTheEnd(t *testing.T) {
	if _, err := NewFrames(strings.NewReader("\xc1")).Next(Msgpack); err == nil || IsEnd(err) {
		t.Error(err)
	}
}

func TestAValueOfAnotherTypeReadsAsAbsent(t *testing.T) {
	values := []any{nil, true, 1, 0.5, uint64(math.MaxUint64), "x", []any{[]any{1}}, map[string]any{"a": map[string]any{}}}
	for _, encoding := range encodings {
		for _, value := range values {
			r := NewReader([]byte(written(t, []any{value, value, value, value, value, 7}, encoding)), encoding)
			got := []any{}
			for index := range r.Items() {
				switch index {
				case 0:
					got = append(got, Maybe(r, (*Reader).Int))
				case 1:
					got = append(got, Maybe(r, (*Reader).String))
				case 2:
					got = append(got, Maybe(r, (*Reader).Bool))
				case 3:
					got = append(got, Maybe(r, ListOf((*Reader).Int)))
				case 4:
					got = append(got, Maybe(r, func(r *Reader) int { return len(r.Tag("a")) }))
				default:
					got = append(got, r.Int())
				}
			}
			if r.Err() != nil || got[5] != 7 {
				t.Fatalf("%s: %v: %v", encoding, value, r.Err())
			}
			for place, kind := range []reflect.Kind{reflect.Int, reflect.String, reflect.Bool} {
				isKind := value != nil && reflect.TypeOf(value).Kind() == kind
				if isThere := !reflect.ValueOf(got[place]).IsNil(); isThere != isKind {
					t.Errorf("%s: %v as %s: %v", encoding, value, kind, isThere)
				}
			}
			for _, other := range got[3:5] {
				if !reflect.ValueOf(other).IsNil() {
					t.Errorf("%s: %v read as %v", encoding, value, other)
				}
			}
		}
	}
}

func TestAnErrorTellsTheWayToIt(t *testing.T) {
	for _, encoding := range encodings {
		r := NewReader([]byte(written(t, map[string]any{"ants": []any{map[string]any{"health": "x"}}}, encoding)), encoding)
		for range r.Members() {
			List(r, func(r *Reader) (health int) {
				for range r.Members() {
					health = r.Int()
				}
				return health
			})
		}
		if r.Err() == nil || r.Err().Error() != "ants: health: not a whole number, or too large" {
			t.Errorf("%s: %v", encoding, r.Err())
		}
	}
}

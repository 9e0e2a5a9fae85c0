package referee

import (
	"encoding/hex"
	"strings"
	"testing"
	"testing/iotest"
)

// everyValue has every kind of value, and the numbers that a float64 or an int64 cannot hold.
const everyValue = `{"a":[null,true,0,-1,0.5,1.0,1e+300,-9223372036854775808,9007199254740993,18446744073709551615],"b":{"c":"(╯°□°)╯ \"<&>\u0000"},"d":[[],{}]}`

func inMsgpack(t *testing.T, text string) string {
	t.Helper()
	packs, err := packed([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return string(packs)
}

func TestAFrameInPiecesEndsWhereItEnds(t *testing.T) {
	packs := inMsgpack(t, everyValue)
	for encoding, stream := range map[Encoding]string{
		JSON:    "\n" + everyValue + "\r\n\r\n" + everyValue + "\n" + everyValue[:50],
		Msgpack: packs + packs + packs[:50],
	} {
		frames := newFrames(iotest.OneByteReader(strings.NewReader(stream)))
		for range 2 {
			frame, err := frames.next(encoding)
			text := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(strings.TrimSpace(string(frame)))
			if text != everyValue || err != nil {
				t.Fatalf("%s: %s: %v", encoding, text, err)
			}
		}
		if _, err := frames.next(encoding); !isEnd(err) {
			t.Errorf("%s: %v is not the end", encoding, err)
		}
	}
}

func TestTheEncodingChangesWithinWhatHasBeenRead(t *testing.T) {
	frames := newFrames(strings.NewReader("{}\n" + inMsgpack(t, `{"a":1.0}`)))
	if frame, err := frames.next(JSON); string(frame) != "{}\n" || err != nil {
		t.Fatal(string(frame), err)
	}
	if frame, err := frames.next(Msgpack); string(frame) != `{"a":1.0}` || err != nil {
		t.Error(string(frame), err)
	}
}

func TestAFloatInFourBytesIsRead(t *testing.T) {
	pack, _ := hex.DecodeString("ca3f000000")
	if frame, err := newFrames(strings.NewReader(string(pack))).next(Msgpack); string(frame) != "0.5" || err != nil {
		t.Error(string(frame), err)
	}
}

func TestBytesThatAreNoFrameAreNotTheEnd(t *testing.T) {
	if _, err := newFrames(strings.NewReader("\xc1")).next(Msgpack); err == nil || isEnd(err) {
		t.Error(err)
	}
}

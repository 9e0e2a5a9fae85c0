package referee

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/tinylib/msgp/msgp"
)

// Encoding is how a frame is written.
type Encoding string

// The encodings, by their names in the protocol.
const (
	JSON    Encoding = "json"
	Msgpack Encoding = "msgpack"
)

// frames reads the frames that the referee sends. Everything after this file sees JSON: a MessagePack frame is
// translated on the way in, and its answer on the way out.
type frames struct {
	in    *bufio.Reader
	packs *msgp.Reader // reads from in, from the first MessagePack frame on
}

func newFrames(in io.Reader) *frames {
	reader := bufio.NewReaderSize(in, 1<<16)
	return &frames{reader, msgp.NewReader(reader)}
}

// next waits for a frame. After a MessagePack frame, none can be JSON. The error may be the end of the stream: see
// isEnd.
func (f *frames) next(encoding Encoding) ([]byte, error) {
	if encoding == Msgpack {
		value, err := f.packs.ReadIntf()
		if err != nil {
			return nil, err
		}
		return json.Marshal(replaced(value, floatToText))
	}
	for {
		line, err := f.in.ReadBytes('\n')
		if err != nil || len(bytes.TrimSpace(line)) > 0 {
			return line, err
		}
	}
}

// isEnd tells the end of the stream, even within a frame, from bytes that are no frame.
func isEnd(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, msgp.ErrShortBytes)
}

// encoded returns a value as JSON on one line, with a line end.
func encoded(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return text.Bytes(), err
}

// packed translates JSON to MessagePack.
func packed(text []byte) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	return msgp.AppendIntf(nil, replaced(value, textToNumber))
}

// replaced replaces the numbers of a value.
func replaced(value any, number func(any) any) any {
	switch value := value.(type) {
	case []any:
		for index, item := range value {
			value[index] = replaced(item, number)
		}
	case map[string]any:
		for name, member := range value {
			value[name] = replaced(member, number)
		}
	default:
		return number(value)
	}
	return value
}

// floatToText keeps a float a float: encoding/json would write 1.0 as 1.
func floatToText(value any) any {
	number, isFloat := value.(float64)
	if single, isSingle := value.(float32); isSingle {
		number, isFloat = float64(single), true
	}
	if !isFloat {
		return value
	}
	text := strconv.FormatFloat(number, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return json.Number(text)
}

// textToNumber keeps a whole number whole, up to 64 bits.
func textToNumber(value any) any {
	text, isNumber := value.(json.Number)
	if !isNumber {
		return value
	}
	if number, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return number
	}
	if number, err := strconv.ParseUint(string(text), 10, 64); err == nil {
		return number
	}
	number, _ := text.Float64() // out of range: infinite
	return number
}

// Package wire reads and writes the values of a frame, which is JSON or MessagePack, with the same calls for both.
// The games' packages use it; a bot needs it only for a game that has no package.
package wire

import (
	"bytes"
	"errors"

	"github.com/go-faster/jx"
	"github.com/tinylib/msgp/msgp"
)

// Encoding is how a frame is written.
type Encoding string

// The encodings, by their names in the protocol.
const (
	JSON    Encoding = "json"
	Msgpack Encoding = "msgpack"
)

// Reader reads one value from its start to its end. What it cannot read is an error that stays: from then on every call
// gives a zero value, and Err tells where it was and what was wanted.
type Reader struct {
	packed bool
	text   jx.Decoder // what is left, when it is JSON
	pack   []byte     // what is left, when it is MessagePack
	err    error
}

// NewReader reads the value at the start of data, which must not change meanwhile.
func NewReader(data []byte, encoding Encoding) *Reader {
	r := &Reader{packed: encoding == Msgpack, pack: data}
	r.text.ResetBytes(data)
	return r
}

// Err is the first error, or nil.
func (r *Reader) Err() error { return r.err }

// Fail notes an error, unless there was one before.
func (r *Reader) Fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

var (
	errInt    = errors.New("not a whole number, or too large")
	errFloat  = errors.New("not a number")
	errBool   = errors.New("not true or false")
	errString = errors.New("not a text")
	errObject = errors.New("not an object")
	errList   = errors.New("not a list")
	errPair   = errors.New("not a list of two numbers")
	errValue  = errors.New("not a value")
)

// settle keeps the rest of the MessagePack, or notes what was wanted.
func (r *Reader) settle(rest []byte, err, wanted error) {
	if err != nil {
		r.Fail(wanted)
	} else if r.packed {
		r.pack = rest
	}
}

// Int reads a whole number.
func (r *Reader) Int() int {
	if r.err != nil {
		return 0
	}
	var number int64
	var rest []byte
	var err error
	if r.packed {
		number, rest, err = msgp.ReadInt64Bytes(r.pack)
	} else {
		number, err = r.text.Int64()
	}
	r.settle(rest, err, errInt)
	return int(number)
}

// Uint reads a whole number that may be larger than an int.
func (r *Reader) Uint() uint64 {
	switch number := r.Any().(type) {
	case uint64:
		return number
	case int:
		if number >= 0 {
			return uint64(number)
		}
	}
	r.Fail(errInt)
	return 0
}

// Float reads a number, whole or not.
func (r *Reader) Float() float64 {
	if r.err != nil {
		return 0
	}
	var number float64
	var rest []byte
	var err error
	switch {
	case !r.packed:
		number, err = r.text.Float64()
	case msgp.NextType(r.pack) == msgp.Float64Type || msgp.NextType(r.pack) == msgp.Float32Type:
		number, rest, err = msgp.ReadFloat64Bytes(r.pack)
	default:
		var whole int64
		whole, rest, err = msgp.ReadInt64Bytes(r.pack)
		number = float64(whole)
	}
	r.settle(rest, err, errFloat)
	return number
}

// Bool reads true or false.
func (r *Reader) Bool() bool {
	if r.err != nil {
		return false
	}
	var truth bool
	var rest []byte
	var err error
	if r.packed {
		truth, rest, err = msgp.ReadBoolBytes(r.pack)
	} else {
		truth, err = r.text.Bool()
	}
	r.settle(rest, err, errBool)
	return truth
}

// String reads a text.
func (r *Reader) String() string {
	if r.err != nil {
		return ""
	}
	var text, rest []byte
	var err error
	if r.packed {
		text, rest, err = msgp.ReadStringZC(r.pack)
	} else {
		text, err = r.text.StrBytes()
	}
	r.settle(rest, err, errString)
	return string(text)
}

// Null reads null and is true, or reads nothing and is false.
func (r *Reader) Null() bool {
	if r.err != nil {
		return false
	}
	if r.packed {
		isNull := msgp.NextType(r.pack) == msgp.NilType
		if isNull {
			r.pack = r.pack[1:]
		}
		return isNull
	}
	return r.text.Next() == jx.Null && r.text.Null() == nil
}

// Raw skips a value and gives its bytes.
func (r *Reader) Raw() []byte {
	if r.err != nil {
		return nil
	}
	if r.packed {
		rest, err := msgp.Skip(r.pack)
		raw := r.pack[:len(r.pack)-len(rest)]
		r.settle(rest, err, errValue)
		return raw
	}
	raw, err := r.text.Raw()
	r.settle(nil, err, errValue)
	return bytes.TrimLeft(raw, " \t\r\n")
}

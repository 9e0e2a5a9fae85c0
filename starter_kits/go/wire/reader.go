// Package wire reads and writes the values of a frame, which is JSON or MessagePack, with the same calls for both.
// The games' packages stand on it; a bot needs it only for a game that has no package.
package wire

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"strconv"

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

// Members goes through an object: at each member's name the loop must read or skip its value. The name is only good
// until then.
func (r *Reader) Members() iter.Seq[[]byte] { return r.members }

func (r *Reader) members(yield func(name []byte) bool) {
	if r.err != nil {
		return
	}
	if r.packed {
		size, rest, err := msgp.ReadMapHeaderBytes(r.pack)
		r.settle(rest, err, errObject)
		for range size {
			if r.err != nil {
				return
			}
			name, rest, err := msgp.ReadMapKeyZC(r.pack)
			r.settle(rest, err, errObject)
			if r.err != nil || !r.member(name, yield) {
				return
			}
		}
		return
	}
	object, err := r.text.ObjIter()
	r.settle(nil, err, errObject)
	for r.err == nil && object.Next() {
		if !r.member(object.Key(), yield) {
			return
		}
	}
	if object.Err() != nil {
		r.Fail(errObject)
	}
}

// member has one member read; an error in it tells the way to it.
func (r *Reader) member(name []byte, yield func(name []byte) bool) bool {
	goesOn := yield(name)
	if r.err != nil {
		r.err = fmt.Errorf("%s: %w", name, r.err)
	}
	return goesOn
}

// Items goes through a list: at each item the loop must read or skip it.
func (r *Reader) Items() iter.Seq[int] { return r.items }

func (r *Reader) items(yield func(index int) bool) {
	if r.err != nil {
		return
	}
	if r.packed {
		size, rest, err := msgp.ReadArrayHeaderBytes(r.pack)
		r.settle(rest, err, errList)
		for index := 0; index < int(size) && r.err == nil && yield(index); index++ {
		}
		return
	}
	list, err := r.text.ArrIter()
	r.settle(nil, err, errList)
	for index := 0; r.err == nil && list.Next() && yield(index); index++ {
	}
	if list.Err() != nil {
		r.Fail(errList)
	}
}

// Pair reads a list of two whole numbers.
func (r *Reader) Pair() (first, second int) {
	count := 0
	for index := range r.Items() {
		switch count++; index {
		case 0:
			first = r.Int()
		case 1:
			second = r.Int()
		default:
			r.Raw()
		}
	}
	if count < 2 {
		r.Fail(errPair)
	}
	return first, second
}

// Any reads any value: nil, bool, int, uint64 (above the largest int), float64, string, []any or map[string]any.
func (r *Reader) Any() any {
	if r.packed {
		return r.anyPacked()
	}
	switch r.text.Next() {
	case jx.Number:
		return r.number()
	case jx.Null:
		r.Null()
		return nil
	case jx.Bool:
		return r.Bool()
	case jx.String:
		return r.String()
	case jx.Array:
		return List(r, (*Reader).Any)
	}
	return r.object()
}

func (r *Reader) anyPacked() any {
	switch msgp.NextType(r.pack) {
	case msgp.IntType, msgp.UintType:
		if number, rest, err := msgp.ReadUint64Bytes(r.pack); err == nil && int(number) < 0 {
			r.pack = rest
			return number
		}
		return r.Int()
	case msgp.Float32Type, msgp.Float64Type:
		return r.Float()
	case msgp.NilType:
		r.Null()
		return nil
	case msgp.BoolType:
		return r.Bool()
	case msgp.StrType:
		return r.String()
	case msgp.ArrayType:
		return List(r, (*Reader).Any)
	}
	return r.object()
}

// number reads a JSON number: with a fraction or an exponent it is a float64.
func (r *Reader) number() any {
	text, err := r.text.Num()
	r.settle(nil, err, errFloat)
	if !bytes.ContainsAny(text, ".eE") {
		if number, err := strconv.ParseInt(string(text), 10, 64); err == nil {
			return int(number)
		}
		if number, err := strconv.ParseUint(string(text), 10, 64); err == nil {
			return number
		}
	}
	number, err := strconv.ParseFloat(string(text), 64)
	r.settle(nil, err, errFloat)
	return number
}

func (r *Reader) object() any {
	object := map[string]any{}
	for name := range r.Members() {
		key := string(name)
		object[key] = r.Any()
	}
	return object
}

// Tag looks ahead for the text of one member of an object, which tells what the object is. It reads nothing.
func (r *Reader) Tag(member string) string {
	ahead := *r
	text := ""
	for name := range ahead.Members() {
		if string(name) == member {
			text = ahead.String()
		} else {
			ahead.Raw()
		}
	}
	r.Fail(ahead.err)
	return text
}

// UnknownTag is the error for an object that is none of those that its tag can name.
func UnknownTag(member string) error {
	return fmt.Errorf("%s names nothing that is known here", member)
}

// List reads a list.
func List[T any](r *Reader, read func(*Reader) T) []T {
	items := []T{}
	for range r.Items() {
		items = append(items, read(r))
	}
	return items
}

// Maybe reads a value that may be null. A value of another type counts as null too: some events show what a rival sent,
// and a rival may send anything.
func Maybe[T any](r *Reader, read func(*Reader) T) *T {
	before := *r
	if r.Null() {
		return nil
	}
	value := read(r)
	if before.err == nil && r.err != nil {
		*r = before
		r.Raw()
		return nil
	}
	return &value
}

// OrNil is Maybe for what has a nil of its own: lists and interfaces.
func OrNil[T any](r *Reader, read func(*Reader) T) T {
	if value := Maybe(r, read); value != nil {
		return *value
	}
	var null T
	return null
}

// ListOf reads lists.
func ListOf[T any](read func(*Reader) T) func(*Reader) []T {
	return func(r *Reader) []T { return List(r, read) }
}

// MaybeOf reads what may be null.
func MaybeOf[T any](read func(*Reader) T) func(*Reader) *T {
	return func(r *Reader) *T { return Maybe(r, read) }
}

// OrNilOf reads what may be null and has a nil of its own.
func OrNilOf[T any](read func(*Reader) T) func(*Reader) T {
	return func(r *Reader) T { return OrNil(r, read) }
}

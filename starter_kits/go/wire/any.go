package wire

import (
	"bytes"
	"strconv"

	"github.com/go-faster/jx"
	"github.com/tinylib/msgp/msgp"
)

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

package wire

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-faster/jx"
	"github.com/tinylib/msgp/msgp"
)

// maxDepth is the protocol's limit of lists and objects in one another, the frame itself included.
const maxDepth = 256

// Writer writes one value. What cannot be written is an error that stays.
type Writer struct {
	packed bool
	text   jx.Encoder // when it is JSON
	pack   []byte     // when it is MessagePack
	depth  int
	err    error
}

// Reset begins anew.
func (w *Writer) Reset(encoding Encoding) {
	w.packed, w.pack, w.depth, w.err = encoding == Msgpack, w.pack[:0], 0, nil
	w.text.Reset()
}

// Bytes is what has been written; it is good until Reset.
func (w *Writer) Bytes() []byte {
	if w.packed {
		return w.pack
	}
	return w.text.Bytes()
}

// Err is the first error, or nil.
func (w *Writer) Err() error { return w.err }

// Fail notes an error, unless there was one before.
func (w *Writer) Fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// Null writes null.
func (w *Writer) Null() {
	if w.packed {
		w.pack = msgp.AppendNil(w.pack)
	} else {
		w.text.Null()
	}
}

// Bool writes true or false.
func (w *Writer) Bool(truth bool) {
	if w.packed {
		w.pack = msgp.AppendBool(w.pack, truth)
	} else {
		w.text.Bool(truth)
	}
}

// Int writes a whole number.
func (w *Writer) Int(number int) {
	if w.packed {
		w.pack = msgp.AppendInt(w.pack, number)
	} else {
		w.text.Int(number)
	}
}

// Uint writes a whole number, which may be larger than an int.
func (w *Writer) Uint(number uint64) {
	if w.packed {
		w.pack = msgp.AppendUint64(w.pack, number)
	} else {
		w.text.UInt64(number)
	}
}

// Float writes a number that stays a float: 1 is written as 1.0. NaN and infinities cannot be sent.
func (w *Writer) Float(number float64) {
	if math.IsNaN(number) || math.IsInf(number, 0) {
		w.Fail(fmt.Errorf("%v cannot be sent", number))
		number = 0
	}
	if w.packed {
		w.pack = msgp.AppendFloat64(w.pack, number)
		return
	}
	text := strconv.FormatFloat(number, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	w.text.RawStr(text)
}

// String writes a text; invalid UTF-8 in it is replaced.
func (w *Writer) String(text string) {
	text = strings.ToValidUTF8(text, "\ufffd")
	if w.packed {
		w.pack = msgp.AppendString(w.pack, text)
	} else {
		w.text.Str(text)
	}
}

// Raw writes a value that was read in the same encoding.
func (w *Writer) Raw(value []byte) {
	if w.packed {
		w.pack = append(w.pack, value...)
	} else {
		w.text.Raw(value)
	}
}

// Object begins an object: Name and a value for each of its members, then EndObject.
func (w *Writer) Object(size int) {
	w.deeper()
	if w.packed {
		w.pack = msgp.AppendMapHeader(w.pack, uint32(size))
	} else {
		w.text.ObjStart()
	}
}

// Name begins a member.
func (w *Writer) Name(name string) {
	if w.packed {
		w.pack = msgp.AppendString(w.pack, name)
	} else {
		w.text.FieldStart(name)
	}
}

// EndObject ends an object.
func (w *Writer) EndObject() {
	w.depth--
	if !w.packed {
		w.text.ObjEnd()
	}
}

// List begins a list: its items, then EndList.
func (w *Writer) List(size int) {
	w.deeper()
	if w.packed {
		w.pack = msgp.AppendArrayHeader(w.pack, uint32(size))
	} else {
		w.text.ArrStart()
	}
}

// EndList ends a list.
func (w *Writer) EndList() {
	w.depth--
	if !w.packed {
		w.text.ArrEnd()
	}
}

func (w *Writer) deeper() {
	if w.depth++; w.depth > maxDepth {
		w.Fail(fmt.Errorf("more than %d lists and objects in one another cannot be sent", maxDepth))
	}
}

// Any writes a value that JSON can hold: nil, truth values, numbers, texts, slices, arrays, maps with texts for keys, and
// pointers to any of them.
func (w *Writer) Any(value any) {
	v := reflect.ValueOf(value)
	switch {
	case w.err != nil:
	case !v.IsValid():
		w.Null()
	case v.Kind() == reflect.Bool:
		w.Bool(v.Bool())
	case v.CanInt():
		w.Int(int(v.Int()))
	case v.CanUint():
		w.Uint(v.Uint())
	case v.CanFloat():
		w.Float(v.Float())
	case v.Kind() == reflect.String:
		w.String(v.String())
	case v.Kind() == reflect.Pointer:
		w.pointer(v)
	case v.Kind() == reflect.Slice, v.Kind() == reflect.Array:
		w.List(v.Len())
		for index := range v.Len() {
			w.Any(v.Index(index).Interface())
		}
		w.EndList()
	case v.Kind() == reflect.Map && v.Type().Key().Kind() == reflect.String:
		w.members(v)
	default:
		w.Fail(fmt.Errorf("a %s cannot be sent", v.Type()))
	}
}

func (w *Writer) pointer(v reflect.Value) {
	w.deeper()
	if v.IsNil() {
		w.Null()
	} else {
		w.Any(v.Elem().Interface())
	}
	w.depth--
}

func (w *Writer) members(v reflect.Value) {
	values := map[string]reflect.Value{}
	for entry := v.MapRange(); entry.Next(); {
		values[entry.Key().String()] = entry.Value()
	}
	w.Object(len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		w.Name(strings.ToValidUTF8(name, "\ufffd"))
		w.Any(values[name].Interface())
	}
	w.EndObject()
}

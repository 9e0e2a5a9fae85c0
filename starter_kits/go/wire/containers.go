package wire

import (
	"fmt"
	"iter"

	"github.com/tinylib/msgp/msgp"
)

// Values that contain others.

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

package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/tinylib/msgp/msgp"
)

// Frames cuts what is read from the referee into frames. A frame that comes in pieces is looked at once.
type Frames struct {
	in    *bufio.Reader
	packs *msgp.Reader // above `in`, from the first MessagePack frame on
	frame bytes.Buffer
}

// NewFrames reads from in, in bulk.
func NewFrames(in io.Reader) *Frames {
	return &Frames{in: bufio.NewReaderSize(in, 1<<16)}
}

// Next waits for a frame; its bytes are good until the next call. The encoding cannot go back to JSON. The error may
// be the end of the stream: see IsEnd.
func (f *Frames) Next(encoding Encoding) ([]byte, error) {
	f.frame.Reset()
	if encoding == Msgpack {
		if f.packs == nil {
			f.packs = msgp.NewReaderSize(f.in, 1<<16)
		}
		_, err := f.packs.CopyNext(&f.frame)
		return f.frame.Bytes(), err
	}
	for {
		part, err := f.in.ReadSlice('\n')
		f.frame.Write(part)
		if err == bufio.ErrBufferFull {
			continue
		}
		if err != nil {
			return nil, err
		}
		if line := bytes.TrimSpace(f.frame.Bytes()); len(line) > 0 {
			return line, nil
		}
		f.frame.Reset()
	}
}

// IsEnd tells the end of the stream, also in the middle of a frame, from bytes that are no frame.
func IsEnd(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, msgp.ErrShortBytes)
}

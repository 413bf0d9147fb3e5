package codec

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/storage"
)

// A record is stored as a row of fields. A field is a tag byte, which holds its number and its shape, then a varint or
// a length and bytes. Zero fields are left out, so they cost nothing. A field that a later version adds is zero in
// records that were written before.

// The shapes of fields.
const (
	shapeNumber byte = iota // a varint
	shapeBytes              // a length as varint, then as many bytes
)

// tag returns the first byte of a field.
func tag(field, shape byte) byte { return field<<1 | shape }

// fields appends fields to a row.
type fields []byte

func (f *fields) number(field byte, v uint64) {
	if v != 0 {
		*f = binary.AppendUvarint(append(*f, tag(field, shapeNumber)), v)
	}
}

func (f *fields) int(field byte, v int) { f.number(field, uint64(v)) }

func (f *fields) flag(field byte, v bool) {
	if v {
		f.number(field, 1)
	}
}

// time also writes the epoch, which is not the zero time.
func (f *fields) time(field byte, t time.Time) {
	if !t.IsZero() {
		*f = binary.AppendUvarint(append(*f, tag(field, shapeNumber)), uint64(t.UnixMicro()))
	}
}

func (f *fields) bytes(field byte, b []byte) {
	if len(b) != 0 {
		*f = binary.AppendUvarint(append(*f, tag(field, shapeBytes)), uint64(len(b)))
		*f = append(*f, b...)
	}
}

func (f *fields) text(field byte, s string) {
	if s != "" {
		*f = binary.AppendUvarint(append(*f, tag(field, shapeBytes)), uint64(len(s)))
		*f = append(*f, s...)
	}
}

// held writes the number of a payload, or the inline value. The shape distinguishes them.
func (f *fields) held(field byte, h storage.Held) {
	if h.Ref != 0 {
		f.number(field, uint64(h.Ref))
		return
	}
	f.bytes(field, h.Data)
}

// row writes a row within the row. Unlike other fields, an empty one is written too, because its caller knows that it
// exists.
func (f *fields) row(field byte, write func(*fields)) {
	var inner fields
	write(&inner)
	*f = binary.AppendUvarint(append(*f, tag(field, shapeBytes)), uint64(len(inner)))
	*f = append(*f, inner...)
}

// A scan reads a row field by field. After the first error, which it keeps, it reads nothing more.
type scan struct {
	rest  []byte
	field byte
	shape byte
	num   uint64
	raw   []byte
	err   error
}

// next moves to the next field.
func (s *scan) next() bool {
	if s.err != nil || len(s.rest) == 0 {
		return false
	}
	s.field, s.shape = s.rest[0]>>1, s.rest[0]&1
	v, n := binary.Uvarint(s.rest[1:])
	if n <= 0 {
		s.fail("its number cannot be read")
		return false
	}
	s.num, s.raw, s.rest = v, nil, s.rest[1+n:]
	if s.shape == shapeBytes {
		if v > uint64(len(s.rest)) {
			s.fail("it is longer than the record")
			return false
		}
		s.raw, s.rest = s.rest[:v:v], s.rest[v:]
	}
	return true
}

func (s *scan) fail(problem string) {
	if s.err == nil {
		s.err = fmt.Errorf("%w: field %d: %s", storage.ErrCorrupt, s.field, problem)
	}
}

// unknown fails because this version does not know the field.
func (s *scan) unknown() { s.fail("no such field (written by a newer Ebb?)") }

func (s *scan) number() uint64 {
	if s.shape != shapeNumber {
		s.fail("it is not a number")
		return 0
	}
	return s.num
}

func (s *scan) int() int { return int(s.number()) }

func (s *scan) byte() uint8 {
	v := s.number()
	if v > math.MaxUint8 {
		s.fail("it is out of range")
	}
	return uint8(v)
}

func (s *scan) flag() bool { return s.number() != 0 }

func (s *scan) time() time.Time {
	v := s.number()
	if s.err != nil {
		return time.Time{}
	}
	return time.UnixMicro(int64(v)).UTC()
}

// bytes returns a copy, so that the whole row does not stay in memory.
func (s *scan) bytes() []byte {
	if s.shape != shapeBytes {
		s.fail("it is not bytes")
		return nil
	}
	return append([]byte(nil), s.raw...)
}

func (s *scan) text() string {
	if s.shape != shapeBytes {
		s.fail("it is not text")
		return ""
	}
	return string(s.raw)
}

func (s *scan) value() atom.Value { return s.bytes() }

func (s *scan) held(payload Payloads) storage.Held {
	if s.shape == shapeBytes {
		return storage.Held{Data: s.bytes()}
	}
	h := storage.Held{Ref: int64(s.num)}
	data, err := payload(h.Ref)
	if err != nil {
		if s.err == nil {
			s.err = err
		}
		return h
	}
	h.Data = data
	return h
}

// row returns a scan of a row within the row.
func (s *scan) row() *scan {
	if s.shape != shapeBytes {
		s.fail("it is not a record")
		return &scan{err: s.err}
	}
	return &scan{rest: s.raw}
}

// end takes over the error of an inner row.
func (s *scan) end(inner *scan) {
	if s.err == nil {
		s.err = inner.err
	}
}

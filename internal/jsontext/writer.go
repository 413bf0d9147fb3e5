package jsontext

import (
	"strconv"
	"time"
)

// AppendString appends a JSON string, and escapes only what must be escaped.
func AppendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	plain := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[plain:i]...)
		plain = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(append(b, s[plain:]...), '"')
}

// A Writer writes a JSON object after a prefix, member by member, in the order of the calls.
type Writer struct {
	b     []byte
	start int
}

// NewWriter starts an object after a prefix.
func NewWriter(prefix ...byte) *Writer {
	return &Writer{b: append(append(make([]byte, 0, 256), prefix...), '{'), start: len(prefix) + 1}
}

// Name writes the name of a member. The caller writes its value next.
func (w *Writer) Name(name string) {
	if len(w.b) > w.start {
		w.b = append(w.b, ',')
	}
	w.b = append(AppendString(w.b, name), ':')
}

// Raw writes a member whose value already is JSON text. It leaves out a member without text.
func (w *Writer) Raw(name string, value []byte) {
	if len(value) > 0 {
		w.Name(name)
		w.b = append(w.b, value...)
	}
}

// Text writes a member that is a string, unless it is empty.
func (w *Writer) Text(name, value string) {
	if value != "" {
		w.String(name, value)
	}
}

// String writes a member that is a string, also an empty one.
func (w *Writer) String(name, value string) {
	w.Name(name)
	w.b = AppendString(w.b, value)
}

// Number writes a member that is a whole number, also 0.
func (w *Writer) Number(name string, value int64) {
	w.Name(name)
	w.b = strconv.AppendInt(w.b, value, 10)
}

// Int writes a member that is a number, unless it is 0.
func (w *Writer) Int(name string, value int64) {
	if value != 0 {
		w.Number(name, value)
	}
}

// True writes a member that is true. It leaves out one that is false.
func (w *Writer) True(name string, value bool) {
	if value {
		w.Name(name)
		w.b = append(w.b, "true"...)
	}
}

// Time writes a member that is a time, unless it is zero.
func (w *Writer) Time(name string, value time.Time) {
	if !value.IsZero() {
		w.Name(name)
		w.b = append(value.AppendFormat(append(w.b, '"'), time.RFC3339Nano), '"')
	}
}

// List writes a member that is an array of n elements, unless it is empty. Each call of each appends one element.
func (w *Writer) List(name string, n int, each func(b []byte, i int) []byte) {
	if n == 0 {
		return
	}
	w.Name(name)
	w.b = append(w.b, '[')
	for i := range n {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.b = each(w.b, i)
	}
	w.b = append(w.b, ']')
}

// Empty reports whether no member was written.
func (w *Writer) Empty() bool { return len(w.b) == w.start }

// Bytes returns the prefix and the object.
func (w *Writer) Bytes() []byte { return append(w.b, '}') }

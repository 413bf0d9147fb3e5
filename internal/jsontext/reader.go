package jsontext

import (
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"
)

// An Error says where and why a text is not valid JSON.
type Error struct {
	Offset  int    // in bytes
	Problem string // what was expected, and what was found
	Deep    bool   // the text is valid, but nests too deeply
}

// Error returns the offset and the problem.
func (e *Error) Error() string { return fmt.Sprintf("offset %d: %s", e.Offset, e.Problem) }

// A Reader reads JSON text from front to back. All its errors are *[Error].
type Reader struct {
	text []byte
	pos  int
}

// NewReader returns a reader at the start of a text.
func NewReader(text []byte) *Reader { return &Reader{text: text} }

func (r *Reader) fault(format string, args ...any) error {
	return &Error{Offset: r.pos, Problem: fmt.Sprintf(format, args...)}
}

func (r *Reader) deep() error {
	return &Error{Offset: r.pos, Deep: true, Problem: "objects and arrays nest deeper than they may"}
}

// found describes the text at the reader's position.
func (r *Reader) found() string {
	if r.pos >= len(r.text) {
		return "the end of the text"
	}
	end := r.pos
	for end < len(r.text) && end-r.pos < 24 && isWord(r.text[end]) {
		end++
	}
	if end == r.pos {
		_, size := utf8.DecodeRune(r.text[r.pos:])
		end += size
	}
	return strconv.Quote(string(r.text[r.pos:end]))
}

func isWord(c byte) bool {
	return c == '_' || c == '-' || c == '.' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// next returns the byte at the reader's position, or 0 at the end.
func (r *Reader) next() byte {
	if r.pos < len(r.text) {
		return r.text[r.pos]
	}
	return 0
}

// Offset returns the reader's position in bytes.
func (r *Reader) Offset() int { return r.pos }

// Space skips white space.
func (r *Reader) Space() {
	for r.pos < len(r.text) {
		switch r.text[r.pos] {
		case ' ', '\t', '\n', '\r':
			r.pos++
		default:
			return
		}
	}
}

func (r *Reader) take(c byte) bool {
	if r.pos < len(r.text) && r.text[r.pos] == c {
		r.pos++
		return true
	}
	return false
}

// word skips null, true or false.
func (r *Reader) word() (string, error) {
	rest := r.text[r.pos:]
	for _, word := range []string{"null", "true", "false"} {
		if len(rest) >= len(word) && string(rest[:len(word)]) == word && (len(rest) == len(word) ||
			!isWord(rest[len(word)])) {
			r.pos += len(word)
			return word, nil
		}
	}
	return "", r.fault("expected a JSON value (an object, array, string, number, true, false or null), found %s",
		r.found())
}

// Members calls value for each member of an object, with the reader at the member's value. value must read past it.
func (r *Reader) Members(value func(name string) error) error {
	return r.members(func(name string, _ int) error { return value(name) })
}

func (r *Reader) members(value func(name string, at int) error) error {
	if r.Space(); !r.take('{') {
		return r.fault("expected an object, found %s", r.found())
	}
	if r.Space(); r.take('}') {
		return nil
	}
	for {
		if r.Space(); r.next() != '"' {
			if r.next() == '}' {
				return r.fault(`expected a member's name in double quotes behind the comma, found "}"`)
			}
			return r.fault("expected a member's name in double quotes, found %s", r.found())
		}
		at := r.pos
		name, err := r.String()
		if err != nil {
			return err
		}
		if r.Space(); !r.take(':') {
			return r.fault("expected ':' behind the name %s, found %s", Quote(name), r.found())
		}
		r.Space()
		if err := value(name, at); err != nil {
			return err
		}
		if r.Space(); r.take(',') {
			continue
		}
		if !r.take('}') {
			return r.fault("expected ',' or '}' behind the value of %s, found %s", Quote(name), r.found())
		}
		return nil
	}
}

// Elements calls value for each element of an array, with the reader at the element. value must read past it.
func (r *Reader) Elements(value func() error) error {
	if r.Space(); !r.take('[') {
		return r.fault("expected an array, found %s", r.found())
	}
	if r.Space(); r.take(']') {
		return nil
	}
	for {
		r.Space()
		if err := value(); err != nil {
			return err
		}
		if r.Space(); r.take(',') {
			continue
		}
		if !r.take(']') {
			return r.fault("expected ',' or ']' behind the array's element, found %s", r.found())
		}
		return nil
	}
}

// Number reads a number and returns its literal.
func (r *Reader) Number() (string, error) {
	r.Space()
	start := r.pos
	r.take('-')
	digits := func() bool {
		from := r.pos
		for r.pos < len(r.text) && '0' <= r.text[r.pos] && r.text[r.pos] <= '9' {
			r.pos++
		}
		return r.pos > from
	}
	leading := r.pos
	if !digits() {
		return "", r.fault("expected a digit, found %s", r.found())
	}
	if r.text[leading] == '0' && r.pos > leading+1 {
		r.pos = leading
		return "", r.fault("expected a number without leading zeros, found %s", r.found())
	}
	if r.take('.') && !digits() {
		return "", r.fault("expected a digit behind the decimal point, found %s", r.found())
	}
	if r.take('e') || r.take('E') {
		if !r.take('+') {
			r.take('-')
		}
		if !digits() {
			return "", r.fault("expected a digit in the exponent, found %s", r.found())
		}
	}
	return string(r.text[start:r.pos]), nil
}

// Int reads a whole number.
func (r *Reader) Int() (int64, error) {
	at := r.pos
	literal, err := r.Number()
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(literal, 10, 64)
	if err != nil {
		return 0, &Error{Offset: at, Problem: "expected a whole number, found " + literal}
	}
	return n, nil
}

// Bool reads true or false.
func (r *Reader) Bool() (bool, error) {
	r.Space()
	at := r.pos
	word, err := r.word()
	if err == nil && word == "null" {
		err = &Error{Offset: at, Problem: "expected true or false, found null"}
	}
	return word == "true", err
}

// Time reads a time as [Writer.Time] writes it.
func (r *Reader) Time() (time.Time, error) {
	r.Space()
	at := r.pos
	text, err := r.String()
	if err != nil {
		return time.Time{}, err
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}, &Error{Offset: at, Problem: "expected a time, found " + Quote(text)}
	}
	return t, nil
}

// Skip reads past a value without checking it, and returns its text. The text must be valid JSON.
func (r *Reader) Skip() []byte {
	r.Space()
	start, depth := r.pos, 0
	for r.pos < len(r.text) {
		switch r.text[r.pos] {
		case '"':
			r.skipString()
			if depth == 0 {
				return r.text[start:r.pos]
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return r.text[start:r.pos]
			}
			if depth--; depth == 0 {
				r.pos++
				return r.text[start:r.pos]
			}
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return r.text[start:r.pos]
			}
		}
		r.pos++
	}
	return r.text[start:]
}

// Depth returns the nesting depth of a text. The text must be valid JSON.
func Depth(text []byte) int {
	r := NewReader(text)
	depth, deepest := 0, 0
	for r.pos < len(r.text) {
		switch r.text[r.pos] {
		case '"':
			r.skipString()
			continue
		case '{', '[':
			depth++
			deepest = max(deepest, depth)
		case '}', ']':
			depth--
		}
		r.pos++
	}
	return deepest
}

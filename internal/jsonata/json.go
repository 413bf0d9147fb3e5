package jsonata

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// maxNesting is the maximum nesting of decoded data.
const maxNesting = 500

// A DecodeError says why a text is not valid JSON, or nests too deeply.
type DecodeError struct {
	Offset  int
	Problem string
}

func (e *DecodeError) Error() string { return fmt.Sprintf("offset %d: %s", e.Offset, e.Problem) }

// Decode returns the value of a JSON text. Objects keep the order of their members. If two members have the same name,
// the last one counts.
func Decode(text []byte) (Value, error) {
	d := &decoder{text: text}
	v, err := d.document()
	return Value{v}, err
}

type decoder struct {
	text []byte
	pos  int
	aws  bool // as AWS's $parse: repeated names are an error, and strings may stand in single quotes
}

func (d *decoder) document() (any, error) {
	v, err := d.value(0)
	if err != nil {
		return nil, err
	}
	if d.space(); d.pos < len(d.text) {
		return nil, d.fail("expected nothing behind the value")
	}
	return v, nil
}

func (d *decoder) fail(problem string) error { return &DecodeError{d.pos, problem} }

func (d *decoder) space() {
	for d.pos < len(d.text) && (d.text[d.pos] == ' ' || d.text[d.pos] == '\n' || d.text[d.pos] == '\t' ||
		d.text[d.pos] == '\r') {
		d.pos++
	}
}

func (d *decoder) take(c byte) bool {
	if d.pos < len(d.text) && d.text[d.pos] == c {
		d.pos++
		return true
	}
	return false
}

func (d *decoder) value(depth int) (any, error) {
	if depth > maxNesting {
		return nil, d.fail(fmt.Sprintf("the value nests deeper than %d", maxNesting))
	}
	d.space()
	if d.pos >= len(d.text) {
		return nil, d.fail("expected a value, found the end of the text")
	}
	switch c := d.text[d.pos]; {
	case c == '{':
		return d.object(depth)
	case c == '[':
		return d.array(depth)
	case d.quoted():
		return d.string()
	case c == '-' || '0' <= c && c <= '9':
		return d.number()
	}
	switch rest := d.text[d.pos:]; {
	case bytes.HasPrefix(rest, []byte("null")):
		d.pos += len("null")
		return null{}, nil
	case bytes.HasPrefix(rest, []byte("true")):
		d.pos += len("true")
		return true, nil
	case bytes.HasPrefix(rest, []byte("false")):
		d.pos += len("false")
		return false, nil
	}
	return nil, d.fail("expected a value")
}

func (d *decoder) object(depth int) (any, error) {
	o := &object{}
	d.pos++
	if d.space(); d.take('}') {
		return o, nil
	}
	for {
		if d.space(); !d.quoted() {
			return nil, d.fail("expected a member's name")
		}
		name, err := d.string()
		if err != nil {
			return nil, err
		}
		if d.space(); !d.take(':') {
			return nil, d.fail("expected ':'")
		}
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		if d.aws && o.find(name) >= 0 {
			return nil, d.fail("a member's name occurs twice")
		}
		o.set(name, v)
		if d.space(); d.take(',') {
			continue
		}
		if !d.take('}') {
			return nil, d.fail("expected ',' or '}'")
		}
		return o, nil
	}
}

func (d *decoder) array(depth int) (any, error) {
	a := &array{}
	d.pos++
	if d.space(); d.take(']') {
		return a, nil
	}
	for {
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		a.push(v)
		if d.space(); d.take(',') {
			continue
		}
		if !d.take(']') {
			return nil, d.fail("expected ',' or ']'")
		}
		return a, nil
	}
}

// number reads a number. A whole number that a float64 would change becomes a long, if it fits into 64 bits.
func (d *decoder) number() (any, error) {
	start := d.pos
	negative := d.take('-')
	n, length := parseNumber(d.text[d.pos:])
	if length == 0 {
		return nil, d.fail("expected a number")
	}
	d.pos += length
	if next := d.pos; next < len(d.text) && '0' <= d.text[next] && d.text[next] <= '9' {
		return nil, d.fail("expected a number without leading zeros")
	}
	if math.Abs(n) >= exact {
		if whole, err := strconv.ParseInt(string(d.text[start:d.pos]), 10, 64); err == nil {
			return long(whole), nil
		}
	}
	if math.IsInf(n, 0) {
		d.pos = start
		return nil, d.fail("the number is out of range")
	}
	if negative {
		n = -n
	}
	return n, nil
}

// quoted reports whether a string begins.
func (d *decoder) quoted() bool {
	return d.pos < len(d.text) && (d.text[d.pos] == '"' || d.text[d.pos] == '\'' && d.aws)
}

func (d *decoder) string() (string, error) {
	quote := d.text[d.pos]
	d.pos++
	start := d.pos
	for d.pos < len(d.text) {
		switch c := d.text[d.pos]; {
		case c == quote:
			text := string(d.text[start:d.pos])
			d.pos++
			return text, nil
		case c == '\\' || c < ' ':
			return d.escaped(start, quote)
		}
		d.pos++
	}
	return "", d.fail("a string that is not closed")
}

func (d *decoder) escaped(start int, quote byte) (string, error) {
	out := append([]byte(nil), d.text[start:d.pos]...)
	for d.pos < len(d.text) {
		c := d.text[d.pos]
		d.pos++
		switch {
		case c == quote:
			return string(out), nil
		case c < ' ':
			return "", d.fail("a control character in a string")
		case c != '\\':
			out = append(out, c)
			continue
		}
		if d.pos >= len(d.text) {
			break
		}
		letter := d.text[d.pos]
		d.pos++
		if letter == 'u' {
			r, ok := d.unicode()
			if !ok {
				return "", d.fail(`expected \u and four hex digits`)
			}
			out = utf8.AppendRune(out, r)
			continue
		}
		meant, ok := escapes[letter]
		if !ok {
			return "", d.fail("an unknown escape sequence")
		}
		out = append(out, meant)
	}
	return "", d.fail("a string that is not closed")
}

// escapes are the letters that stand for a character after a backslash.
var escapes = map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unicode reads four hexadecimal digits, and those of the second half of a character beyond U+FFFF.
func (d *decoder) unicode() (rune, bool) {
	first, ok := hex4(string(d.text[d.pos:min(len(d.text), d.pos+4)]))
	if !ok {
		return 0, false
	}
	d.pos += 4
	if utf16.IsSurrogate(first) {
		if rest := d.text[d.pos:min(len(d.text), d.pos+6)]; len(rest) == 6 && rest[0] == '\\' && rest[1] == 'u' {
			if second, ok := hex4(string(rest[2:])); ok && utf16.DecodeRune(first, second) != utf8.RuneError {
				d.pos += 6
				return utf16.DecodeRune(first, second), true
			}
		}
		return utf8.RuneError, true
	}
	return first, true
}

func hex4(digits string) (rune, bool) {
	n, err := strconv.ParseUint(digits, 16, 32)
	return rune(n), err == nil && len(digits) == 4
}

// A writer writes values as JSON.
type writer struct {
	b      []byte
	indent bool // each member and element has a line of its own
	short  bool // numbers are rounded to fifteen digits
	level  int
}

// value writes a value. Functions become empty strings. Undefined values become null where they cannot be left out.
func (w *writer) value(v any) {
	switch v := v.(type) {
	case bool:
		w.b = strconv.AppendBool(w.b, v)
	case float64:
		w.number(v)
	case long:
		w.b = strconv.AppendInt(w.b, int64(v), 10)
	case string:
		w.b = appendString(w.b, v)
	case *array:
		w.open('[')
		for i, item := range v.items {
			w.next(i)
			w.value(item)
		}
		w.shut(']', len(v.items))
	case *object:
		w.open('{')
		n := 0
		for i, name := range v.names {
			if v.values[i] == nil {
				continue
			}
			w.next(n)
			n++
			if w.b = append(appendString(w.b, name), ':'); w.indent {
				w.b = append(w.b, ' ')
			}
			w.value(v.values[i])
		}
		w.shut('}', n)
	case function:
		w.b = append(w.b, '"', '"')
	default:
		w.b = append(w.b, "null"...)
	}
}

func (w *writer) number(n float64) {
	switch finite := !math.IsInf(n, 0) && !math.IsNaN(n); {
	case !finite && w.short:
		w.b = append(w.b, "null"...)
		return
	case !finite:
		w.b = append(appendNumber(append(w.b, '"'), n), '"')
		return
	case w.short:
		n = fifteen(n)
	}
	w.b = appendNumber(w.b, n)
}

func (w *writer) open(c byte) {
	w.b = append(w.b, c)
	w.level++
}

// next starts element i.
func (w *writer) next(i int) {
	if i > 0 {
		w.b = append(w.b, ',')
	}
	w.line()
}

func (w *writer) shut(c byte, n int) {
	if w.level--; n > 0 {
		w.line()
	}
	w.b = append(w.b, c)
}

func (w *writer) line() {
	if w.indent {
		w.b = append(w.b, '\n')
		for range w.level {
			w.b = append(w.b, ' ', ' ')
		}
	}
}

// appendString appends a JSON string and escapes only what must be escaped.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(s[i:])
			if c == 0xed && r == utf8.RuneError { // half of a character, see lexer.escape
				size = 3
			}
			b = utf8.AppendRune(b, r)
			i += size - 1
		case c >= ' ':
			b = append(b, c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\r':
			b = append(b, '\\', 'r')
		case c == '\t':
			b = append(b, '\\', 't')
		case c == '\b':
			b = append(b, '\\', 'b')
		case c == '\f':
			b = append(b, '\\', 'f')
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(b, '"')
}

package jsontext

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// String reads a string and returns its text.
func (r *Reader) String() (string, error) {
	if r.Space(); r.next() != '"' {
		return "", r.fault("expected a string, found %s", r.found())
	}
	start := r.pos
	r.pos++
	plain := r.pos
	for r.pos < len(r.text) { // the usual case: no escapes
		c := r.text[r.pos]
		if c == '"' {
			r.pos++
			return r.utf8(plain, string(r.text[plain:r.pos-1]))
		}
		if c == '\\' || c < ' ' {
			break
		}
		r.pos++
	}
	out := append([]byte(nil), r.text[plain:r.pos]...)
	for r.pos < len(r.text) {
		switch c := r.text[r.pos]; {
		case c == '"':
			r.pos++
			return r.utf8(plain, string(out))
		case c < ' ':
			return "", r.fault("expected the string to be closed, found the control character U+%04X (write it as an escape)", c)
		case c == '\\':
			var err error
			if out, err = r.escape(out); err != nil {
				return "", err
			}
		default:
			out = append(out, c)
			r.pos++
		}
	}
	r.pos = start
	return "", r.fault(`expected a closing '"' for the string that begins here, found the end of the text`)
}

func (r *Reader) utf8(at int, text string) (string, error) {
	if utf8.ValidString(text) {
		return text, nil
	}
	r.pos = at
	return "", r.fault("expected a string in UTF-8, found other bytes")
}

// escape appends the character of the escape sequence at the reader's position.
func (r *Reader) escape(out []byte) ([]byte, error) {
	if r.pos+1 >= len(r.text) {
		return nil, r.fault("expected an escape sequence, found the end of the text")
	}
	const names, meant = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	if i := strings.IndexByte(names, r.text[r.pos+1]); i >= 0 {
		r.pos += 2
		return append(out, meant[i]), nil
	}
	first, ok := r.unicode(r.pos)
	if !ok {
		return nil, r.fault(`expected an escape sequence (\" \\ \/ \b \f \n \r \t or \u with four hex digits), found \%c`,
			r.text[r.pos+1])
	}
	r.pos += 6
	char := rune(first)
	if 0xd800 <= first && first < 0xe000 { // half of a character beyond U+FFFF
		char = utf8.RuneError
		if second, ok := r.unicode(r.pos); ok && first < 0xdc00 && 0xdc00 <= second && second < 0xe000 {
			char = rune(0x10000 + (first-0xd800)<<10 + (second - 0xdc00))
			r.pos += 6
		}
	}
	return utf8.AppendRune(out, char), nil
}

// unicode returns the number of the \uXXXX at an offset.
func (r *Reader) unicode(at int) (uint64, bool) {
	if at+6 > len(r.text) || r.text[at] != '\\' || r.text[at+1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(r.text[at+2:at+6]), 16, 32)
	return n, err == nil
}

func (r *Reader) skipString() {
	for r.pos++; r.pos < len(r.text); r.pos++ {
		switch r.text[r.pos] {
		case '\\':
			r.pos++
		case '"':
			r.pos++
			return
		}
	}
	r.pos = len(r.text)
}

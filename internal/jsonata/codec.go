package jsonata

import (
	"encoding/base64"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Functions that encode and decode texts.

// encodeBase64 encodes the characters of a text as one byte each.
func encodeBase64(r *run, args []any) (any, error) {
	text, ok := argument[string](args, 0)
	if !ok {
		return undefined, nil
	}
	if !r.make(2 * len(text)) {
		return nil, r.broken
	}
	var bytes []byte
	for _, c := range text {
		if c > 0xffff { // both halves of it
			c -= 0x10000
			bytes = append(bytes, byte(c>>10))
			c = 0xdc00 | c&0x3ff
		}
		bytes = append(bytes, byte(c))
	}
	return base64.StdEncoding.EncodeToString(bytes), nil
}

// decodeBase64 returns a text with a character for each byte. It ignores blanks. At other characters that are no digits
// of base64, AWS fails.
func decodeBase64(r *run, args []any) (any, error) {
	text, ok := argument[string](args, 0)
	if !ok {
		return undefined, nil
	}
	if !r.make(2 * len(text)) {
		return nil, r.broken
	}
	text, _, _ = strings.Cut(text, "=")
	illegal := false
	digits := strings.Map(func(c rune) rune {
		switch {
		case c == '-':
			return '+'
		case c == '_':
			return '/'
		case c == '+' || c == '/' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z':
			return c
		}
		illegal = illegal || !unicode.IsSpace(c)
		return -1
	}, text)
	if illegal {
		return nil, &fault{code: InternalCode, message: "the text is not base64"}
	}
	if len(digits)%4 == 1 {
		digits = digits[:len(digits)-1]
	}
	bytes, err := base64.RawStdEncoding.DecodeString(digits)
	if err != nil {
		return nil, &fault{message: err.Error()}
	}
	var b strings.Builder
	for _, c := range bytes {
		b.WriteRune(rune(c))
	}
	return b.String(), nil
}

// Characters that URLs do not escape, and those with a meaning in whole URLs.
const (
	componentSafe = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.!~*'()"
	reserved      = ";/?:@&=+$,#"
)

// encodeURL returns the function that escapes all characters except the safe ones.
func encodeURL(name, safe string) func(*run, []any) (any, error) {
	return func(r *run, args []any) (any, error) {
		text, ok := argument[string](args, 0)
		if !ok {
			return undefined, nil
		}
		if !utf8.ValidString(text) { // half of a character
			return nil, &fault{code: "D3140", value: text, name: name}
		}
		if !r.make(len(text)) {
			return nil, r.broken
		}
		const hex = "0123456789ABCDEF"
		var b strings.Builder
		for i := range len(text) {
			if c := text[i]; strings.IndexByte(safe, c) >= 0 {
				b.WriteByte(c)
			} else {
				b.Write([]byte{'%', hex[c>>4], hex[c&15]})
			}
		}
		return b.String(), nil
	}
}

// decodeURL returns the inverse of an encoding function. It leaves escapes of the characters in stay unchanged.
func decodeURL(name, stay string) func(*run, []any) (any, error) {
	return func(r *run, args []any) (any, error) {
		text, ok := argument[string](args, 0)
		if !ok {
			return undefined, nil
		}
		r.work(len(text) / bytesPerStep)
		var b strings.Builder
		for i := 0; i < len(text); i++ {
			if text[i] != '%' {
				b.WriteByte(text[i])
				continue
			}
			char, escapes := unescape(text[i:])
			if escapes == "" {
				return nil, &fault{code: "D3140", value: text, name: name}
			}
			if strings.Contains(stay, char) {
				char = escapes
			}
			b.WriteString(char)
			i += len(escapes) - 1
		}
		return b.String(), nil
	}
}

// unescape returns the first character of a text whose bytes are written as %XX, and its escapes; "" if there is
// none.
func unescape(text string) (char, escapes string) {
	var bytes []byte
	for i := 0; i+2 < len(text) && text[i] == '%' && len(bytes) < utf8.UTFMax; i += 3 {
		high, low := strings.IndexByte(hexDigits, text[i+1]), strings.IndexByte(hexDigits, text[i+2])
		if high < 0 || low < 0 {
			break
		}
		bytes = append(bytes, byte(high&15<<4|low&15))
		if r, size := utf8.DecodeRune(bytes); r != utf8.RuneError && size == len(bytes) {
			return string(bytes), text[:i+3]
		}
	}
	if string(bytes) == "\xef\xbf\xbd" {
		return string(bytes), text[:9]
	}
	return "", ""
}

// hexDigits holds each digit at an index whose lower four bits are its value.
const hexDigits = "0123456789abcdef0123456789ABCDEF"

package asl

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Step Functions shows the message of its parser, Jackson, for a text that is not JSON. The message for a word that is
// no value is recorded; the others are those of Jackson 2.

// SyntaxMessage returns how AWS says that a text is not JSON, with the place; "" if it is JSON.
func SyntaxMessage(text string) string {
	message, at := syntaxMessage(text)
	if message == "" {
		return ""
	}
	return message + "\n at " + at
}

// syntaxMessage returns AWS's message for a text that is not JSON and its place; "" if the text is JSON.
func syntaxMessage(text string) (message, place string) {
	var broken *json.SyntaxError
	err := json.Unmarshal([]byte(text), new(json.RawMessage))
	switch {
	case err == nil:
		return "", ""
	case !errors.As(err, &broken), broken.Error() == "exceeded max depth":
		return err.Error(), sourceAt(text, len(text)-1)
	case strings.TrimSpace(text) == "":
		return "No content to map due to end-of-input", sourceAt(text, len(text)-1)
	}
	offset := min(int(broken.Offset), len(text))
	at := max(offset-1, 0)
	start, end := wordAround(text, at)
	if start < end && !unicode.IsDigit(rune(text[start])) {
		return fmt.Sprintf("Unrecognized token '%s': was expecting (JSON String, Number, Array, Object or token 'null', "+
			"'true' or 'false')", text[start:end]), sourceAt(text, end-1)
	}
	s := scanJSON(text[:at])
	if broken.Error() == "unexpected end of JSON input" {
		s = scanJSON(text)
		return s.endMessage(text), sourceAt(text, len(text)-1)
	}
	char, size := utf8.DecodeRuneInString(text[at:])
	return fmt.Sprintf("Unexpected character ('%c' (code %d)): %s", char, char, s.expected()), sourceAt(text, at+size-1)
}

// wordAround returns the word that has the character at a place outside of texts; an empty one if there is none.
func wordAround(text string, at int) (start, end int) {
	if scanJSON(text[:at]).quoted {
		return at, at
	}
	start = 1 + strings.LastIndexFunc(text[:at], func(r rune) bool { return !inWord(r) })
	end = len(text)
	if i := strings.IndexFunc(text[start:], func(r rune) bool { return !inWord(r) }); i >= 0 {
		end = start + i
	}
	return start, end
}

func inWord(r rune) bool { return unicode.In(r, unicode.L, unicode.Nd) || r == '_' || r == '$' }

// A jsonScan is what a JSON text has come to at a place.
type jsonScan struct {
	open   []int // places of the open brackets
	text   string
	quoted bool // the place is inside of a text
	last   byte // the last character that is not a blank; " is the end of a text
	named  bool // the last text is the name of a member
}

func scanJSON(text string) *jsonScan {
	s := &jsonScan{text: text}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case s.quoted && c == '\\':
			i++
			continue
		case c == '"':
			s.quoted = !s.quoted
			if s.quoted {
				s.named = s.in() == '{' && (s.last == '{' || s.last == ',')
			}
		case s.quoted, c == ' ', c == '\t', c == '\n', c == '\r':
			continue
		case c == '{', c == '[':
			s.open = append(s.open, i)
		case (c == '}' || c == ']') && len(s.open) > 0:
			s.open = s.open[:len(s.open)-1]
		}
		s.last = c
	}
	return s
}

// in returns the bracket that is open; 0 if none is.
func (s *jsonScan) in() byte {
	if len(s.open) == 0 {
		return 0
	}
	return s.text[s.open[len(s.open)-1]]
}

// expected returns what may follow.
func (s *jsonScan) expected() string {
	object := s.in() == '{'
	switch {
	case object && (s.last == '{' || s.last == ','):
		return "was expecting double-quote to start field name"
	case object && s.last == '"' && s.named:
		return "was expecting a colon to separate field name and value"
	case s.last == 0 || s.last == ':' || s.last == '[' || s.last == ',':
		return "expected a valid value (JSON String, Number, Array, Object or token 'null', 'true' or 'false')"
	case object:
		return "was expecting comma to separate Object entries"
	default:
		return "was expecting comma to separate Array entries"
	}
}

// endMessage returns the message for a text that ends too early.
func (s *jsonScan) endMessage(text string) string {
	switch {
	case s.quoted && s.named:
		return "Unexpected end-of-input in field name"
	case s.quoted:
		return "Unexpected end-of-input: was expecting closing quote for a string value"
	case s.in() == 0:
		return "Unexpected end-of-input in VALUE_NUMBER_INT"
	}
	kind := "Array"
	if s.in() == '{' {
		kind = "Object"
	}
	return fmt.Sprintf("Unexpected end-of-input: expected close marker for %s (start marker at %s)", kind,
		sourceAt(text, s.open[len(s.open)-1]-1))
}

// sourceAt returns Jackson's words for the place behind the byte at an offset.
func sourceAt(text string, at int) string {
	before := strings.ToValidUTF8(text[:min(at+1, len(text))], "\ufffd")
	column := utf8.RuneCountInString(before[1+strings.LastIndexByte(before, '\n'):]) + 1
	if text == "" {
		column = 0
	}
	return source(text, 1+strings.Count(before, "\n"), column)
}

// source returns Jackson's words for a place.
func source(text string, line, column int) string {
	const most = 500 // characters of the text that Jackson shows
	shown, cut := strings.ToValidUTF8(text, "\ufffd"), ""
	if runes := []rune(shown); len(runes) > most {
		shown, cut = string(runes[:most]), fmt.Sprintf("[truncated %d chars]", len(runes)-most)
	}
	return fmt.Sprintf("[Source: (String)\"%s\"%s; line: %d, column: %d]", shown, cut, line, column)
}

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
		return err.Error(), sourceAt(text, len(text), 0)
	case strings.TrimSpace(text) == "":
		return "No content to map due to end-of-input", sourceAt(text, len(text), 0)
	}
	at := max(min(int(broken.Offset), len(text))-1, 0)
	if word, end := wordAround(text, at); word != "" {
		return wordMessage(word), sourceAt(text, end, 0)
	}
	// A number or an escape is cut.
	cut := strings.HasPrefix(broken.Error(), "invalid character ' '") && !strings.HasSuffix(text, " ")
	if cut || broken.Error() == "unexpected end of JSON input" {
		return scanJSON(text, len(text)).endMessage(cut), sourceAt(text, len(text), 0)
	}
	char, _ := utf8.DecodeRuneInString(text[at:])
	message, read := scanJSON(text, at).unexpected(char)
	return message, sourceAt(text, at, read)
}

// wordAround returns the word that stands for a value and has the character at a place, and where it ends; "" if there
// is none.
func wordAround(text string, at int) (word string, end int) {
	start := 1 + strings.LastIndexFunc(text[:at], func(r rune) bool { return !inWord(r) })
	end = len(text)
	if i := strings.IndexFunc(text[start:], func(r rune) bool { return !inWord(r) }); i >= 0 {
		end = start + i
	}
	s := scanJSON(text, start)
	after := s.in() == 0 && (s.last == '}' || s.last == ']')
	if start == end || s.quoted || unicode.IsDigit(rune(text[start])) || s.expected() != expectedValue && !after {
		return "", end
	}
	return text[start:end], end
}

func wordMessage(word string) string {
	if word == "NaN" || word == "Infinity" {
		return "Non-standard token '" + word + "': enable `JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS` to allow"
	}
	return "Unrecognized token '" + word + "': was expecting " + values
}

func inWord(r rune) bool { return unicode.In(r, unicode.L, unicode.Nd, unicode.Sc) || r == '_' }

// What Jackson says of values.
const (
	values        = "(JSON String, Number, Array, Object or token 'null', 'true' or 'false')"
	expectedValue = "expected a valid value " + values
)

// A jsonScan is what a JSON text has come to at a place.
type jsonScan struct {
	open    []int // places of the open brackets
	text    string
	end     int  // the place
	quoted  bool // the place is inside of a text
	escaped bool // the place is behind a backslash in a text
	last    byte // the last character that is not a blank; " is the end of a text
	named   bool // the last text is the name of a member
}

// scanJSON reads a text up to a place.
func scanJSON(text string, end int) *jsonScan {
	s := &jsonScan{text: text, end: end}
	for i := 0; i < end; i++ {
		c := text[i]
		switch {
		case s.quoted && c == '\\':
			i++
			s.escaped = i == end
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

// kind returns Jackson's name for what is open.
func (s *jsonScan) kind() string {
	return map[byte]string{0: "root", '{': "Object", '[': "Array"}[s.in()]
}

// start returns the place of the bracket that is open.
func (s *jsonScan) start() string {
	if len(s.open) == 0 {
		return source(s.text, 1, 0)
	}
	return sourceAt(s.text, s.open[len(s.open)-1], 0)
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
		return expectedValue
	case s.in() == 0:
		return "Expected space separating root-level values"
	default:
		return "was expecting comma to separate " + s.kind() + " entries"
	}
}

// unexpected returns the message for the character that follows, and how much further than the text Jackson has read.
func (s *jsonScan) unexpected(char rune) (message string, read int) {
	is := described(char)
	if s.quoted {
		return s.illegal(char, is), 1
	}
	if why, read := numberFault(s.text[:s.end], char); why == leadingZero {
		return "Invalid numeric value: " + why, read
	} else if why != "" {
		return "Unexpected character (" + is + ") in numeric value: " + why, read
	}
	closing := map[rune]byte{'}': '{', ']': '['}[char]
	switch {
	case char == '/':
		return "Unexpected character (" + is + "): maybe a (non-standard) comment? (not recognized as one since " +
			"Feature 'ALLOW_COMMENTS' not enabled for parser)", 1
	case unicode.IsControl(char):
		return "Illegal character (" + is + `): only regular white space (\r, \n, \t) is allowed between tokens`, 1
	case closing != 0 && closing != s.in() && s.last != ',' && s.last != ':' && (s.last != '"' || !s.named):
		other := map[rune]rune{'}': ']', ']': '}'}[char]
		return fmt.Sprintf("Unexpected close marker '%c': expected '%c' (for %s starting at %s)", char, other, s.kind(),
			s.start()), 1
	}
	return "Unexpected character (" + is + "): " + s.expected(), 1
}

// illegal returns the message for a character that a text must not contain.
func (s *jsonScan) illegal(char rune, is string) string {
	what := "string value"
	if s.named {
		what = "name"
	}
	switch {
	case s.escaped:
		return "Unrecognized character escape " + is
	case char < ' ':
		return "Illegal unquoted character (" + is + "): has to be escaped using backslash to be included in " + what
	default:
		return "Unexpected character (" + is + "): expected a hex-digit for character escape sequence"
	}
}

const leadingZero = "Leading zeroes not allowed"

// numberFault returns why a number at the end of a text cannot continue with a character, and how much further than the
// text Jackson has read; "" if there is no such number.
func numberFault(text string, char rune) (why string, read int) {
	other := func(r rune) bool { return !strings.ContainsRune("+-.0123456789eE", r) }
	number := text[1+strings.LastIndexFunc(text, other):]
	before := strings.TrimSuffix(strings.TrimSuffix(number, "+"), "-")
	switch exponent := strings.HasSuffix(before, "e") || strings.HasSuffix(before, "E"); {
	case number == "-":
		return "expected digit (0-9) to follow minus sign, for valid numeric value", 1
	case (number == "0" || number == "-0") && unicode.IsDigit(char):
		return leadingZero, 0
	case strings.HasSuffix(number, "."):
		return "Decimal point not followed by a digit", 0
	case exponent:
		return "Exponent indicator not followed by a digit", len(before) - len(number)
	default:
		return "", 0
	}
}

// described returns Jackson's words for a character.
func described(char rune) string {
	switch {
	case unicode.IsControl(char):
		return fmt.Sprintf("(CTRL-CHAR, code %d)", char)
	case char > unicode.MaxLatin1:
		return fmt.Sprintf("'%c' (code %d / 0x%x)", char, char, char)
	default:
		return fmt.Sprintf("'%c' (code %d)", char, char)
	}
}

// endMessage returns the message for a text that ends too early, or is cut inside of an escape or a number.
func (s *jsonScan) endMessage(cut bool) string {
	switch {
	case s.quoted && cut:
		return "Unexpected end-of-input in character escape sequence"
	case s.quoted && s.named:
		return "Unexpected end-of-input in field name"
	case s.quoted:
		return "Unexpected end-of-input: was expecting closing quote for a string value"
	case s.in() == 0:
		return "Unexpected end-of-input in VALUE_NUMBER_INT"
	case s.last == ',', s.last == ':', s.last == '"' && s.named:
		return "Unexpected end-of-input within/between " + s.kind() + " entries"
	}
	return "Unexpected end-of-input: expected close marker for " + s.kind() + " (start marker at " + s.start() + ")"
}

// sourceAt returns Jackson's words for the place behind the first bytes of a text, and more characters.
func sourceAt(text string, end, more int) string {
	before := strings.ToValidUTF8(text[:end], "\ufffd")
	column := utf8.RuneCountInString(before[1+strings.LastIndexByte(before, '\n'):]) + 1 + more
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

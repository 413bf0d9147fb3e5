package asl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A node is a JSON value of a definition together with its place in the text.
// A definition is read into nodes, not into Go values, because every problem is
// to be reported where it stands.
type node struct {
	kind    nodeKind
	at      int // offset of the first byte
	end     int // offset behind the last
	str     string
	members []member // of an object, in the order written
	items   []*node  // of an array

	parent *node
	key    string // in an object: under which name
	index  int    // in an array: at which place
}

// A member is one name and value of an object.
type member struct {
	name  string
	at    int // offset of the name
	value *node
}

type nodeKind uint8

const (
	nullNode   nodeKind = iota
	boolNode            // str is "true" or "false"
	numberNode          // str is the literal as written
	stringNode          // str is the decoded text
	arrayNode
	objectNode
)

// String names the kind with its article, for messages.
func (k nodeKind) String() string {
	return [...]string{
		nullNode: "null", boolNode: "a boolean", numberNode: "a number",
		stringNode: "a string", arrayNode: "an array", objectNode: "an object",
	}[k]
}

// get returns the member under name, or nil. The last one counts, as everywhere
// in JSON; that there is more than one has been reported.
func (n *node) get(name string) *node {
	for _, v := range slices.Backward(n.members) {
		if v.name == name {
			return v.value
		}
	}
	return nil
}

// isTrue reports whether n is there and true.
func (n *node) isTrue() bool { return n != nil && n.kind == boolNode && n.str == "true" }

// pointer returns the JSON pointer of n (RFC 6901). Hostile names are cut.
func (n *node) pointer() string {
	var parts []string
	for ; n.parent != nil; n = n.parent {
		part := n.key
		if n.parent.kind == arrayNode {
			part = strconv.Itoa(n.index)
		}
		parts = append(parts, strings.NewReplacer("~", "~0", "/", "~1").Replace(cut(part)))
	}
	var b strings.Builder
	for _, part := range slices.Backward(parts) {
		b.WriteByte('/')
		b.WriteString(part)
	}
	return b.String()
}

// cut shortens a text that is quoted in a message.
func cut(text string) string {
	if len(text) <= maxQuoted {
		return text
	}
	end := maxQuoted
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// quote returns text as it is quoted in messages.
func quote(text string) string { return strconv.Quote(cut(text)) }

// Position returns line and column of an offset into a definition's text, both
// from 1, the column in
// characters.
func Position(text []byte, offset int) (line, column int) {
	offset = min(offset, len(text))
	start := 0
	line = 1
	for i, c := range text[:offset] {
		if c == '\n' {
			line++
			start = i + 1
		}
	}
	return line, utf8.RuneCount(text[start:offset]) + 1
}

// A textError says where a text stops being JSON, and why.
type textError struct {
	at      int
	problem string
	deep    bool // nested too deeply, not malformed
}

func (e *textError) Error() string { return fmt.Sprintf("offset %d: %s", e.at, e.problem) }

// parseText reads one JSON value with all its places. Duplicate names in an
// object are kept; the reader of the nodes reports them.
func parseText(text []byte) (*node, error) {
	r := &reader{text: text}
	n, err := r.value(nil, 0)
	if err != nil {
		return nil, err
	}
	if r.space(); r.pos < len(text) {
		return nil, r.fault("expected nothing more behind the definition, found %s", r.found())
	}
	return n, nil
}

// A reader reads JSON text (RFC 8259) strictly, front to back.
type reader struct {
	text []byte
	pos  int
}

func (r *reader) fault(format string, args ...any) error {
	return &textError{at: r.pos, problem: fmt.Sprintf(format, args...)}
}

// found describes what stands at the place the reader has come to.
func (r *reader) found() string {
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

func (r *reader) space() {
	for r.pos < len(r.text) {
		switch r.text[r.pos] {
		case ' ', '\t', '\n', '\r':
			r.pos++
		default:
			return
		}
	}
}

// take moves over c, if it is next.
func (r *reader) take(c byte) bool {
	if r.pos < len(r.text) && r.text[r.pos] == c {
		r.pos++
		return true
	}
	return false
}

func (r *reader) value(parent *node, depth int) (*node, error) {
	r.space()
	n := &node{at: r.pos, parent: parent}
	if depth > MaxNesting {
		return nil, &textError{at: r.pos, deep: true, problem: fmt.Sprintf("objects and arrays nest deeper than %d", MaxNesting)}
	}
	var c byte
	if r.pos < len(r.text) {
		c = r.text[r.pos]
	}
	var err error
	switch {
	case c == '{':
		err = r.object(n, depth)
	case c == '[':
		err = r.array(n, depth)
	case c == '"':
		n.kind = stringNode
		n.str, err = r.string()
	case c == '-' || '0' <= c && c <= '9':
		n.kind = numberNode
		n.str, err = r.number()
	default:
		err = r.word(n)
	}
	n.end = r.pos
	return n, err
}

func (r *reader) word(n *node) error {
	rest := r.text[r.pos:]
	switch {
	case startsWith(rest, "null"):
		n.kind, n.str = nullNode, "null"
	case startsWith(rest, "true"):
		n.kind, n.str = boolNode, "true"
	case startsWith(rest, "false"):
		n.kind, n.str = boolNode, "false"
	default:
		return r.fault("expected a JSON value (an object, array, string, number, true, false or null), found %s", r.found())
	}
	r.pos += len(n.str)
	return nil
}

// startsWith reports whether a text begins with a whole word.
func startsWith(text []byte, word string) bool {
	return len(text) >= len(word) && string(text[:len(word)]) == word && (len(text) == len(word) || !isWord(text[len(word)]))
}

func (r *reader) object(n *node, depth int) error {
	n.kind = objectNode
	r.pos++
	if r.space(); r.take('}') {
		return nil
	}
	for {
		if r.space(); r.pos >= len(r.text) || r.text[r.pos] != '"' {
			if r.pos < len(r.text) && r.text[r.pos] == '}' {
				return r.fault(`expected a member's name in double quotes behind the comma, found "}"`)
			}
			return r.fault("expected a member's name in double quotes, found %s", r.found())
		}
		at := r.pos
		name, err := r.string()
		if err != nil {
			return err
		}
		if r.space(); !r.take(':') {
			return r.fault("expected ':' behind the name %s, found %s", quote(name), r.found())
		}
		value, err := r.value(n, depth+1)
		if err != nil {
			return err
		}
		value.key = name
		n.members = append(n.members, member{name: name, at: at, value: value})
		if r.space(); r.take(',') {
			continue
		}
		if !r.take('}') {
			return r.fault("expected ',' or '}' behind the value of %s, found %s", quote(name), r.found())
		}
		return nil
	}
}

func (r *reader) array(n *node, depth int) error {
	n.kind = arrayNode
	r.pos++
	if r.space(); r.take(']') {
		return nil
	}
	for {
		item, err := r.value(n, depth+1)
		if err != nil {
			return err
		}
		item.index = len(n.items)
		n.items = append(n.items, item)
		if r.space(); r.take(',') {
			continue
		}
		if !r.take(']') {
			return r.fault("expected ',' or ']' behind the array's element, found %s", r.found())
		}
		return nil
	}
}

// number moves over a number and returns its literal.
func (r *reader) number() (string, error) {
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

// string moves over a string and returns the text it stands for.
func (r *reader) string() (string, error) {
	start := r.pos
	r.pos++
	plain := r.pos
	for r.pos < len(r.text) { // the common case: nothing escaped
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

func (r *reader) utf8(at int, text string) (string, error) {
	if utf8.ValidString(text) {
		return text, nil
	}
	r.pos = at
	return "", r.fault("expected a string in UTF-8, found other bytes")
}

// escape appends what the escape sequence at the reader's place stands for.
func (r *reader) escape(out []byte) ([]byte, error) {
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
		return nil, r.fault(`expected an escape sequence (\" \\ \/ \b \f \n \r \t or \u with four hex digits), found \%c`, r.text[r.pos+1])
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
func (r *reader) unicode(at int) (uint64, bool) {
	if at+6 > len(r.text) || r.text[at] != '\\' || r.text[at+1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(r.text[at+2:at+6]), 16, 32)
	return n, err == nil
}

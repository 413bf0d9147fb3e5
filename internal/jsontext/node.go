package jsontext

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Node is a JSON value with its position in the text.
type Node struct {
	Kind    Kind
	At      int      // offset of the first byte
	End     int      // offset after the last
	Str     string   // the text of a string; a number, true, false or null as written
	Members []Member // of an object, in the order written, with repeated names
	Items   []*Node  // of an array

	Parent *Node
	Key    string // in an object: its name
	Index  int    // in an array: its index
}

// A Member is a name and a value of an object.
type Member struct {
	Name  string
	At    int // offset of the name
	Value *Node
}

// Kind is the type of a value.
type Kind uint8

// The kinds of values.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// String names the kind with its article, for messages.
func (k Kind) String() string {
	return [...]string{
		Null: "null", Bool: "a boolean", Number: "a number", String: "a string", Array: "an array", Object: "an object",
	}[k]
}

// Get returns the member with a name, or nil. If several have the name, the last one counts, as everywhere in JSON.
func (n *Node) Get(name string) *Node {
	if n == nil {
		return nil
	}
	for _, m := range slices.Backward(n.Members) {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}

// List returns the elements of the array with a name, or none.
func (n *Node) List(name string) []*Node {
	if v := n.Get(name); v != nil {
		return v.Items
	}
	return nil
}

// IsTrue reports whether n exists and is true.
func (n *Node) IsTrue() bool { return n != nil && n.Kind == Bool && n.Str == "true" }

// Pointer returns the JSON pointer of n (RFC 6901). It cuts very long names.
func (n *Node) Pointer() string {
	var parts []string
	for ; n.Parent != nil; n = n.Parent {
		part := n.Key
		if n.Parent.Kind == Array {
			part = strconv.Itoa(n.Index)
		}
		parts = append(parts, strings.NewReplacer("~", "~0", "/", "~1").Replace(Cut(part)))
	}
	var b strings.Builder
	for _, part := range slices.Backward(parts) {
		b.WriteByte('/')
		b.WriteString(part)
	}
	return b.String()
}

// maxQuoted is the maximum length of a text in a message.
const maxQuoted = 80

// Cut shortens a text for a message.
func Cut(text string) string {
	if len(text) <= maxQuoted {
		return text
	}
	end := maxQuoted
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// Quote returns a text in quotation marks for a message.
func Quote(text string) string { return strconv.Quote(Cut(text)) }

// Position returns the line and the column of an offset, both from 1. The column counts characters.
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

// Within returns the offset in the text of byte i of a string's Str.
func (n *Node) Within(text []byte, i int) int {
	r := &Reader{text: text, pos: n.At + 1}
	var read []byte
	for r.pos < n.End-1 && len(read) < i {
		if text[r.pos] != '\\' {
			read = append(read, text[r.pos])
			r.pos++
			continue
		}
		var err error
		if read, err = r.escape(read); err != nil {
			break
		}
	}
	return r.pos
}

// Parse reads one JSON value with all positions. The error is *[Error].
func Parse(text []byte, maxDepth int) (*Node, error) {
	r := &Reader{text: text}
	n, err := r.node(nil, maxDepth)
	if err != nil {
		return nil, err
	}
	if r.Space(); r.pos < len(text) {
		return nil, r.fault("expected nothing more behind the value, found %s", r.found())
	}
	return n, nil
}

func (r *Reader) node(parent *Node, depth int) (*Node, error) {
	r.Space()
	n := &Node{At: r.pos, Parent: parent}
	if depth < 0 {
		return nil, r.deep()
	}
	var err error
	switch c := r.next(); {
	case c == '{':
		n.Kind = Object
		err = r.members(func(name string, at int) error {
			value, err := r.node(n, depth-1)
			if err == nil {
				value.Key = name
				n.Members = append(n.Members, Member{Name: name, At: at, Value: value})
			}
			return err
		})
	case c == '[':
		n.Kind = Array
		err = r.Elements(func() error {
			item, err := r.node(n, depth-1)
			if err == nil {
				item.Index = len(n.Items)
				n.Items = append(n.Items, item)
			}
			return err
		})
	case c == '"':
		n.Kind = String
		n.Str, err = r.String()
	case c == '-' || '0' <= c && c <= '9':
		n.Kind = Number
		n.Str, err = r.Number()
	default:
		n.Str, err = r.word()
		switch n.Str {
		case "null":
			n.Kind = Null
		case "true", "false":
			n.Kind = Bool
		}
	}
	n.End = r.pos
	return n, err
}

package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// A Document is a JSON value with its position in its file.
type Document struct {
	Place

	Kind    Kind
	Text    string // of a text: its content; of a literal: its JSON
	Members []Member
	Items   []*Document
	Block   *Place // of a block text: position of its first line
	escapes string // of a text on one line: characters that are written as two
	quoted  bool   // the text is in quotes
}

// A Member is a member of an object.
type Member struct {
	Place

	Name  string
	Value *Document
}

// A Kind is the kind of a document.
type Kind uint8

// The kinds.
const (
	Literal Kind = iota // a number, true, false or null
	Text
	List
	Object
)

// A Place is a line and a column of a file, both from 1.
type Place struct{ Line, Column int }

// maxDepth is how deep documents may nest.
//
//limit:command nesting of a document or template | {}
const maxDepth = 500

// An Error is the position at which a file is not a valid document, and the reason.
type Error struct {
	Place

	Problem string
}

// Error returns the place and the problem.
func (e *Error) Error() string {
	return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Problem)
}

// Get returns the member with a name; nil if there is none.
func (d *Document) Get(name string) *Document {
	if d != nil {
		for i := range d.Members {
			if d.Members[i].Name == name {
				return d.Members[i].Value
			}
		}
	}
	return nil
}

// Says returns the content of a text; "" if d is not a text.
func (d *Document) Says() string {
	if d == nil || d.Kind != Text {
		return ""
	}
	return d.Text
}

// Behind returns the position in a text after the given prefix. If it cannot be computed, it is the position of the
// text.
func (d *Document) Behind(before string) Place {
	at := d.Place
	switch {
	case d.Kind != Text:
	case d.Block != nil:
		lines := strings.Split(before, "\n")
		at.Line = d.Block.Line + len(lines) - 1
		at.Column = d.Block.Column + utf8.RuneCountInString(lines[len(lines)-1])
	case d.escapes != "":
		at.Column += utf8.RuneCountInString(before)
		if d.quoted {
			at.Column++
		}
		for _, r := range before {
			if strings.ContainsRune(d.escapes, r) {
				at.Column++
			}
		}
	}
	return at
}

// Print returns the document as JSON with one token on each line. Line n of the text is the token tokens[n-1].
func (d *Document) Print() (text []byte, tokens []*Document) {
	p := &printer{}
	p.value(d)
	return p.text.Bytes(), p.tokens
}

type printer struct {
	text   bytes.Buffer
	tokens []*Document
}

func (p *printer) token(text string, of *Document) {
	p.text.WriteString(text)
	p.text.WriteByte('\n')
	p.tokens = append(p.tokens, of)
}

// mark writes a token that only has a position.
func (p *printer) mark(text string, at Place) { p.token(text, &Document{Place: at}) }

func (p *printer) value(d *Document) {
	switch d.Kind {
	case Literal:
		p.token(d.Text, d)
	case Text:
		p.token(quoteJSON(d.Text), d)
	case List:
		p.mark("[", d.Place)
		for i, item := range d.Items {
			if i > 0 {
				p.mark(",", item.Place)
			}
			p.value(item)
		}
		p.mark("]", d.Place)
	case Object:
		p.mark("{", d.Place)
		for i, m := range d.Members {
			if i > 0 {
				p.mark(",", m.Place)
			}
			p.mark(quoteJSON(m.Name), m.Place)
			p.mark(":", m.Place)
			p.value(m.Value)
		}
		p.mark("}", d.Place)
	}
}

func quoteJSON(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		return `""` // encoding a string cannot fail
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// ParseJSON reads a document from JSON.
func ParseJSON(text []byte) (*Document, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	r := &jsonReader{text: text, decoder: d, at: Place{1, 1}}
	if valid := strings.ToValidUTF8(string(text), ""); len(valid) < len(text) {
		at := 0
		for at < len(valid) && valid[at] == text[at] {
			at++
		}
		return nil, &Error{r.placeOf(at), "the text is not UTF-8"}
	}
	out, err := r.value(0)
	if broken, ok := errors.AsType[*json.SyntaxError](err); ok {
		return nil, &Error{r.placeOf(int(broken.Offset)), broken.Error()}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return nil, &Error{r.placeOf(len(text)), "the text ends too early"}
	}
	return out, err
}

// A jsonReader reads tokens and keeps count of lines and columns.
type jsonReader struct {
	text    []byte
	decoder *json.Decoder
	seen    int // offset up to which they are counted
	at      Place
}

// placeOf returns the position of an offset. Offsets must not decrease from call to call.
func (r *jsonReader) placeOf(offset int) Place {
	for ; r.seen < min(offset, len(r.text)); r.seen++ {
		switch c := r.text[r.seen]; {
		case c == '\n':
			r.at = Place{r.at.Line + 1, 1}
		case utf8.RuneStart(c):
			r.at.Column++
		}
	}
	return r.at
}

// next returns the next token and its place.
func (r *jsonReader) next() (json.Token, Place, error) {
	at := int(r.decoder.InputOffset())
	for at < len(r.text) && strings.IndexByte(" \t\r\n,:", r.text[at]) >= 0 {
		at++
	}
	token, err := r.decoder.Token()
	return token, r.placeOf(at), err
}

func (r *jsonReader) value(depth int) (*Document, error) {
	token, at, err := r.next()
	if err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, &Error{at, fmt.Sprintf("objects and arrays nest deeper than %d", maxDepth)}
	}
	d := &Document{Place: at}
	switch v := token.(type) {
	case json.Delim:
		if v == '{' {
			d.Kind = Object
			return d, r.members(d, depth)
		}
		d.Kind = List
		for r.decoder.More() {
			item, err := r.value(depth + 1)
			if err != nil {
				return nil, err
			}
			d.Items = append(d.Items, item)
		}
		_, _, err := r.next()
		return d, err
	case string:
		d.Kind, d.Text = Text, v
	case nil:
		d.Text = "null"
	default:
		d.Text = fmt.Sprint(v)
	}
	return d, nil
}

func (r *jsonReader) members(d *Document, depth int) error {
	for r.decoder.More() {
		token, at, err := r.next()
		if err != nil {
			return err
		}
		name, _ := token.(string)
		value, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		d.Members = append(d.Members, Member{at, name, value})
	}
	_, _, err := r.next()
	return err
}

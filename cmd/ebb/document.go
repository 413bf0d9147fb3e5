package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// A document is a JSON value with its place in the file that it was read from,
// which may be JSON or YAML.
type document struct {
	place

	kind    documentKind
	text    string // of a text: what it says; of a literal: how JSON writes it
	members []documentMember
	items   []*document
	block   *place // of a text written over several lines as it is: where its first line begins
	escapes string // of a text on one line: characters that are written as two
	quoted  bool   // it stands in quotes
}

type documentMember struct {
	place

	name  string
	value *document
}

type documentKind uint8

const (
	literalDocument documentKind = iota // a number, true, false or null
	textDocument
	listDocument
	objectDocument
)

// A place is a line and a column of a file, both from 1.
type place struct{ line, column int }

// maxDepth is how deep documents may nest.
const maxDepth = 500

// A documentError says where a file stops being a document, and why.
type documentError struct {
	place

	problem string
}

func (e *documentError) Error() string {
	return fmt.Sprintf("%d:%d: %s", e.line, e.column, e.problem)
}

// get returns the member of an object under a name, nil if there is none.
func (d *document) get(name string) *document {
	if d != nil {
		for i := range d.members {
			if d.members[i].name == name {
				return d.members[i].value
			}
		}
	}
	return nil
}

// says returns the text of a text, "" if it is none.
func (d *document) says() string {
	if d == nil || d.kind != textDocument {
		return ""
	}
	return d.text
}

// behind returns the place in a text of what comes after some of it. It is that of
// the text itself when the text is written over several lines, and not as it is.
func (d *document) behind(before string) place {
	at := d.place
	switch {
	case d.kind != textDocument:
	case d.block != nil:
		lines := strings.Split(before, "\n")
		at.line = d.block.line + len(lines) - 1
		at.column = d.block.column + utf8.RuneCountInString(lines[len(lines)-1])
	case d.escapes != "":
		at.column += utf8.RuneCountInString(before)
		if d.quoted {
			at.column++
		}
		for _, r := range before {
			if strings.ContainsRune(d.escapes, r) {
				at.column++
			}
		}
	}
	return at
}

// print returns the document as JSON, a token on each line, and what the tokens
// are: that of a line of the text is its index in tokens, plus 1.
func (d *document) print() (text []byte, tokens []*document) {
	p := &documentPrinter{}
	p.value(d)
	return p.text.Bytes(), p.tokens
}

type documentPrinter struct {
	text   bytes.Buffer
	tokens []*document
}

func (p *documentPrinter) token(text string, of *document) {
	p.text.WriteString(text)
	p.text.WriteByte('\n')
	p.tokens = append(p.tokens, of)
}

// mark writes a token that is only a place.
func (p *documentPrinter) mark(text string, at place) { p.token(text, &document{place: at}) }

func (p *documentPrinter) value(d *document) {
	switch d.kind {
	case literalDocument:
		p.token(d.text, d)
	case textDocument:
		p.token(quoteJSON(d.text), d)
	case listDocument:
		p.mark("[", d.place)
		for i, item := range d.items {
			if i > 0 {
				p.mark(",", item.place)
			}
			p.value(item)
		}
		p.mark("]", d.place)
	case objectDocument:
		p.mark("{", d.place)
		for i, m := range d.members {
			if i > 0 {
				p.mark(",", m.place)
			}
			p.mark(quoteJSON(m.name), m.place)
			p.mark(":", m.place)
			p.value(m.value)
		}
		p.mark("}", d.place)
	}
}

func quoteJSON(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		return `""` // a text can always be written
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// parseJSON reads a document from JSON.
func parseJSON(text []byte) (*document, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	r := &jsonReader{text: text, decoder: d, at: place{1, 1}}
	out, err := r.value(0)
	if broken, ok := errors.AsType[*json.SyntaxError](err); ok {
		return nil, &documentError{r.placeOf(int(broken.Offset)), broken.Error()}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return nil, &documentError{r.placeOf(len(text)), "the text ends too early"}
	}
	return out, err
}

// A jsonReader reads tokens and keeps count of lines and columns.
type jsonReader struct {
	text    []byte
	decoder *json.Decoder
	seen    int // offset up to which they are counted
	at      place
}

// placeOf returns the place of an offset, which is not less than one asked for
// before.
func (r *jsonReader) placeOf(offset int) place {
	for ; r.seen < min(offset, len(r.text)); r.seen++ {
		switch c := r.text[r.seen]; {
		case c == '\n':
			r.at = place{r.at.line + 1, 1}
		case utf8.RuneStart(c):
			r.at.column++
		}
	}
	return r.at
}

// next returns the next token and its place.
func (r *jsonReader) next() (json.Token, place, error) {
	at := int(r.decoder.InputOffset())
	for at < len(r.text) && strings.IndexByte(" \t\r\n,:", r.text[at]) >= 0 {
		at++
	}
	token, err := r.decoder.Token()
	return token, r.placeOf(at), err
}

func (r *jsonReader) value(depth int) (*document, error) {
	token, at, err := r.next()
	if err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, &documentError{at, fmt.Sprintf("objects and arrays nest deeper than %d", maxDepth)}
	}
	d := &document{place: at}
	switch v := token.(type) {
	case json.Delim:
		if v == '{' {
			d.kind = objectDocument
			return d, r.members(d, depth)
		}
		d.kind = listDocument
		for r.decoder.More() {
			item, err := r.value(depth + 1)
			if err != nil {
				return nil, err
			}
			d.items = append(d.items, item)
		}
		_, _, err := r.next()
		return d, err
	case string:
		d.kind, d.text = textDocument, v
	case nil:
		d.text = "null"
	default:
		d.text = fmt.Sprint(v)
	}
	return d, nil
}

func (r *jsonReader) members(d *document, depth int) error {
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
		d.members = append(d.members, documentMember{at, name, value})
	}
	_, _, err := r.next()
	return err
}

package console

import (
	"html"
	"strconv"
	"strings"
	"unicode"
)

// A text is a fixed text of a page, in English. {0}, {1} and so on stand for values. It is the key of the catalog, see
// language.go.
type text string

// A said is a fixed text, and the values in it.
type said struct {
	text   text
	values []node
}

// say shows a fixed text in the language of the page.
func say(t text, values ...node) node { return said{t, values} }

func (s said) write(out *writer) { out.say(out.in.say(s.text), s.values) }

// say writes a text of a language with the values in it.
func (out *writer) say(rest string, values []node) {
	for {
		before, after, found := strings.Cut(rest, "{")
		out.put(html.EscapeString(before))
		if !found {
			return
		}
		place, after, _ := strings.Cut(after, "}")
		if n, err := strconv.Atoi(place); err == nil && n >= 0 && n < len(values) {
			values[n].write(out)
		}
		rest = after
	}
}

// A nodeAttribute is an attribute that people read or hear.
type nodeAttribute struct {
	name string
	text node // without elements
}

// sayAttr says a fixed text in an attribute, such as aria-label, title or placeholder.
func sayAttr(name string, t text, values ...node) node { return nodeAttribute{name, said{t, values}} }

func (a nodeAttribute) write(out *writer) {
	outside := out.plain
	out.plain = true
	out.put(" ", a.name, `="`)
	a.text.write(out)
	out.put(`"`)
	out.plain = outside
}

// number shows a number.
type number int

func (n number) write(out *writer) { out.put(strconv.Itoa(int(n))) }

// inEnglish shows a sentence of another package, which is in English in every language.
func inEnglish(sentence string) node { return el("span", attr("lang", "en"), words(sentence)) }

// Characters that keep a name in one script from reordering the text around it, where no element can.
const isolate, isolated = "\u2068", "\u2069"

// data writes what is no text of the catalog. Outside English it stands apart from the text around it, because its
// script may have another direction.
func (out *writer) data(s string) {
	escaped := html.EscapeString(s)
	switch {
	case out.in == english || !strings.ContainsFunc(s, func(r rune) bool { return unicode.In(r, unicode.L) }):
		out.put(escaped)
	case out.plain:
		out.put(isolate, escaped, isolated)
	default:
		out.put("<bdi>", escaped, "</bdi>")
	}
}

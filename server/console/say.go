package console

import (
	"html"
	"strconv"
	"strings"
)

// A said is a fixed text, in which {0}, {1} and so on stand for values.
type said struct {
	text   string
	values []node
}

// say shows a fixed text with values.
func say(text string, values ...node) node { return said{text, values} }

// sayCount says a text with a number, which stands at {0}: one for 1, other for all other numbers.
func sayCount(n int, one, other string) node {
	if n == 1 {
		other = one
	}
	return say(other, number(n))
}

func (s said) write(out *writer) {
	for rest := s.text; ; {
		before, after, found := strings.Cut(rest, "{")
		out.put(html.EscapeString(before))
		if !found {
			return
		}
		place, after, _ := strings.Cut(after, "}")
		if n, err := strconv.Atoi(place); err == nil && n >= 0 && n < len(s.values) {
			s.values[n].write(out)
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
func sayAttr(name string, text string, values ...node) node {
	return nodeAttribute{name, say(text, values...)}
}

func (a nodeAttribute) write(out *writer) {
	out.put(" ", a.name, `="`)
	a.text.write(out)
	out.put(`"`)
}

// number shows a number.
type number int

func (n number) write(out *writer) { out.put(strconv.Itoa(int(n))) }

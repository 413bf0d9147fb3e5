package console

import (
	"crypto/sha256"
	"encoding/hex"
	"html"
	"io"
	"strings"

	"github.com/ebbflow/ebb/internal/tasktoken"
	"github.com/ebbflow/ebb/internal/visible"
)

// Pages are built from nodes, not from templates: package html/template calls methods by name, so that the linker would
// keep every exported method of the program. That made the binary 4 MB larger.

// To add a text that a page shows, write say("Runs") for a fixed text and words(run.Flow) for data. A value stands in a
// fixed text as {0}: say("{0} of {1}", words(job), words(flow)). A fixed text in an attribute, such as aria-label,
// title or placeholder, is sayAttr("title", "Runs"). A script reads its texts from attributes of the page.

// A node is a part of a page: an element, an attribute of the element around it, a text, or several of these. All texts
// of nodes are escaped, and no node is written as it is but a drawing of package draw.
type node interface{ write(out *writer) }

// A writer writes nodes, while a client reads.
type writer struct {
	to    io.Writer
	hides bool // the reader may only read, and gets no tokens
	size  int  // bytes that were written
	cut   bool // rows were left out
}

// mostPage is how large a page may become before its further rows are left out.
//
//limit:shown bytes of a page of the console | {B}, plus one row | rows are left out, and the page says so
const mostPage = 2 << 20

// rowElements are the elements that are left out of a page that is too large.
var rowElements = map[string]bool{"tr": true, "li": true, "details": true, "option": true}

func (out *writer) put(texts ...string) {
	for _, t := range texts {
		text := []byte(t)
		if out.hides {
			text = tasktoken.Hide(text)
		}
		out.size += len(text)
		_, _ = out.to.Write(text) // the client may have disconnected
	}
}

// A cutNote says that rows before it were left out; otherwise it is nothing.
type cutNote struct{}

func (cutNote) write(out *writer) {
	if out.cut {
		out.cut = false
		el("p", class("told"), say("This page is too large: rows are left out. The API and the command have all of them.")).
			write(out)
	}
}

// An element is an HTML or SVG element.
type element struct {
	name  string
	parts []node
}

// el returns an element with its attributes and contents.
func el(name string, parts ...node) node { return element{name, parts} }

// empties are the elements that have no end tag.
var empties = map[string]bool{"meta": true, "link": true, "input": true, "br": true}

func (e element) write(out *writer) {
	if out.size > mostPage && rowElements[e.name] {
		out.cut = true
		return
	}
	out.put("<", e.name)
	eachPart(e.parts, func(n node) {
		if isAttribute(n) {
			n.write(out)
		}
	})
	out.put(">")
	if empties[e.name] {
		return
	}
	eachPart(e.parts, func(n node) {
		if !isAttribute(n) {
			n.write(out)
		}
	})
	out.put("</", e.name, ">")
}

// eachPart passes all parts on, also those of fragments.
func eachPart(parts []node, pass func(node)) {
	for _, n := range parts {
		if f, is := n.(fragment); is {
			eachPart(f, pass)
		} else if n != nil {
			pass(n)
		}
	}
}

// A fragment is several nodes, or none.
type fragment []node

func (f fragment) write(out *writer) {
	eachPart(f, func(n node) { n.write(out) })
}

// none is no node.
var none fragment

// when returns the nodes if the condition holds.
func when(holds bool, parts ...node) node {
	if holds {
		return fragment(parts)
	}
	return none
}

// each returns a node for each item.
func each[T any](items []T, show func(*T) node) node {
	all := make(fragment, len(items))
	for i := range items {
		all[i] = show(&items[i])
	}
	return all
}

// mostWords is how many bytes of a text stand in a line. Longer ones would push everything else out of sight.
const mostWords = 600

// A words is a text that a page shows on one line: the beginning, if it is long. What cannot be seen is shown as an
// escape, see package visible.
type words string

func (w words) write(out *writer) {
	out.put(html.EscapeString(visible.Line(beginning(string(w), mostWords))))
}

// beginning returns the beginning of a text that is longer than some bytes.
func beginning(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// A literal is a text in which line breaks and tabs stay, such as a value in JSON.
type literal string

func (l literal) write(out *writer) {
	out.put(html.EscapeString(visible.Lines(string(l))))
}

// A verbatim text is one that a person edits: nothing in it is shown in another way.
type verbatim string

func (t verbatim) write(out *writer) { out.put(html.EscapeString(string(t))) }

// A drawing is an image that package draw has written. It escapes all texts.
type drawing string

func (d drawing) write(out *writer) { out.put(string(d)) }

// An attribute belongs to the element around it.
type attribute struct{ name, value string }

func attr(name, value string) node { return attribute{name, value} }

func class(names ...string) node { return attribute{"class", strings.Join(names, " ")} }

func (a attribute) write(out *writer) { out.attribute(a.name, a.value) }

func (out *writer) attribute(name, value string) {
	out.put(" ", name, `="`, html.EscapeString(value), `"`)
}

// isAttribute reports whether a node belongs into the tag of the element around it.
func isAttribute(n node) bool {
	switch n.(type) {
	case attribute, nodeAttribute:
		return true
	default:
		return false
	}
}

// An address is a link to a page of the console. It is relative and starts with a name that the program chose, so it
// cannot lead elsewhere.
type address string

func href(to address) node { return attribute{"href", string(to)} }

// hashOf returns a hash of what a node writes.
func hashOf(n node) string {
	sum := sha256.New()
	n.write(&writer{to: sum})
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

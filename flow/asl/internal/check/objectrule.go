package check

import (
	"maps"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/flow/internal/definition"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// A node is a JSON value of a definition with its position in the text.
type node = jsontext.Node

// An objectRule describes a kind of object of the language: its fields, which of them are required, and which
// exclude each other. Only the objectRules list the legal fields (asl.md, table a.2), and which field of T each one
// sets. The checks, the JSON Schema and the manual are derived from them.
type objectRule[T any] struct {
	name     string // name in the JSON Schema
	what     string // name with its article, for messages
	fields   fields[T]
	required []string                             // required fields
	oneOf    [][]string                           // groups of fields, of which exactly one is required
	mayOneOf [][]string                           // groups of fields, of which at most one is legal
	goesOn   bool                                 // it must have either Next or End
	fresh    func() *T                            // returns the object without its fields; nil means the zero value
	also     []func(c *checker, n *node, read *T) // further conditions of the object
}

// A field is the rule for a value, the query languages in which it is legal, and the field of the tree that it
// sets.
type field[T any] struct {
	in   syntax.QueryLanguage
	is   described
	read func(c *checker, n *node, into *T)
}

type fields[T any] map[string]field[T]

// A described rule describes its values in JSON Schema.
type described interface {
	schema(s *schemas) schema
}

// A valueRule describes the value of a field. It reads a value and reports its errors; if there are errors, its
// result is not used.
type valueRule[V any] interface {
	described
	read(c *checker, n *node) V
}

// at returns the slot for a field of an object.
func at[T, V any](of func(*T) *V) slot[T, V] { return of }

type slot[T, V any] func(*T) *V

// is returns a field that reads into the slot.
func (s slot[T, V]) is(in syntax.QueryLanguage, is valueRule[V]) field[T] {
	return field[T]{in, is, func(c *checker, n *node, into *T) { *s(into) = is.read(c, n) }}
}

// checked returns a field that is checked and not stored.
func checked[T, V any](in syntax.QueryLanguage, is valueRule[V]) field[T] {
	return field[T]{in, is, func(c *checker, n *node, _ *T) { is.read(c, n) }}
}

// with returns the fields of both.
func (f fields[T]) with(others ...fields[T]) fields[T] {
	all := fields[T]{}
	for _, set := range append(others, f) {
		maps.Copy(all, set)
	}
	return all
}

// in returns the names that are legal in a query language, in order.
func (f fields[T]) in(q syntax.QueryLanguage) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if f[name].in&q != 0 {
			names = append(names, name)
		}
	}
	return names
}

// read reads an object and the values in it.
func (f *objectRule[T]) read(c *checker, n *node) *T {
	read := new(T)
	if f.fresh != nil {
		read = f.fresh()
	}
	f.fill(c, n, read)
	return read
}

func (f *objectRule[T]) fill(c *checker, n *node, into *T) {
	if !c.IsObject(n) {
		return
	}
	for _, m := range n.Members {
		f.member(c, m, into)
	}
	f.complete(c, n)
	for _, check := range f.also {
		check(c, n, into)
	}
}

// member reads one member of an object.
func (f *objectRule[T]) member(c *checker, m jsontext.Member, into *T) {
	legal, ok := f.fields[m.Name]
	switch {
	case ok && legal.in&c.language != 0:
		legal.read(c, m.Value, into)
	case ok:
		c.Namef(ruleLanguageField, m, c.counterpart(&m, f.fields.in(c.language)), "%s is for QueryLanguage %s", m.Name,
			legal.in)
	case knownFields()[m.Name]:
		c.Namef(ruleField, m, "", "%s is not supported in %s", m.Name, f.what)
	default:
		fix := c.DidYouMean(ruleUnknownField, m.Name, f.fields.in(c.language), plainly)
		c.Namef(ruleUnknownField, m, fix, "%s is no field of %s", jsontext.Cut(m.Name), f.what)
	}
}

func plainly(text string) string { return text }

// complete reports missing fields, and fields that exclude each other.
func (f *objectRule[T]) complete(c *checker, n *node) {
	var missing []string
	for _, name := range f.required {
		if n.Get(name) == nil {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		c.Valuef(ruleRequired, n, "these fields are required: %s", strings.Join(missing, ", "))
	}
	for _, group := range f.oneOf {
		legal := f.legal(c.language, group)
		// If the object has the field of the other query language, the error of that field has the fix.
		if !exclusive(c, n, legal) && !slices.ContainsFunc(group, func(name string) bool { return n.Get(name) != nil }) {
			c.Valuef(ruleRequired, n, "one of %s must be there", strings.Join(legal, ", "))
		}
	}
	for _, group := range f.mayOneOf {
		exclusive(c, n, f.legal(c.language, group))
	}
	if f.goesOn {
		nextOrEnd(c, n)
	}
}

// legal returns the names that are legal in a query language.
func (f *objectRule[T]) legal(q syntax.QueryLanguage, names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return f.fields[name].in&q == 0 })
}

// exclusive reports all but the first of the named fields that an object has, and returns whether it has any.
func exclusive(c *checker, n *node, names []string) bool {
	found := false
	for _, name := range names {
		v := n.Get(name)
		if v != nil && found {
			c.Valuef(ruleExclusive, v, "only one of %s may be there", strings.Join(names, ", "))
		}
		found = found || v != nil
	}
	return found
}

// nextOrEnd reports states without Next or End.
func nextOrEnd(c *checker, n *node) {
	next, end := n.Get("Next"), n.Get("End")
	switch {
	case next != nil && end.IsTrue():
		c.Valuef(ruleNextOrEnd, next, "a state that ends the machine has no Next")
	case next == nil && !end.IsTrue() && (end == nil || end.Kind == jsontext.Bool):
		c.Valuef(ruleNextOrEnd, n, `one of Next and "End": true must be there`)
	}
}

func nameOf(n *node) string { return definition.NameOf(n) }

package asl

import (
	"maps"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// An objectRule is a kind of object of the language: which fields it may have, which
// it must have, and which exclude each other. Only the objectRules say which fields
// are legal (asl.md, table a.2). The checks, the JSON Schema and the manual follow
// from them.
type objectRule struct {
	name     string // in the JSON Schema
	what     string // with its article, for messages
	fields   fields
	required []string     // must be there
	oneOf    [][]string   // exactly one must be there
	mayOneOf [][]string   // at most one may be there
	also     []valueCheck // what else the object must be
}

// A field says in which query languages it is legal, and what its value is.
type field struct {
	in queryLanguage
	is valueRule
}

type fields map[string]field

// with returns the fields of both.
func (f fields) with(others ...fields) fields {
	all := fields{}
	for _, set := range append(others, f) {
		maps.Copy(all, set)
	}
	return all
}

// in returns the names that are legal in a query language, in order.
func (f fields) in(q queryLanguage) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if f[name].in&q != 0 {
			names = append(names, name)
		}
	}
	return names
}

// A valueCheck is something that a value must be.
type valueCheck interface {
	check(c *checker, n *node)
}

// A queryLanguage is one of the two in which states say what to do with data.
type queryLanguage uint8

const (
	inJSONPath queryLanguage = 1 << iota
	inJSONata
	both = inJSONPath | inJSONata
)

func (q queryLanguage) String() string {
	if q == inJSONata {
		return "JSONata"
	}
	return "JSONPath"
}

// check reports what is wrong with an object and the values in it.
func (f *objectRule) check(c *checker, n *node) {
	if n.Kind != jsontext.Object {
		c.valuef(ruleType, n, "%s must be an object, found %s", nameOf(n), n.Kind)
		return
	}
	for _, m := range n.Members {
		f.member(c, m)
	}
	f.complete(c, n)
	for _, d := range f.also {
		d.check(c, n)
	}
}

// member checks one member of an object.
func (f *objectRule) member(c *checker, m jsontext.Member) {
	legal, ok := f.fields[m.Name]
	switch {
	case ok && legal.in&c.language != 0:
		legal.is.check(c, m.Value)
	case ok:
		c.namef(ruleLanguageField, m, "", "%s is for QueryLanguage %s", m.Name, legal.in)
	case knownFields()[m.Name]:
		c.namef(ruleField, m, "", "%s is not supported in %s", m.Name, f.what)
	default:
		fix := c.didYouMean(ruleUnknownField, m.Name, f.fields.in(c.language), plainly)
		c.namef(ruleUnknownField, m, fix, "%s is no field of %s and is ignored", jsontext.Cut(m.Name), f.what)
	}
}

// complete reports fields that are missing, and that exclude each other.
func (f *objectRule) complete(c *checker, n *node) {
	var missing []string
	for _, name := range f.required {
		if n.Get(name) == nil {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		c.valuef(ruleRequired, n, "these fields are required: %s", strings.Join(missing, ", "))
	}
	for _, group := range f.oneOf {
		if group = f.legal(c, group); !c.exclusive(n, group) {
			c.valuef(ruleRequired, n, "one of %s must be there", strings.Join(group, ", "))
		}
	}
	for _, group := range f.mayOneOf {
		c.exclusive(n, f.legal(c, group))
	}
}

// legal returns the names that are legal in the query language of the state.
func (f *objectRule) legal(c *checker, names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return f.fields[name].in&c.language == 0 })
}

// exclusive reports all but the first of those of the named fields that are
// there, and returns whether any is.
func (c *checker) exclusive(n *node, names []string) bool {
	found := false
	for _, name := range names {
		v := n.Get(name)
		if v != nil && found {
			c.valuef(ruleExclusive, v, "only one of %s may be there", strings.Join(names, ", "))
		}
		found = found || v != nil
	}
	return found
}

// nameOf returns how messages call a value: by the field it is in, or as an entry
// of the list it is in.
func nameOf(n *node) string {
	switch {
	case n.Parent == nil:
		return "the definition"
	case n.Parent.Kind == jsontext.Array:
		return "an entry of " + nameOf(n.Parent)
	}
	return jsontext.Cut(n.Key)
}

package check

import (
	"maps"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// An objectRule describes a kind of object of the language: its attributes, which of them are required, and further
// conditions. Only the objectRules list the attributes, and which field of T each one sets. The checks, the JSON
// Schema and the manual are derived from them.
type objectRule[T any] struct {
	name       string // in the JSON Schema
	what       string // name with its article, for messages
	attributes attributes[T]
	required   []string
	also       []func(c *checker, n *node, read *T) // further conditions of the object
}

// An attribute is the rule for a value, and the field that it sets.
type attribute[T any] struct {
	is   described
	read func(c *checker, n *node, into *T)
}

type attributes[T any] map[string]attribute[T]

// A described rule describes its values in JSON Schema.
type described interface {
	schema(s schemas) schema
}

// A valueRule describes the value of an attribute. It reads a value and reports its errors; if there are errors,
// its result is not used.
type valueRule[V any] interface {
	described
	read(c *checker, n *node) V
}

// at returns the slot for a field of an object.
func at[T, V any](of func(*T) *V) slot[T, V] { return of }

type slot[T, V any] func(*T) *V

// is returns an attribute that reads into the slot.
func (s slot[T, V]) is(is valueRule[V]) attribute[T] {
	return attribute[T]{is, func(c *checker, n *node, into *T) { *s(into) = is.read(c, n) }}
}

// checked returns an attribute that is checked and not stored.
func checked[T, V any](is valueRule[V]) attribute[T] {
	return attribute[T]{is, func(c *checker, n *node, _ *T) { is.read(c, n) }}
}

// with returns the attributes of both.
func (a attributes[T]) with(others ...attributes[T]) attributes[T] {
	all := maps.Clone(a)
	for _, other := range others {
		maps.Copy(all, other)
	}
	return all
}

// read reads an object and its values.
func (f *objectRule[T]) read(c *checker, n *node) *T {
	read := new(T)
	f.fill(c, n, read)
	return read
}

func (f *objectRule[T]) fill(c *checker, n *node, into *T) {
	if !c.IsObject(n) {
		return
	}
	for _, m := range n.Members {
		if m.Value.Kind == jsontext.Null {
			continue // treat the attribute as missing
		}
		if a, ok := f.attributes[m.Name]; ok {
			a.read(c, m.Value, into)
			continue
		}
		if kinds := c.owners.elsewhere(m.Name, f.what); kinds != "" {
			c.Namef(ruleUnknown, m, "", "%s is an attribute of %s, not of %s, and is ignored", quote(m.Name), kinds,
				f.what)
		} else if fix := c.DidYouMean(ruleUnknown, m.Name, slices.Sorted(maps.Keys(f.attributes)), quote); fix != "" {
			c.Namef(ruleUnknown, m, fix, "%s is no attribute of %s and is ignored", quote(m.Name), f.what)
		}
	}
	var missing []string
	for _, name := range f.required {
		if get(n, name) == nil {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		c.Valuef(ruleRequired, n, "%s needs %s", f.what, strings.Join(missing, ", "))
	}
	for _, check := range f.also {
		check(c, n, into)
	}
}

// get returns the member with a name; nil if it is null or missing.
func get(n *node, name string) *node {
	v := n.Get(name)
	if v != nil && v.Kind == jsontext.Null {
		return nil
	}
	return v
}

// items returns the elements of an array member; none if the member is missing.
func items(n *node, name string) []*node {
	if v := get(n, name); v != nil {
		return v.Items
	}
	return nil
}

// text returns a string member; "" if it is missing or not a string.
func text(n *node, name string) string {
	if v := get(n, name); v != nil && v.Kind == jsontext.String {
		return v.Str
	}
	return ""
}

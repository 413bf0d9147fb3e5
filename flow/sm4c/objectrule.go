package sm4c

import (
	"maps"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// An objectRule is a kind of object of the language: which attributes it has, which
// of them it must have, and what else it must be. Only the objectRules say which
// attributes there are, and what becomes of them in the T that the object stands for.
// The checks, the JSON Schema and the manual follow from them.
type objectRule[T any] struct {
	name       string // in the JSON Schema
	what       string // with its article, for messages
	attributes attributes[T]
	required   []string
	also       []func(c *checker, n *node, read *T) // what else the object must be
}

// An attribute says what its value is, and where that is kept.
type attribute[T any] struct {
	is   described
	read func(c *checker, n *node, into *T)
}

type attributes[T any] map[string]attribute[T]

// A described value describes itself as JSON Schema.
type described interface {
	schema(s schemas) schema
}

// A valueRule says what the value of an attribute looks like. It reads a value, and
// reports what is wrong with it: then what it returns is of no use.
type valueRule[V any] interface {
	described
	read(c *checker, n *node) V
}

// at is where the value of an attribute is kept in its object.
func at[T, V any](of func(*T) *V) slot[T, V] { return of }

type slot[T, V any] func(*T) *V

// is returns the attribute.
func (s slot[T, V]) is(is valueRule[V]) attribute[T] {
	return attribute[T]{is, func(c *checker, n *node, into *T) { *s(into) = is.read(c, n) }}
}

// checked is an attribute that is checked only.
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

// read reads an object and the values in it.
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
			continue // as if it were not there
		}
		if a, ok := f.attributes[m.Name]; ok {
			a.read(c, m.Value, into)
			continue
		}
		if fix := c.DidYouMean(ruleUnknown, m.Name, slices.Sorted(maps.Keys(f.attributes)), quote); fix != "" {
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

// get returns the member under a name, nil if it is null or not there.
func get(n *node, name string) *node {
	v := n.Get(name)
	if v != nil && v.Kind == jsontext.Null {
		return nil
	}
	return v
}

// items returns the elements of an array that is a member, none if it is not
// there.
func items(n *node, name string) []*node {
	if v := get(n, name); v != nil {
		return v.Items
	}
	return nil
}

// text returns a string that is a member, "" if it is none.
func text(n *node, name string) string {
	if v := get(n, name); v != nil && v.Kind == jsontext.String {
		return v.Str
	}
	return ""
}

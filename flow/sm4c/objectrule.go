package sm4c

import (
	"maps"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// An objectRule is a kind of object of the language: which attributes it has, which
// of them it must have, and what else it must be. Only the objectRules say which
// attributes there are. The checks, the JSON Schema and the manual follow from them.
type objectRule struct {
	name       string // in the JSON Schema
	what       string // with its article, for messages
	attributes attributes
	required   []string
	also       []valueCheck
}

// attributes are what the values of an object's members are.
type attributes map[string]valueRule

// with returns the attributes of both.
func (a attributes) with(others ...attributes) attributes {
	all := maps.Clone(a)
	for _, other := range others {
		maps.Copy(all, other)
	}
	return all
}

func (a attributes) names() []string { return slices.Sorted(maps.Keys(a)) }

// A valueCheck is something that a value must be.
type valueCheck interface {
	check(c *checker, n *node)
}

// A valueRule says what the value of an attribute looks like. It reports what is
// wrong with a value, and describes itself as JSON Schema.
type valueRule interface {
	valueCheck
	schema(s *schemas) schema
}

// check reports what is wrong with an object and the values in it.
func (f *objectRule) check(c *checker, n *node) {
	if n.Kind != jsontext.Object {
		c.valuef(ruleType, n, "%s must be an object, found %s", nameOf(n), n.Kind)
		return
	}
	for _, m := range n.Members {
		if m.Value.Kind == jsontext.Null {
			continue // as if it were not there
		}
		if is, ok := f.attributes[m.Name]; ok {
			is.check(c, m.Value)
			continue
		}
		if fix := didYouMean(m.Name, f.attributes.names()); fix != "" {
			c.namef(ruleUnknown, m, fix, "%s is no attribute of %s and is ignored", quote(m.Name), f.what)
		}
	}
	var missing []string
	for _, name := range f.required {
		if get(n, name) == nil {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		c.valuef(ruleRequired, n, "%s needs %s", f.what, strings.Join(missing, ", "))
	}
	for _, d := range f.also {
		d.check(c, n)
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

// nameOf returns how messages call a value: by the attribute it is, or as an
// entry of the list it is in.
func nameOf(n *node) string {
	switch {
	case n.Parent == nil:
		return "the definition"
	case n.Parent.Kind == jsontext.Array:
		return "an entry of " + nameOf(n.Parent)
	}
	return jsontext.Cut(n.Key)
}

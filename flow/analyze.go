package flow

import (
	"fmt"
	"reflect"

	"github.com/ebbflow/ebb/atom"
)

// analysis describes a node before it is placed: what it requires from outside, what it provides to the outside and,
// for a graph, how its children depend on each other.
type analysis struct {
	node     Node
	self     *atom.Atom // that stands for a node which begins a run
	run      *PlanRun   // which run
	requires []string
	provides []string
	children []*analysis // those that take part
	deps     [][]int32   // graph: for each child, the children it directly depends on, ascending
	decided  map[[2]int32]*link
}

// analyze looks at a node and all within it, and notes the problems it finds.
func (c *compiler) analyze(n Node, in string) *analysis {
	if isNil(n) {
		what := "node"
		if n != nil {
			what = fmt.Sprintf("%T", n)
		}
		c.problemf(in, "", "", ErrInvalid, "flow %q holds a nil %s; leave it out", in, what)
		return nil
	}
	switch n := n.(type) {
	case *atom.Atom:
		c.enter(n, n.Name(), in)
		c.mistakes(n, in)
		return &analysis{node: n, requires: requiredBy(n), provides: providedBy(n)}
	case *GrowingFlow:
		c.growing = n
		c.enter(n, n.Name(), in)
		return &analysis{node: n, requires: requiredBy(n.self), provides: providedBy(n.self)}
	case nesting:
		c.enter(n, n.Name(), in)
		self, run := n.nested(c)
		return &analysis{node: n, self: self, run: run, requires: requiredBy(self), provides: providedBy(self)}
	case patterned:
		p := n.inner()
		if c.nodes[p] {
			c.problemf(p.name, "", "", ErrDuplicate, "flow %q stands in two places; make another one of it", p.name)
			return &analysis{node: n}
		}
		c.nodes[p] = true
		c.whole(p, n == c.root)
		return c.analyzePattern(n, p)
	default:
		c.problemf(in, "", "", ErrInvalid, "flow %q holds a %T, which is neither an atom nor a flow", in, n)
		return nil
	}
}

// enter notes an atom's name, which must be its own.
func (c *compiler) enter(n any, name, in string) {
	switch {
	case name == "":
		c.problemf(in, "", "", ErrInvalid, "flow %q has an atom without a name", in)
	case c.nodes[n]:
		c.problemf(in, name, "", ErrDuplicate, "atom %q stands in two places; make another one of it under another name",
			name)
	case c.names[name]:
		c.problemf(in, name, "", ErrDuplicate,
			"two atoms are called %q; a name is an atom's identity in the store, so each needs its own", name)
	}
	c.nodes[n], c.names[name] = true, true
}

// mistakes reports what is wrong with an atom itself.
func (c *compiler) mistakes(a *atom.Atom, in string) {
	for _, text := range a.Mistakes() {
		c.problemf(in, a.Name(), "", ErrInvalid, "atom %q %s", a.Name(), text)
	}
}

func (c *compiler) analyzePattern(n Node, p *pattern) *analysis {
	a := &analysis{node: n}
	if p.name == "" {
		c.problemf(c.plan.Flow, "", "", ErrInvalid,
			"a flow has no name; its name is what runs, pictures and problems call it")
	}
	var retryGives, retryNeeds []string
	if p.retry != nil {
		c.enter(p.retry, p.retry.Name(), p.name)
		c.mistakes(p.retry, p.name)
		retryGives, retryNeeds = providedBy(p.retry), requiredBy(p.retry)
	}
	for _, child := range p.children {
		if ca := c.analyze(child, p.name); ca != nil {
			a.children = append(a.children, ca)
		}
	}
	if p.arranged == graph {
		c.infer(a, p, retryGives)
		c.link(a, p)
		c.aim(a, p)
		c.checkCycle(a, p)
	}

	requires, provides := newSet(retryNeeds), newSet(retryGives)
	inside := newSet(retryGives)
	anywhere := newSet(nil) // what any child provides: no other symbol can come from an ancestor
	for _, child := range a.children {
		for _, s := range child.provides {
			anywhere.add(s)
		}
	}
	for i, child := range a.children {
		for _, s := range child.requires {
			if inside.has(s) || p.arranged == graph && anywhere.has(s) && a.ancestorProvides(int32(i), s) {
				continue
			}
			requires.add(s)
		}
		for _, s := range child.provides {
			provides.add(s)
			if p.arranged == linear {
				inside.add(s)
			}
		}
	}
	a.requires, a.provides = requires.list, provides.list
	return a
}

// isNil reports whether there is no node at all, also behind a type.
func isNil(n Node) bool {
	if n == nil {
		return true
	}
	v := reflect.ValueOf(n)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

func nameOf(n Node) string {
	if isNil(n) {
		return "<nil>"
	}
	return n.Name()
}

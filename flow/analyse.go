package flow

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

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

// analyse looks at a node and all within it, and notes the problems it finds.
func (c *compiler) analyse(n Node, in string) *analysis {
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
		return c.analysePattern(n, p)
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

func (c *compiler) analysePattern(n Node, p *pattern) *analysis {
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
		if ca := c.analyse(child, p.name); ca != nil {
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

// infer makes each child of a graph depend on the child that provides the symbols
// that it requires. The order in which the children were added does not matter.
func (c *compiler) infer(a *analysis, p *pattern, retryGives []string) {
	a.deps = make([][]int32, len(a.children))
	given := newSet(retryGives)
	providers := map[string][]int32{}
	waiting := map[string][]int32{}
	for i, child := range a.children {
		at := int32(i)
		for _, s := range child.requires {
			if given.has(s) {
				continue
			}
			switch before := providers[s]; len(before) {
			case 0:
				waiting[s] = append(waiting[s], at)
			case 1:
				a.depend(at, before[0])
			default:
				c.problemf(p.name, child.node.Name(), s, ErrAmbiguous,
					"%q in graph %q requires %q, which %q and %q both provide; rename one of them", child.node.Name(), p.name, s,
					a.children[before[0]].node.Name(), a.children[before[1]].node.Name())
			}
		}
		for _, s := range child.provides {
			self := false
			for _, q := range waiting[s] {
				if q == at {
					self = true // what it requires must still come from another
				} else {
					a.depend(q, at)
				}
			}
			delete(waiting, s)
			if self {
				waiting[s] = []int32{at}
			}
			providers[s] = append(providers[s], at)
		}
	}
}

// depend makes a child depend on another, once.
func (a *analysis) depend(child, on int32) {
	at, found := slices.BinarySearch(a.deps[child], on)
	if !found {
		a.deps[child] = slices.Insert(a.deps[child], at, on)
	}
}

func (c *compiler) link(a *analysis, p *pattern) {
	if len(p.links) == 0 {
		return
	}
	at := make(map[Node]int32, len(a.children))
	for i, child := range a.children {
		at[child.node] = int32(i)
	}
	a.decided = map[[2]int32]*link{}
	for i := range p.links {
		l := &p.links[i]
		from, ok1 := at[l.from]
		to, ok2 := at[l.to]
		if !ok1 || !ok2 {
			stranger := l.from
			if ok1 {
				stranger = l.to
			}
			c.problemf(p.name, nameOf(stranger), "", ErrInvalid, "graph %q links %q to %q, but %q was not added to it",
				p.name, nameOf(l.from), nameOf(l.to), nameOf(stranger))
			continue
		}
		a.depend(to, from)
		if l.decider != nil && l.decider.Decide == nil {
			c.problemf(p.name, nameOf(l.to), "", ErrInvalid, "the link from %q to %q has no function to decide; give %s a "+
				"function that is not nil", nameOf(l.from), nameOf(l.to), "flow.When or flow.Decide")
			continue
		}
		if l.decider != nil {
			a.decided[[2]int32{from, to}] = l
		}
	}
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

// aim drops the children that the graph's target does not depend on.
func (c *compiler) aim(a *analysis, p *pattern) {
	if p.target == nil {
		return
	}
	target := slices.IndexFunc(a.children, func(ca *analysis) bool { return ca.node == p.target })
	if target < 0 {
		c.problemf(p.name, nameOf(p.target), "", ErrInvalid, "the target %q of graph %q was not added to it",
			nameOf(p.target), p.name)
		return
	}
	keep := make([]bool, len(a.children))
	keep[target] = true
	for work := []int32{int32(target)}; len(work) > 0; {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		for _, d := range a.deps[n] {
			if !keep[d] {
				keep[d] = true
				work = append(work, d)
			}
		}
	}
	version := make([]int32, len(a.children))
	var children []*analysis
	var deps [][]int32
	for i, child := range a.children {
		if keep[i] {
			version[i] = int32(len(children))
			children = append(children, child)
			deps = append(deps, a.deps[i])
		} else {
			c.forget(child)
		}
	}
	for _, list := range deps {
		for i := range list {
			list[i] = version[list[i]]
		}
	}
	decided := map[[2]int32]*link{}
	for k, l := range a.decided {
		if keep[k[0]] && keep[k[1]] {
			decided[[2]int32{version[k[0]], version[k[1]]}] = l
		}
	}
	a.children, a.deps, a.decided = children, deps, decided
}

// forget frees the names of what does not take part.
func (c *compiler) forget(a *analysis) {
	delete(c.names, a.node.Name())
	if p, ok := a.node.(patterned); ok && p.inner().retry != nil {
		delete(c.names, p.inner().retry.Name())
	}
	for _, child := range a.children {
		c.forget(child)
	}
}

// checkCycle finds nodes that depend on themselves.
func (c *compiler) checkCycle(a *analysis, p *pattern) {
	open := make([]int, len(a.children))
	after := make([][]int32, len(a.children))
	var ready []int32
	for i, deps := range a.deps {
		open[i] = len(deps)
		if len(deps) == 0 {
			ready = append(ready, int32(i))
		}
		for _, d := range deps {
			after[d] = append(after[d], int32(i))
		}
	}
	done := 0
	for ; len(ready) > 0; done++ {
		n := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		for _, s := range after[n] {
			if open[s]--; open[s] == 0 {
				ready = append(ready, s)
			}
		}
	}
	if done == len(a.children) {
		return
	}
	// Follow open dependencies until one comes round again.
	n := int32(slices.IndexFunc(open, func(k int) bool { return k > 0 }))
	seen := map[int32]int{}
	var walk []int32
	for {
		if start, ok := seen[n]; ok {
			walk = walk[start:]
			break
		}
		seen[n] = len(walk)
		walk = append(walk, n)
		n = a.deps[n][slices.IndexFunc(a.deps[n], func(d int32) bool { return open[d] > 0 })]
	}
	var circle []string
	for _, w := range append(walk, walk[0]) {
		circle = append(circle, strconv.Quote(a.children[w].node.Name()))
	}
	c.problemf(p.name, a.children[walk[0]].node.Name(), "", ErrCycle, "graph %q runs in a circle: %s", p.name,
		strings.Join(circle, " needs "))
}

// ancestorProvides reports whether something a child of a graph depends on
// provides the symbol.
func (a *analysis) ancestorProvides(child int32, symbol string) bool {
	seen := map[int32]bool{child: true}
	for work := slices.Clone(a.deps[child]); len(work) > 0; {
		n := work[0]
		work = work[1:]
		if seen[n] {
			continue
		}
		seen[n] = true
		if slices.Contains(a.children[n].provides, symbol) {
			return true
		}
		work = append(work, a.deps[n]...)
	}
	return false
}

// requiredBy returns the symbols an atom cannot do without.
func requiredBy(a *atom.Atom) []string {
	var out []string
	for _, args := range [][]atom.Arg{a.Args(), a.RevertArgs()} {
		for _, arg := range args {
			if arg.Optional || arg.Symbol == "" || slices.Contains(out, arg.Symbol) {
				continue
			}
			if _, ok := a.Injected(arg.Symbol); !ok {
				out = append(out, arg.Symbol)
			}
		}
	}
	return out
}

func providedBy(a *atom.Atom) []string {
	provides := a.Provides()
	if len(provides) == 0 {
		return nil
	}
	out := make([]string, len(provides))
	for i, p := range provides {
		out[i] = p.Symbol
	}
	return out
}

// set is a set of strings that remembers the order of adding.
type set struct {
	list []string
	in   map[string]bool
}

func newSet(items []string) *set {
	s := &set{in: map[string]bool{}}
	for _, it := range items {
		s.add(it)
	}
	return s
}

func (s *set) has(item string) bool { return s.in[item] }

func (s *set) add(item string) {
	if !s.in[item] {
		s.in[item] = true
		s.list = append(s.list, item)
	}
}

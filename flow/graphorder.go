package flow

import (
	"slices"
	"strconv"
	"strings"
)

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

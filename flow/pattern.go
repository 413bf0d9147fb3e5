package flow

import (
	"fmt"
	"slices"
	"time"

	"github.com/ebbflow/ebb/atom"
)

// A Node is what a flow is made of: an *atom.Atom, or another flow.
type Node interface {
	// Name returns the name of the atom or flow.
	Name() string
}

// A Flow is a node made of nodes: [LinearFlow], [UnorderedFlow], [GraphFlow], or
// a [GrowingFlow].
type Flow interface {
	Node
	isFlow()
}

// arrangement is how a pattern orders its children.
type arrangement uint8

const (
	linear arrangement = iota
	unordered
	graph
)

func (a arrangement) String() string {
	return [...]string{linear: "linear", unordered: "unordered", graph: "graph"}[a]
}

// patterned is a flow of one of the three patterns.
type patterned interface {
	Flow
	inner() *pattern
}

// pattern is what the three patterns have in common.
type pattern struct {
	name     string
	arranged arrangement
	children []Node
	retry    *atom.Atom
	links    []link
	target   Node
	limit    *time.Duration // how long the run may take; nil: for ever
	policy   FailurePolicy
}

// Name returns the flow's name.
func (p *pattern) Name() string { return p.name }

// String returns the name of the flow.
func (p *pattern) String() string { return p.name }

func (p *pattern) isFlow()         {}
func (p *pattern) inner() *pattern { return p }

func (p *pattern) setRetry(r *atom.Atom) {
	if r.Kind() != atom.KindRetry {
		panic(fmt.Sprintf("flow: %q: %q is a task, not a retry", p.name, r.Name()))
	}
	if r.Name() == "" {
		r = r.Renamed(p.name + "_retry")
	}
	p.retry = r
}

// add adds nodes. In a graph, a node that is added twice is one node, because the order of adding does not matter.
// Elsewhere it is a mistake, which Compile reports.
func (p *pattern) add(nodes []Node) {
	for _, n := range nodes {
		if p.arranged != graph || !slices.Contains(p.children, n) {
			p.children = append(p.children, n)
		}
	}
}

// A LinearFlow runs its children one after the other.
type LinearFlow struct{ pattern }

// Linear returns a flow that runs the nodes in order, and undoes them in
// reverse order.
//
// A flow of any pattern may be empty. A run of an empty flow ends in SUCCESS at once. Inside another flow, the run
// passes through it. [Compile] does not warn of an empty flow: programs that build flows from data then need no special
// case for data without items.
func Linear(name string, nodes ...Node) *LinearFlow {
	f := &LinearFlow{pattern{name: name, arranged: linear}}
	f.add(nodes)
	return f
}

// Add appends nodes.
func (f *LinearFlow) Add(nodes ...Node) *LinearFlow { f.add(nodes); return f }

// WithRetry lets r decide what a failure inside the flow means. It panics when
// r is not a retry.
func (f *LinearFlow) WithRetry(r *atom.Atom) *LinearFlow { f.setRetry(r); return f }

// WithDeadline limits the time of a run of the flow, counted from its first start. The time also passes while the run
// is suspended, or while no process drives it. When it has passed, the engine cancels the atoms that execute and
// undoes what was done, without a time limit. The run fails with [atom.CodeTimeout]. The deadline is kept with the
// run.
//
// Only a flow that is run as a whole has a deadline: [Compile] refuses one within another flow, and one that is not
// positive. Languages of growing flows have deadlines of their own.
func (f *LinearFlow) WithDeadline(d time.Duration) *LinearFlow { f.limit = &d; return f }

// WithFailurePolicy sets how the flow handles a failure; the default is [UndoRun]. Only a flow that is
// run as a whole has a policy: [Compile] refuses one within another flow.
func (f *LinearFlow) WithFailurePolicy(p FailurePolicy) *LinearFlow { f.policy = p; return f }

// An UnorderedFlow runs its children side by side. They cannot see each other's
// results.
type UnorderedFlow struct{ pattern }

// Unordered returns a flow that runs the nodes in any order.
func Unordered(name string, nodes ...Node) *UnorderedFlow {
	f := &UnorderedFlow{pattern{name: name, arranged: unordered}}
	f.add(nodes)
	return f
}

// Add adds nodes.
func (f *UnorderedFlow) Add(nodes ...Node) *UnorderedFlow { f.add(nodes); return f }

// WithRetry lets r decide what a failure inside the flow means. It panics when
// r is not a retry.
func (f *UnorderedFlow) WithRetry(r *atom.Atom) *UnorderedFlow { f.setRetry(r); return f }

// WithDeadline limits how long a run of the flow may take: see [LinearFlow.WithDeadline].
func (f *UnorderedFlow) WithDeadline(d time.Duration) *UnorderedFlow { f.limit = &d; return f }

// WithFailurePolicy says what a failure leads to: see [LinearFlow.WithFailurePolicy].
func (f *UnorderedFlow) WithFailurePolicy(p FailurePolicy) *UnorderedFlow { f.policy = p; return f }

// A GraphFlow runs a child after the children on which it depends: those that provide its required symbols, and those
// that are linked to it.
type GraphFlow struct{ pattern }

// Graph returns a flow whose order follows from what its nodes require and
// provide, and from its links.
func Graph(name string, nodes ...Node) *GraphFlow {
	f := &GraphFlow{pattern{name: name, arranged: graph}}
	f.add(nodes)
	return f
}

// Add adds nodes.
func (f *GraphFlow) Add(nodes ...Node) *GraphFlow { f.add(nodes); return f }

// WithRetry lets r decide what a failure inside the flow means. It panics when
// r is not a retry.
func (f *GraphFlow) WithRetry(r *atom.Atom) *GraphFlow { f.setRetry(r); return f }

// WithDeadline limits how long a run of the flow may take: see [LinearFlow.WithDeadline].
func (f *GraphFlow) WithDeadline(d time.Duration) *GraphFlow { f.limit = &d; return f }

// WithFailurePolicy says what a failure leads to: see [LinearFlow.WithFailurePolicy].
func (f *GraphFlow) WithFailurePolicy(p FailurePolicy) *GraphFlow { f.policy = p; return f }

// Link makes the node to run after the node from. With a decider ([When], [Decide]), to runs only if the decider
// returns true. A second link between the same nodes adds its decider to the first link.
func (f *GraphFlow) Link(from, to Node, opts ...LinkOption) *GraphFlow {
	l := link{from: from, to: to}
	for _, opt := range opts {
		opt(&l)
	}
	f.links = append(f.links, l)
	return f
}

// Target limits the flow to the node and what it depends on. The other nodes do
// not exist when it runs. nil lifts the limit.
func (f *GraphFlow) Target(n Node) *GraphFlow { f.target = n; return f }

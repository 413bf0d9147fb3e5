package flow

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
)

// Compile turns a flow, or a single atom, into a plan. inputs are the symbols
// that the run's input provides, with their Go types where known; they beat
// every atom. Compile returns [Problems] with every mistake of the definition.
//
// It costs a few microseconds for each atom.
func Compile(root Node, inputs map[string]reflect.Type) (*Plan, error) {
	plan, problems := compileIn(root, inputs, nil, false)
	if len(problems) > 0 {
		return nil, problems
	}
	return plan, nil
}

// compileIn compiles a flow whose runs belong to runs of the flows around it, from the outermost on. If lenient is
// true, an input that nothing requires is no mistake.
func compileIn(root Node, inputs map[string]reflect.Type, around []Node, lenient bool) (*Plan, Problems) {
	c := &compiler{
		plan:   &Plan{byName: map[string]int32{}, providers: map[string][]provider{}},
		names:  map[string]bool{},
		nodes:  map[any]bool{},
		used:   map[usedValue]bool{},
		inputs: inputs,
		root:   root,
		around: around,
	}
	if isNil(root) {
		return nil, Problems{{Kind: ErrInvalid, Text: "there is no flow to compile"}}
	}
	c.plan.Root, c.plan.Flow = root, root.Name()
	c.lenient = lenient
	a := c.analyze(root, root.Name())
	if len(c.problems) > 0 {
		return nil, c.problems
	}
	if _, ok := a.node.(patterned); !ok {
		wrap := Linear(root.Name(), root) // an atom alone is a flow of one
		a = &analysis{node: wrap, children: []*analysis{a}}
	}
	c.emit(a, -1, 0)
	c.checkGrowing()
	c.seal()
	c.wire()
	if len(c.problems) > 0 {
		return nil, c.problems
	}
	c.warnOfStays()
	c.plan.secrets()
	c.plan.Hash = c.hash()
	return c.plan, nil
}

// CompileOpen is Compile for flows whose inputs are not all declared. A symbol that an
// atom requires and no atom provides is an input, of any type. Inputs that nothing requires are no mistake.
func CompileOpen(root Node, inputs map[string]reflect.Type) (*Plan, error) {
	plan, problems := compileOpen(root, inputs, nil, true)
	if len(problems) > 0 {
		return nil, problems
	}
	return plan, nil
}

func compileOpen(root Node, inputs map[string]reflect.Type, around []Node, lenient bool) (*Plan, Problems) {
	plan, problems := compileIn(root, inputs, around, lenient)
	if len(problems) == 0 {
		return plan, nil
	}
	open := maps.Clone(inputs)
	if open == nil {
		open = map[string]reflect.Type{}
	}
	for _, p := range problems {
		if !errors.Is(p.Kind, ErrMissing) || p.Symbol == "" {
			return nil, problems
		}
		open[p.Symbol] = nil
	}
	plan, others := compileIn(root, open, around, lenient)
	if len(others) > 0 {
		return nil, others
	}
	for _, p := range problems {
		if len(plan.providers[p.Symbol]) > 0 { // an atom provides it, but too late
			return nil, problems
		}
	}
	return plan, nil
}

// checkGrowing refuses a growing flow beside other atoms: what grows has a
// history and an undo stack of its own, which are the run's.
func (c *compiler) checkGrowing() {
	if c.growing != nil && len(c.plan.Atoms) > 1 {
		c.problemf(c.plan.Flow, c.growing.Name(), "", ErrInvalid,
			"growing flow %q stands beside other atoms; a growing flow is the whole of a run, so run it on its own",
			c.growing.Name())
	}
	if c.growing != nil && (c.plan.Deadline > 0 || c.plan.FailurePolicy != UndoRun) {
		c.problemf(c.plan.Flow, c.growing.Name(), "", ErrInvalid,
			"growing flow %q has a deadline or a failure policy; its language says how long it may take and what a failure "+
				"means", c.growing.Name())
	}
}

type compiler struct {
	plan     *Plan
	root     Node
	around   []Node // roots of the flows whose runs begin runs of this one, the outermost first
	lenient  bool   // some inputs may be required by nothing
	names    map[string]bool
	nodes    map[any]bool
	growing  *GrowingFlow // the last that was met
	inputs   map[string]reflect.Type
	used     map[usedValue]bool // values that atoms require
	problems Problems
	from, to []int32 // the edges, in the order they were made
	decided  []decidedEdge
}

type decidedEdge struct {
	link     *link
	from, to int32
}

func (c *compiler) problemf(flow, atom, symbol string, kind error, format string, args ...any) {
	c.problems = append(c.problems, &Problem{flow, atom, symbol, kind, fmt.Sprintf(format, args...)})
}

func (c *compiler) edge(from, to int32) { c.from, c.to = append(c.from, from), append(c.to, to) }

func (c *compiler) node(kind NodeKind, atom, flow int32) int32 {
	c.plan.Nodes = append(c.plan.Nodes, PlanNode{kind, atom, flow})
	return int32(len(c.plan.Nodes) - 1)
}

func (c *compiler) atom(a *atom.Atom, lang grow.Language, flow, retry int32) int32 {
	p := c.plan
	i := int32(len(p.Atoms))
	n := c.node(AtomNode, i, flow)
	p.Atoms = append(p.Atoms, PlanAtom{Atom: a, Language: lang, Node: n, Retry: retry})
	p.byName[a.Name()] = i
	for part, pr := range a.Provides() {
		p.providers[pr.Symbol] = append(p.providers[pr.Symbol], provider{i, int32(part)})
	}
	return n
}

// emit places a node and returns its first and last.
func (c *compiler) emit(a *analysis, in int32, branch int32) (first, last int32) {
	p := c.plan
	retry := int32(-1)
	for f := in; f >= 0 && retry < 0; f = p.flows[f].parent {
		retry = p.flows[f].retry
	}
	switch n := a.node.(type) {
	case *atom.Atom:
		at := c.atom(n, nil, in, retry)
		return at, at
	case *GrowingFlow:
		at := c.atom(n.self, n.lang, in, retry)
		return at, at
	case nesting:
		at := c.atom(a.self, nil, in, retry)
		p.Atoms[p.Nodes[at].Atom].Run = a.run
		return at, at
	case patterned:
		return c.emitPattern(a, n.inner(), in, branch, retry)
	}
	panic("flow: " + a.node.Name() + " was analyzed and is no node")
}

func (c *compiler) emitPattern(a *analysis, pat *pattern, in, branch, retry int32) (first, last int32) {
	p := c.plan
	f := int32(len(p.flows))
	p.flows = append(p.flows, planFlow{
		name: pat.name, parent: in, arranged: pat.arranged, retry: -1, branch: branch,
		after: a.deps,
	})
	first = c.node(Entrance, -1, f)
	base := first
	if pat.retry != nil {
		base = c.atom(pat.retry, nil, f, retry)
		p.flows[f].retry = p.Nodes[base].Atom
		c.edge(first, base)
	}
	firsts, lasts := make([]int32, len(a.children)), make([]int32, len(a.children))
	for i, child := range a.children {
		firsts[i], lasts[i] = c.emit(child, f, int32(i))
	}
	last = c.node(Exit, -1, f)
	fl := &p.flows[f]
	fl.entrance, fl.exit, fl.firsts = first, last, firsts
	c.join(a, pat.arranged, base, last, firsts, lasts)
	return first, last
}

// join makes the edges between a flow's ends and its children.
func (c *compiler) join(a *analysis, how arrangement, base, end int32, firsts, lasts []int32) {
	if len(firsts) == 0 {
		c.edge(base, end)
		return
	}
	switch how {
	case linear:
		for i := range firsts {
			c.edge(base, firsts[i])
			base = lasts[i]
		}
		c.edge(base, end)
	case unordered:
		for i := range firsts {
			c.edge(base, firsts[i])
			c.edge(lasts[i], end)
		}
	case graph:
		leads := make([]bool, len(firsts))
		for i, deps := range a.deps {
			if len(deps) == 0 {
				c.edge(base, firsts[i])
			}
			for _, d := range deps {
				leads[d] = true
				c.edge(lasts[d], firsts[i])
				if l := a.decided[[2]int32{d, int32(i)}]; l != nil {
					c.decided = append(c.decided, decidedEdge{l, lasts[d], firsts[i]})
				}
			}
		}
		for i := range lasts {
			if !leads[i] {
				c.edge(lasts[i], end)
			}
		}
	}
}

// seal turns the list of edges into tables and gives the deciders to the atoms
// they speak about: an edge into a flow speaks about the flow's first atoms.
func (c *compiler) seal() {
	p := c.plan
	p.succ = table(len(p.Nodes), c.from, c.to)
	p.pred = table(len(p.Nodes), c.to, c.from)
	for _, d := range c.decided {
		source := p.Nodes[d.from].Atom
		dec := Decision{Decider: d.link.decider, Depth: d.link.depth, Source: source, From: d.from}
		for work := []int32{d.to}; len(work) > 0; work = work[1:] {
			switch n := p.Nodes[work[0]]; n.Kind {
			case AtomNode:
				p.Atoms[n.Atom].Deciders = append(p.Atoms[n.Atom].Deciders, dec)
			case Entrance:
				work = append(work, p.Succ(work[0])...)
			case Exit: // an empty flow has no atom to speak about
			}
		}
	}
}

// table groups the edges by their from end, keeping the order of each group.
func table(nodes int, from, to []int32) edges {
	e := edges{off: make([]int32, nodes+1), to: make([]int32, len(to))}
	for _, f := range from {
		e.off[f+1]++
	}
	for i := range nodes {
		e.off[i+1] += e.off[i]
	}
	next := slices.Clone(e.off[:nodes])
	for i, f := range from {
		e.to[next[f]] = to[i]
		next[f]++
	}
	return e
}

// hash returns the structural hash: what must not change under a run in flight.
func (c *compiler) hash() string {
	h := sha256.New()
	var buf []byte
	str := func(s string) { buf = append(binary.AppendUvarint(buf, uint64(len(s))), s...) }
	for _, n := range c.plan.Nodes {
		buf = append(buf[:0], byte(n.Kind))
		buf = binary.AppendVarint(buf, int64(n.Flow))
		if n.Atom >= 0 {
			a := c.plan.Atoms[n.Atom]
			str(a.Name())
			str(a.Version())
			buf = append(buf, byte(a.Kind()))
			for _, arg := range a.Args() {
				str(arg.Name)
				str(arg.Symbol)
			}
			for _, pr := range a.Provides() {
				str(pr.Symbol)
				str(pr.Key)
			}
			if a.Run != nil {
				str(a.Run.Plan.Flow) // a child run is found by the name of its flow
				str(a.Run.Plan.Hash)
			}
		}
		h.Write(buf)
	}
	buf = buf[:0]
	for i := range c.from {
		buf = binary.AppendVarint(binary.AppendVarint(buf, int64(c.from[i])), int64(c.to[i]))
	}
	h.Write(buf)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// grown is the body of a growing flow as others see it: the engine asks its
// language instead of executing it.
type grown struct{}

// Execute implements [atom.Body]. It is not called.
func (grown) Execute(context.Context, atom.Values) (atom.Value, error) { return atom.Null, nil }

// Revert implements [atom.Body]. It is not called.
func (grown) Revert(context.Context, atom.Values, atom.Outcome[atom.Value]) (atom.Value, error) {
	return nil, nil
}

// Reverts implements [atom.Body]. The language decides what is undone.
func (grown) Reverts() bool { return true }

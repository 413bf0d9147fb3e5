package flow

import (
	"reflect"
	"slices"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
)

// A Plan is a compiled flow: a graph of nodes. They stand in the order of the definition: a flow's entrance, its
// retry, its children, its exit. A Plan does not change, and all runs of the flow share it.
type Plan struct {
	Root     Node       // the flow that was compiled
	Flow     string     // name of the root
	Hash     string     // changes when names, order, links, or what atoms require and provide change
	Nodes    []PlanNode // the nodes of the graph
	Atoms    []PlanAtom // the atoms among the nodes, in the same order
	Warnings []string   // texts about what is legal and probably not meant
	Inputs   []Input    // symbols that the input of each run must have, as no atom provides them in time
	Children []*Plan    // of the runs that its atoms begin, and of those that these begin

	Deadline      time.Duration // how long a run may take; 0 is no limit. A growing flow sets its own
	FailurePolicy FailurePolicy // what a failure that no retry handles undoes

	Secrets       []string // symbols whose values no view of a run may show, sorted
	SecretResults []string // names of atoms whose results no view may show, in the order of the walk

	succ, pred edges
	flows      []planFlow
	byName     map[string]int32
	providers  map[string][]provider
}

// String returns "plan of flow" and the name of the flow.
func (p *Plan) String() string { return "plan of flow " + quoted(p.Flow) }

// An Input is a symbol that the input of a run must have.
type Input struct {
	Symbol string       // its name
	Type   reflect.Type // Go type of its value; nil if any value will do
	For    string       // name of the first atom that requires it, or that uses it if none requires it
	// Optional means that every atom that uses the symbol also runs without it, so a run need not be given it.
	Optional bool
}

// NodeKind is what a [PlanNode] stands for.
type NodeKind uint8

// The kinds of the nodes of a plan.
const (
	Entrance NodeKind = iota // the start of a flow
	Exit                     // the end of a flow
	AtomNode                 // a task, a retry, or a growing flow
)

// A PlanNode is a node of the graph of a [Plan]: an atom, or the entrance or exit of a flow. [Plan.Succ]
// returns the nodes after it.
type PlanNode struct {
	Kind NodeKind // atom, entrance or exit
	Atom int32    // index in [Plan.Atoms]; -1 for an entrance or exit
	Flow int32    // number of the flow that it belongs to; [Plan.FlowOf] returns its name
}

// A PlanAtom is an atom with its place in a [Plan].
type PlanAtom struct {
	*atom.Atom
	Language grow.Language // language of a growing flow; nil for other atoms
	Run      *PlanRun      // the run that the atom begins; nil for other atoms
	Node     int32         // index of its node in [Plan.Nodes]
	Retry    int32         // index in [Plan.Atoms] of the nearest retry around it; -1 if there is none
	Deciders []Decision    // the deciders of the links to it: it runs if they say so
}

// A Decision is a decider on a link that leads to an atom of a [Plan].
type Decision struct {
	Decider *Decider // decides whether the atom runs
	Depth   Depth    // what is ignored besides the atom, if it does not run
	Source  int32    // index in [Plan.Atoms] of the atom that the link comes from; -1 if it comes from a flow
	From    int32    // index in [Plan.Nodes] of the node that the link comes from
}

// A planFlow is a flow in its place.
type planFlow struct {
	name     string
	parent   int32 // -1 for the root
	arranged arrangement
	retry    int32 // index in Atoms; -1 when none
	entrance int32
	exit     int32
	branch   int32     // which child of the parent it is
	firsts   []int32   // first node of each child, ascending
	after    [][]int32 // graph: for each child, the children it directly depends on
}

// edges hold for each node the nodes it is joined to, one after the other.
type edges struct {
	off []int32
	to  []int32
}

func (e *edges) of(n int32) []int32 { return e.to[e.off[n]:e.off[n+1]] }

// Succ returns the indexes of the nodes directly after the node with index n. The caller must not change them.
func (p *Plan) Succ(n int32) []int32 { return p.succ.of(n) }

// Pred returns the indexes of the nodes directly before the node with index n. The caller must not change them.
func (p *Plan) Pred(n int32) []int32 { return p.pred.of(n) }

// Index returns the index in Atoms of the atom of that name, or -1.
func (p *Plan) Index(name string) int32 {
	if i, ok := p.byName[name]; ok {
		return i
	}
	return -1
}

// FlowOf returns the name of the flow that node n belongs to.
func (p *Plan) FlowOf(n int32) string { return p.flows[p.Nodes[n].Flow].name }

// provider is an atom that provides a symbol.
type provider struct {
	atom int32
	part int32 // index in the atom's Provides
}

// AllProviders calls yield with the index of every atom that provides the symbol, in their order, until yield returns
// false.
func (p *Plan) AllProviders(symbol string, yield func(provider int32, part atom.Provide) bool) {
	for _, pr := range p.providers[symbol] {
		if !yield(pr.atom, p.Atoms[pr.atom].Provides()[pr.part]) {
			return
		}
	}
}

// Grows reports whether the flow is a growing one, which is then the whole plan.
func (p *Plan) Grows() bool { return len(p.Atoms) == 1 && p.Atoms[0].Language != nil }

// Knows reports whether the symbol is an input of the flow, or an atom provides or takes it.
func (p *Plan) Knows(symbol string) bool {
	return len(p.providers[symbol]) > 0 || slices.Contains(p.required(), symbol) ||
		slices.ContainsFunc(p.Inputs, func(in Input) bool { return in.Symbol == symbol })
}

// Symbols calls yield with every symbol that an atom provides, in no order, until yield returns false.
func (p *Plan) Symbols(yield func(symbol string) bool) {
	for s := range p.providers {
		if !yield(s) {
			return
		}
	}
}

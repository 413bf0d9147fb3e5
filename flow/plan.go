package flow

import (
	"reflect"
	"time"

	"github.com/ebbflow/ebb/atom"
)

// A Plan is a compiled flow: a graph of nodes in the order of a walk through
// the definition (a flow's entrance, its retry, its children, its exit). Plans
// are immutable and shared between runs.
type Plan struct {
	Flow     string // name of the root
	Hash     string // changes when names, order, links, or what atoms require and provide change
	Nodes    []PlanNode
	Atoms    []PlanAtom // in the order of the walk
	Warnings []string   // what is legal and probably not meant
	Inputs   []Input    // symbols that no atom provides in time: the run's input must

	Deadline      time.Duration // how long a run may take from its begin; 0 is for ever. Growing flows have their own
	FailurePolicy FailurePolicy

	Secrets       []string // symbols whose values no view of a run may show, sorted
	SecretResults []string // names of atoms whose results no view may show, in the order of the walk

	succ, pred edges
	flows      []planFlow
	byName     map[string]int32
	providers  map[string][]provider
}

// An Input is a symbol the run's input must or may have.
type Input struct {
	Symbol string
	Type   reflect.Type // nil when any will do
	For    string       // the atom that needs it first
}

// NodeKind tells the nodes of a plan apart.
type NodeKind uint8

// The kinds of nodes.
const (
	Entrance NodeKind = iota // of a flow
	Exit                     // of a flow
	AtomNode                 // a task, a retry, or a growing flow
)

// A PlanNode is a node of the graph.
type PlanNode struct {
	Kind NodeKind
	Atom int32 // index in Atoms; -1 for entrances and exits
	Flow int32 // index of the flow it belongs to
}

// A PlanAtom is an atom in its place.
type PlanAtom struct {
	*atom.Atom
	Language Language   // of a growing flow; nil for other atoms
	Node     int32      // index in Nodes
	Retry    int32      // index in Atoms of the nearest retry around it; -1 when none
	Deciders []Decision // whether it is to run
}

// A Decision is a decider's place at an atom.
type Decision struct {
	Decider *Decider
	Depth   Depth
	Source  int32 // index in Atoms where the link comes from; -1 when that is a flow
	From    int32 // the node the link comes from
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

// Succ returns the nodes directly after n.
func (p *Plan) Succ(n int32) []int32 { return p.succ.of(n) }

// Pred returns the nodes directly before n.
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

// AllProviders calls yield with every atom that provides symbol, in the order of
// the walk.
func (p *Plan) AllProviders(symbol string, yield func(provider int32, part atom.Provide) bool) {
	for _, pr := range p.providers[symbol] {
		if !yield(pr.atom, p.Atoms[pr.atom].Provides()[pr.part]) {
			return
		}
	}
}

// Symbols calls yield with every symbol that some atom provides.
func (p *Plan) Symbols(yield func(symbol string) bool) {
	for s := range p.providers {
		if !yield(s) {
			return
		}
	}
}

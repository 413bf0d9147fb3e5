package flow

import (
	"fmt"
	"reflect"

	"github.com/ebbflow/ebb/atom"
)

// Depth says which nodes are left out if a decider returns false.
type Depth uint8

// The depths, widest first.
const (
	DepthAll       Depth = iota // the node and all that comes after it
	DepthFlow                   // the node and what comes after it in its own flow
	DepthNeighbors              // the node and what comes directly after it
	DepthAtom                   // only the node
)

// String returns TaskFlow's word for d.
func (d Depth) String() string {
	return [...]string{DepthAll: "ALL", DepthFlow: "FLOW", DepthNeighbors: "NEIGHBORS", DepthAtom: "ATOM"}[d]
}

// A Decider decides whether the node that a link leads to shall run. It must be a pure
// function. Ebb stores the decision and does not ask the Decider again.
type Decider struct {
	// Whose value is passed; "" when only results are looked at
	Symbol string
	Decide func(value atom.Value, results Results) (bool, error) // see [Decide]
	Label  string                                                // for pictures
	Type   reflect.Type                                          // of the value; nil if any will do
}

// Results are the results of the atoms that a decider's link, and the other
// links with deciders into the same node, come from, by name. Atoms that were
// left out are not among them.
type Results map[string]atom.Value

type link struct {
	from, to Node
	decider  *Decider
	depth    Depth
}

// A LinkOption configures a link.
type LinkOption func(*link)

// When makes the node to which the link leads run only if f returns true for the value of key. [Compile] reports a key
// that nothing before the node provides, or that has another type.
func When[T any](key atom.Key[T], f func(T) bool) LinkOption {
	return func(l *link) {
		if l.decider = (&Decider{Symbol: key.Name(), Type: key.Type()}); f == nil {
			return // Compile reports it
		}
		l.decider = &Decider{
			Symbol: key.Name(),
			Label:  "when " + key.Name(),
			Type:   key.Type(),
			Decide: func(value atom.Value, _ Results) (bool, error) {
				var v T
				if err := value.Decode(&v); err != nil {
					return false, fmt.Errorf("flow: decide by %q: %w", key.Name(), err)
				}
				return f(v), nil
			},
		}
	}
}

// Decide makes the node to which the link leads run only if f returns true for the results of the atoms from which
// links lead to it.
func Decide(f func(Results) bool) LinkOption {
	return func(l *link) {
		if l.decider = new(Decider); f == nil {
			return // Compile reports it
		}
		l.decider = &Decider{
			Label:  "if decided",
			Decide: func(_ atom.Value, results Results) (bool, error) { return f(results), nil },
		}
	}
}

// LeaveOut sets which nodes are left out if the decider returns false. The default is DepthAll.
func LeaveOut(d Depth) LinkOption { return func(l *link) { l.depth = d } }

package metrics

import (
	"sync"

	"github.com/ebbflow/ebb/internal/nodepath"
)

// Bounds of the flows and atoms that have names of their own in metrics. Clients name the flows of their machines, and
// each name makes a series that this process keeps until it ends.
const (
	//limit:memory flows; atoms with names of their own in metrics (`server/metrics: TestNamesAreBounded`) | {};
	//limit:and {maxAtoms} | `(other)`
	maxFlows = 500
	maxAtoms = 1000 // of all flows together
	//limit:memory codes of failures with names of their own in metrics (`server/metrics: TestNamesAreBounded`) | {} |
	//limit:and `(other)`
	maxCodes = 500 // of all flows together
)

// other is the name of all flows and atoms beyond the bounds.
const other = "(other)"

// namesSoFar is a set of the names that came first, up to a bound. Any number of goroutines may use it.
type namesSoFar struct {
	most int

	mu    sync.Mutex
	names map[string]bool
}

// has reports whether a name is in the set, and adds it below the bound.
func (n *namesSoFar) has(name string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.names[name] {
		return true
	}
	if len(n.names) >= n.most {
		return false
	}
	if n.names == nil {
		n.names = map[string]bool{}
	}
	n.names[name] = true
	return true
}

// flow returns the name of a flow in metrics.
func (m *Metrics) flow(name string) string {
	if !m.flows.has(name) {
		return other
	}
	return name
}

// atom returns the names of a flow and its atom in metrics. The name of the atom has no iterations and visits, because
// their number is not bounded.
func (m *Metrics) atom(flow, path string) (flowName, atomName string) {
	name := nodepath.Unnumbered(path)
	if flow = m.flow(flow); !m.steps.has(flow + "\x00" + name) {
		return flow, other
	}
	return flow, name
}

// code returns the names of a flow and of the code of its run's failure in metrics.
func (m *Metrics) code(flow, code string) (flowName, codeName string) {
	if flow = m.flow(flow); !m.codes.has(flow + "\x00" + code) {
		return flow, other
	}
	return flow, code
}

package scheduler

import "github.com/ebbflow/ebb/atom"

// Children returns the child flows of a fork that are open.
func (n *Node) Children() []*Scope { return n.children }

// CancelInPartsOf limits the number of nodes and child flows that one Step cancels.
func (s *Scheduler) CancelInPartsOf(n int) { s.cancelQueue.partSize = n }

// Results returns the results that a fork has so far.
func (n *Node) Results() []atom.Value { return n.results }

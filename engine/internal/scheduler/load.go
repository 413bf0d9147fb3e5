package scheduler

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/states"
)

// A Loaded is a record that was loaded from the store.
type Loaded struct {
	Path    string
	Rec     Record
	Spec    *grow.Spec // of grown tasks, timers and forks
	Child   bool       // the record is a fork's child, with Memory and Parent
	Parent  string     // path of the fork
	Index   int
	Attempt int // attempt of the fork that created the child
	Memory  atom.Value
}

// Saved contains everything that was stored of a run.
type Saved struct {
	Flow           states.Flow
	Memory         atom.Value // as the last Remember stored it
	Records        []Loaded
	Undos          int64          // height of the undo stack
	Unwound        bool           // some entries were removed from it before
	PendingOutcome PendingOutcome // as the last PendingFailure stored it
	PendingFailure *atom.Failure  // as the last PendingFailure stored it
}

// Load restores the state of a run.
func (s *Scheduler) Load(from *Saved) {
	s.flow, s.undoStack.height, s.undoStack.unwound = from.Flow, from.Undos, from.Unwound
	s.stopReason.pending, s.stopReason.pendingFailure = from.PendingOutcome, from.PendingFailure
	memory, records := from.Memory, from.Records
	if s.root != nil {
		s.root.Memory = memory
	} else {
		s.failing.revAll = string(memory) == string(revAllMemory)
	}
	var grown []Loaded
	for _, l := range records {
		if a := s.plan.Index(l.Path); a >= 0 && l.Spec == nil && !l.Child {
			s.units[a].Rec = l.Rec
			if l.Rec.Failure != nil && l.Rec.State != states.TaskRetrying && !l.Rec.NeverCalled() {
				s.failing.failed = append(s.failing.failed, a)
			}
			continue
		}
		if l.Spec != nil || l.Child { // otherwise the flow no longer has the atom
			grown = append(grown, l)
		}
	}
	slices.Sort(s.failing.failed)
	if s.root != nil && s.root.Rec.State == states.TaskRunning {
		s.root.begun, s.root.ending = memory != nil, loadedEnd(&s.root.Rec, nil)
		s.root.left = leftIn(&s.root.Rec)
		s.root.loadUndoing(&s.root.Rec)
		if s.root.Rec.Awaits() {
			s.root.listens = true
			s.inFlight.waits++
		}
	}
	if s.root != nil && s.flow == states.FlowSuspended && s.root.Rec.State == states.TaskRevertFailure {
		s.undoStack.end = atom.Park
	}
	s.loadGrown(grown, false)
	s.loadKept()
	s.count()
}

// loadGrown rebuilds the open nodes of a growing flow. It loads shorter paths first, so a parent exists before its
// children. If the run is reopened, children of forks that did not succeed are open too.
func (s *Scheduler) loadGrown(records []Loaded, reopens bool) {
	if s.root == nil {
		return
	}
	slices.SortFunc(records, func(a, b Loaded) int {
		return cmp.Or(cmp.Compare(len(a.Path), len(b.Path)), strings.Compare(a.Path, b.Path))
	})
	scopes := map[string]*Scope{"": s.root}
	forks := map[string]*Node{}
	for _, l := range records {
		if l.Child {
			fork := forks[l.Parent]
			// The child belongs to a fork, or an attempt, that is over.
			if fork == nil || int32(l.Attempt) != fork.Rec.Attempt {
				continue
			}
			c := childOf(fork, l.Index, l.Path)
			c.Memory, c.Rec = l.Memory, l.Rec
			c.begun = l.Rec.State != states.TaskPending
			c.left = leftIn(&c.Rec)
			c.loadUndoing(&c.Rec)
			if l.Rec.State == states.TaskRunning {
				c.ending = loadedEnd(&c.Rec, c.Memory)
			}
			scopes[l.Path] = c
			fork.begun = max(fork.begun, l.Index+1)
			fork.upTo = fork.begun
			if reopens && c.Rec.State != states.TaskSuccess {
				fork.children = append(fork.children, c)
			} else {
				fork.take(c)
			}
			if !c.closed {
				s.growth.alive++
				c.weigh(s)
			}
			continue
		}
		scope := scopes[strings.TrimSuffix(strings.TrimSuffix(l.Path, l.Spec.Name), "/")]
		if scope == nil {
			continue
		}
		s.growth.serial++
		n := nodeOf(scope, l.Path, l.Spec, &l.Rec)
		n.Kept, n.serial = true, s.growth.serial
		if scope.open == nil {
			scope.open = map[string]*Node{}
		}
		scope.open[l.Spec.Name] = n
		s.growth.alive++
		n.weigh(s)
		if l.Spec.Kind == grow.Fork {
			n.results = make([]atom.Value, l.Spec.Group.Count)
			forks[l.Path] = n
		}
	}
	for _, n := range forks {
		n.weigh(s)
	}
}

// take adds a loaded child to its fork.
func (n *Node) take(c *Scope) {
	switch c.Rec.State {
	case states.TaskSuccess, states.TaskFailure:
		c.closed = true
		n.tell(c)
		n.decided = n.failedAt >= 0 || n.won()
	case states.TaskCancelled:
		c.closed = true
		n.abort(c)
	default:
		n.children = append(n.children, c)
	}
}

// Unwind returns the unit of an entry of the undo stack.
func (s *Scheduler) Unwind(l Loaded) *Unit {
	return &nodeOf(s.root, l.Path, l.Spec, &l.Rec).Unit
}

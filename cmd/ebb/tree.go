package main

import (
	"slices"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A tree is a run as it is shown: its steps under the flows they belong to. It
// is made from what is observed of a live run, or from the history of a stored
// one, and knows no clock.
type tree struct {
	flow, run string
	state     states.Flow
	failure   *atom.Failure
	began     time.Time
	ended     time.Time
	top       step
	steps     map[string]*step
	undone    []*step // what was, or is being, undone, in that order
}

// A step is one node of a run.
type step struct {
	path     string
	name     string
	state    states.Task
	attempt  int
	progress float64       // from 0 to 1, while it is being called
	details  atom.Value    // what it says of that
	failure  *atom.Failure // of its last failed attempt
	undoTry  int           // which attempt to undo it
	undoFail *atom.Failure // of the last failed one
	skipped  bool          // it could not be undone, and counts as if it were
	began    time.Time     // first attempt
	ended    time.Time
	undoing  time.Time // when its revert began
	undone   time.Time
	due      time.Time // when what it waits for comes
	timer    bool
	inner    bool // only holds others
	children []*step
}

// A change is something that happened to a run or one of its steps.
type change struct {
	path     string // "" is the run itself
	from, to string // the states' texts; both "" when it only says how far it is
	attempt  int    // from REVERTING to REVERTING: of undoing
	failure  *atom.Failure
	due      time.Time
	timer    bool
	inner    bool
	progress float64
	details  atom.Value
	at       time.Time
}

func newTree(name, run string) *tree {
	return &tree{flow: name, run: run, steps: map[string]*step{}}
}

// observed returns the change that an event tells of, and whether there is one
// to be shown.
func observed(ev engine.Event) (change, bool) {
	c := change{
		path: ev.Path, from: ev.From, to: ev.To, attempt: ev.Attempt, failure: ev.Failure,
		timer: ev.Timer, inner: ev.Inner, progress: ev.Progress, details: ev.Details, at: ev.Time,
	}
	if c.to == states.TaskRetrying.String() || c.to == states.TaskRunning.String() || ev.Kind == engine.RevertDelayed {
		c.due = ev.Due
	}
	return c, ev.Kind == engine.FlowChanged || ev.Kind != engine.LanguageEvent && ev.Path != flow.GrowingPath
}

// recorded returns the tree of a stored run.
func recorded(run *storage.Run, atoms []storage.Atom, history []storage.Entry) *tree {
	t := newTree(run.Flow, run.ID)
	byPath := make(map[string]*storage.Atom, len(atoms))
	for i := range atoms {
		byPath[atoms[i].Path] = &atoms[i]
	}
	for i := range history {
		e := &history[i]
		c := change{path: e.Path, attempt: e.Attempt, failure: e.Failure, at: e.Time}
		switch e.Kind {
		case storage.EntryFlow:
			c.path, c.to = "", states.Flow(e.To).String()
		case storage.EntryAtom:
			if c.path == flow.GrowingPath {
				continue
			}
			c.from, c.to = states.Task(e.From).String(), states.Task(e.To).String()
			if a := byPath[e.Path]; a != nil {
				c.due, c.timer, c.inner = a.Due, a.Kind == storage.KindTimer, a.Kind == storage.KindFork || a.Kind == storage.KindFlow
			}
		default:
			continue
		}
		t.apply(&c)
	}
	for path, s := range t.steps {
		a := byPath[path]
		if a == nil || s.state != states.TaskRunning && s.state != states.TaskReverting {
			continue
		}
		s.progress, s.details = a.Progress, run.Secrets.Mask(path, a.Details)
		if s.state == states.TaskReverting {
			s.undoTry, s.undoFail = a.RevertAttempt+1, a.RevertFailure
		}
	}
	if !run.Started.IsZero() {
		t.began = run.Started
	}
	t.state, t.failure, t.ended = run.State, run.Failure, run.Ended
	return t
}

// apply takes a change into the tree.
func (t *tree) apply(c *change) {
	if c.path == "" {
		t.applyFlow(c)
		return
	}
	s := t.step(c.path)
	if c.to == "" {
		s.progress = c.progress
		if c.details != nil {
			s.details = c.details
		}
		return
	}
	s.timer, s.inner, s.due = s.timer || c.timer, s.inner || c.inner, c.due
	if s.state.UnmarshalText([]byte(c.to)) != nil {
		return // of a newer Ebb: it cannot be shown
	}
	switch s.state {
	case states.TaskReverting, states.TaskReverted, states.TaskRevertFailure:
		t.applyUndo(s, c)
	default:
		s.apply(c)
	}
}

// apply takes a change into a step that is not being undone.
func (s *step) apply(c *change) {
	s.attempt = max(s.attempt, c.attempt)
	if c.failure != nil {
		s.failure = c.failure
	}
	switch s.state {
	case states.TaskRunning:
		if s.began.IsZero() {
			s.began = c.at
		}
		s.ended, s.progress, s.details = time.Time{}, 0, nil
	case states.TaskSuccess:
		s.ended, s.failure = c.at, nil
	case states.TaskFailure, states.TaskCancelled:
		s.ended = c.at
	default:
	}
}

// applyUndo takes a change into a step that is being undone.
func (t *tree) applyUndo(s *step, c *change) {
	if c.failure != nil {
		s.undoFail = c.failure
	}
	switch s.state {
	case states.TaskReverting:
		if c.from == c.to { // an attempt failed
			s.undoTry = c.attempt + 1
			return
		}
		if s.undoing.IsZero() && !s.inner {
			t.undone = append(t.undone, s)
		}
		s.undoing, s.undoTry, s.progress, s.details = c.at, 1, 0, nil
	case states.TaskReverted:
		s.undone, s.skipped = c.at, c.from == states.TaskRevertFailure.String()
	default:
		s.undone = c.at
	}
}

func (t *tree) applyFlow(c *change) {
	if t.state.UnmarshalText([]byte(c.to)) != nil {
		return
	}
	if t.began.IsZero() {
		t.began = c.at
	}
	t.ended = time.Time{}
	if t.state.Ended() || t.state == states.FlowSuspended {
		t.ended = c.at
	}
	if c.failure != nil {
		t.failure = c.failure
	}
}

// stuckAt returns the path of what could not be undone last; "" when all that was
// tried could.
func (t *tree) stuckAt() string {
	for _, s := range slices.Backward(t.undone) {
		if s.state == states.TaskRevertFailure {
			return s.path
		}
	}
	return ""
}

// step returns the step at a path, made with all that is above it when it is
// not there.
func (t *tree) step(path string) *step {
	if path == "" {
		return &t.top
	}
	if s := t.steps[path]; s != nil {
		return s
	}
	above, name := definition.CutPath(path)
	s := &step{path: path, name: name}
	t.steps[path] = s
	parent := t.step(above)
	parent.inner = parent.inner || parent.state == states.TaskPending // until something becomes of it, it only holds others
	parent.children = append(parent.children, s)
	return s
}

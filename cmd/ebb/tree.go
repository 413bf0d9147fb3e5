package main

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/ebbflow/ebb/atom"
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
	steps     map[string]*step // that are kept, see fold.go
	undone    []*step          // what was, or is being, undone, in that order
	forgotten int              // so many more, in the middle of undone
	partial   bool             // steps were folded
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
	numbered bool // it may be one of a group
	children []*step
	folded   map[states.Task]int // how many of the children are not kept, by their states
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

func newStep(path, name string) *step {
	s := &step{path: path, name: name}
	_, s.numbered = numberOf(name)
	return s
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

// recorded returns the tree of a stored run. It reads the history page by page, and then the
// atoms of the steps that were kept.
func recorded(ctx context.Context, store storage.Reader, run *storage.Run) (*tree, error) {
	t := newTree(run.Flow, run.ID)
	for e, err := range storage.EachEntry(ctx, store, run.ID, 0) {
		if err != nil {
			return nil, unreachable(err)
		}
		c := change{path: e.Path, attempt: e.Attempt, failure: e.Failure, at: e.Time}
		switch {
		case e.Kind == storage.EntryFlow:
			c.path, c.to = "", states.Flow(e.To).String()
		case e.Kind == storage.EntryAtom && e.Path != flow.GrowingPath:
			c.from, c.to = states.Task(e.From).String(), states.Task(e.To).String()
		default:
			continue
		}
		t.apply(&c)
	}
	if err := t.fill(ctx, store, run); err != nil {
		return nil, err
	}
	if !run.Started.IsZero() {
		t.began = run.Started
	}
	t.state, t.failure, t.ended = run.State, run.Failure, run.Ended
	return t, nil
}

// atomsAtOnce is how many atoms of steps are read at a time: each may hold large values.
const atomsAtOnce = 20

// fill takes from the atoms what the history does not say about steps.
func (t *tree) fill(ctx context.Context, store storage.Reader, run *storage.Run) error {
	kept := map[string][]*step{}
	for path, s := range t.steps {
		kept[path] = []*step{s}
	}
	for _, s := range t.undone {
		if s != t.steps[s.path] {
			kept[s.path] = append(kept[s.path], s)
		}
	}
	for paths := range slices.Chunk(slices.Sorted(maps.Keys(kept)), atomsAtOnce) {
		atoms, err := store.AtomsAt(ctx, run.ID, paths...)
		if err != nil {
			return unreachable(err)
		}
		for i := range atoms {
			for _, s := range kept[atoms[i].Path] {
				s.fill(&atoms[i], &run.Secrets)
			}
		}
	}
	t.undone = slices.DeleteFunc(t.undone, func(s *step) bool { return s.inner })
	return nil
}

// fill takes from the atom of a step what the history does not say.
func (s *step) fill(a *storage.Atom, secrets *storage.Secrets) {
	s.due, s.timer = a.Due, a.Kind == storage.KindTimer
	s.inner = s.inner || a.Kind == storage.KindFork || a.Kind == storage.KindFlow
	if s.state != states.TaskRunning && s.state != states.TaskReverting {
		return
	}
	s.progress, s.details = a.Progress, secrets.Mask(a.Path, a.Details)
	if s.state == states.TaskReverting {
		s.undoTry, s.undoFail = a.RevertAttempt+1, a.RevertFailure
	}
}

// apply takes a change into the tree.
func (t *tree) apply(c *change) {
	if c.path == "" {
		t.applyFlow(c)
		return
	}
	s, known := t.steps[c.path]
	if !known {
		t.meet(c)
		return
	}
	if c.to == "" {
		s.progress = c.progress
		if c.details != nil {
			s.details = c.details
		}
		return
	}
	t.change(s, c)
}

// change takes a change of state into a step.
func (t *tree) change(s *step, c *change) {
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
			t.undo(s)
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

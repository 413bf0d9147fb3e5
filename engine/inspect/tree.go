package inspect

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

// A Tree is a run as it is shown: its steps under the flows they belong to. It
// is made from what is observed of a live run, or from the history of a stored
// one, and knows no clock.
type Tree struct {
	Flow, Run string
	State     states.Flow
	Began     time.Time
	Ended     time.Time
	Top       Step
	steps     map[string]*Step // that are kept, see fold.go
	Undone    []*Step          // what was, or is being, undone, in that order
	Forgotten int              // so many more, in the middle of undone
	Partial   bool             // steps were folded
}

// A Step is one node of a run.
type Step struct {
	Path     string
	Name     string
	State    states.Task
	Attempt  int
	Progress float64       // from 0 to 1, while it is being called
	Details  atom.Value    // what it says of that
	Failure  *atom.Failure // of its last failed attempt
	UndoTry  int           // which attempt to undo it
	UndoFail *atom.Failure // of the last failed one
	Skipped  bool          // it could not be undone, and counts as if it were
	Began    time.Time     // first attempt
	Ended    time.Time
	Undoing  time.Time // when its revert began
	Undone   time.Time
	Due      time.Time // when what it waits for comes
	Timer    bool
	Inner    bool // only holds others
	numbered bool // it may be one of a group
	children []*Step
	folded   map[states.Task]int // how many of the children are not kept, by their states
}

// A Change is something that happened to a run or one of its steps.
type Change struct {
	Path     string // "" is the run itself
	From, To string // the states' texts; both "" when it only says how far it is
	Attempt  int    // from REVERTING to REVERTING: of undoing
	Failure  *atom.Failure
	Due      time.Time
	Timer    bool
	Inner    bool
	Progress float64
	Details  atom.Value
	At       time.Time
}

// NewTree returns the tree of a run of which nothing has happened.
func NewTree(name, run string) *Tree {
	return &Tree{Flow: name, Run: run, steps: map[string]*Step{}}
}

func newStep(path, name string) *Step {
	s := &Step{Path: path, Name: name}
	_, s.numbered = numberOf(name)
	return s
}

// Observed returns the change that an event tells of, and whether there is one
// to be shown.
func Observed(ev engine.Event) (Change, bool) {
	c := Change{
		Path: ev.Path, From: ev.From, To: ev.To, Attempt: ev.Attempt, Failure: ev.Failure,
		Timer: ev.Timer, Inner: ev.Inner, Progress: ev.Progress, Details: ev.Details, At: ev.Time,
	}
	if c.To == states.TaskRetrying.String() || c.To == states.TaskRunning.String() || ev.Kind == engine.RevertDelayed {
		c.Due = ev.Due
	}
	return c, ev.Kind == engine.FlowChanged || ev.Kind != engine.LanguageEvent && ev.Path != flow.GrowingPath
}

// Recorded returns the tree of a stored run. It reads the history page by page, and then the
// atoms of the steps that were kept.
func Recorded(ctx context.Context, store storage.Reader, run *storage.Run) (*Tree, error) {
	t := NewTree(run.Flow, run.ID)
	for e, err := range storage.EachEntry(ctx, store, run.ID, 0) {
		if err != nil {
			return nil, err
		}
		c := Change{Path: e.Path, Attempt: e.Attempt, Failure: e.Failure, At: e.Time}
		switch {
		case e.Kind == storage.EntryFlow:
			c.Path, c.To = "", states.Flow(e.To).String()
		case e.Kind == storage.EntryAtom && e.Path != flow.GrowingPath:
			c.From, c.To = states.Task(e.From).String(), states.Task(e.To).String()
		default:
			continue
		}
		t.Apply(&c)
	}
	if err := t.fill(ctx, store, run); err != nil {
		return nil, err
	}
	if !run.Started.IsZero() {
		t.Began = run.Started
	}
	t.State, t.Ended = run.State, run.Ended
	return t, nil
}

// atomsAtOnce is how many atoms of steps are read at a time: each may hold large values.
const atomsAtOnce = 20

// fill takes from the atoms what the history does not say about steps.
func (t *Tree) fill(ctx context.Context, store storage.Reader, run *storage.Run) error {
	kept := map[string][]*Step{}
	for path, s := range t.steps {
		kept[path] = []*Step{s}
	}
	for _, s := range t.Undone {
		if s != t.steps[s.Path] {
			kept[s.Path] = append(kept[s.Path], s)
		}
	}
	for paths := range slices.Chunk(slices.Sorted(maps.Keys(kept)), atomsAtOnce) {
		atoms, err := store.AtomsAt(ctx, run.ID, paths...)
		if err != nil {
			return err
		}
		for i := range atoms {
			for _, s := range kept[atoms[i].Path] {
				s.fill(&atoms[i], &run.Secrets)
			}
		}
	}
	t.Undone = slices.DeleteFunc(t.Undone, func(s *Step) bool { return s.Inner })
	return nil
}

// fill takes from the atom of a step what the history does not say.
func (s *Step) fill(a *storage.Atom, secrets *storage.Secrets) {
	s.Due, s.Timer = a.Due, a.Kind == storage.KindTimer
	s.Inner = s.Inner || a.Kind == storage.KindFork || a.Kind == storage.KindFlow
	if s.State != states.TaskRunning && s.State != states.TaskReverting {
		return
	}
	s.Progress, s.Details = a.Progress, secrets.Mask(a.Path, a.Details)
	if s.State == states.TaskReverting {
		s.UndoTry, s.UndoFail = a.RevertAttempt+1, a.RevertFailure
	}
}

// Apply takes a change into the tree.
func (t *Tree) Apply(c *Change) {
	if c.Path == "" {
		t.applyFlow(c)
		return
	}
	s, known := t.steps[c.Path]
	if !known {
		t.meet(c)
		return
	}
	if c.To == "" {
		s.Progress = c.Progress
		if c.Details != nil {
			s.Details = c.Details
		}
		return
	}
	t.change(s, c)
}

// change takes a change of state into a step.
func (t *Tree) change(s *Step, c *Change) {
	s.Timer, s.Inner, s.Due = s.Timer || c.Timer, s.Inner || c.Inner, c.Due
	if s.State.UnmarshalText([]byte(c.To)) != nil {
		return // of a newer Ebb: it cannot be shown
	}
	switch s.State {
	case states.TaskReverting, states.TaskReverted, states.TaskRevertFailure:
		t.applyUndo(s, c)
	default:
		s.apply(c)
	}
}

// apply takes a change into a step that is not being undone.
func (s *Step) apply(c *Change) {
	s.Attempt = max(s.Attempt, c.Attempt)
	if c.Failure != nil {
		s.Failure = c.Failure
	}
	switch s.State {
	case states.TaskRunning:
		if s.Began.IsZero() {
			s.Began = c.At
		}
		s.Ended, s.Progress, s.Details = time.Time{}, 0, nil
	case states.TaskSuccess:
		s.Ended, s.Failure = c.At, nil
	case states.TaskFailure, states.TaskCancelled:
		s.Ended = c.At
	default:
	}
}

// applyUndo takes a change into a step that is being undone.
func (t *Tree) applyUndo(s *Step, c *Change) {
	if c.Failure != nil {
		s.UndoFail = c.Failure
	}
	switch s.State {
	case states.TaskReverting:
		if c.From == c.To { // an attempt failed
			s.UndoTry = c.Attempt + 1
			return
		}
		if s.Undoing.IsZero() && !s.Inner {
			t.undo(s)
		}
		s.Undoing, s.UndoTry, s.Progress, s.Details = c.At, 1, 0, nil
	case states.TaskReverted:
		s.Undone, s.Skipped = c.At, c.From == states.TaskRevertFailure.String()
	default:
		s.Undone = c.At
	}
}

func (t *Tree) applyFlow(c *Change) {
	if t.State.UnmarshalText([]byte(c.To)) != nil {
		return
	}
	if t.Began.IsZero() {
		t.Began = c.At
	}
	t.Ended = time.Time{}
	if t.State.Ended() || t.State == states.FlowSuspended {
		t.Ended = c.At
	}
}

// StuckAt returns the path of what could not be undone last; "" when all that was
// tried could.
func (t *Tree) StuckAt() string {
	for _, s := range slices.Backward(t.Undone) {
		if s.State == states.TaskRevertFailure {
			return s.Path
		}
	}
	return ""
}

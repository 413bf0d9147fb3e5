package inspect

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A Tree is a run as `ebb show` and `ebb run` show it: its steps below the flows that contain them. [Tree.Apply]
// builds it from the events of a live run, and [Recorded] from the history of a stored one. If a run has very many
// steps, the tree keeps those that matter most, so that its size is bounded.
type Tree struct {
	Flow, Run string                // name of the flow, id of the run
	State     states.Flow           // of the run
	Began     time.Time             // when the run started; zero if it has not
	Ended     time.Time             // when the run ended; zero if it has not
	Stopped   bool                  // it was cancelled, see [Stopped]
	Top       Step                  // the root, whose children are the steps of the flow
	steps     map[string]*Step      // kept steps, see fold.go
	open      map[string]*openVisit // by the language's level in it, see visit.go
	Undone    []*Step               // steps that were reverted, or are being reverted, in that order
	Forgotten int                   // number of steps left out of Undone, between its first and last ones
	Partial   bool                  // steps were left out, here or in Undone
}

// A Step is one node of a run in a [Tree]. Times are zero if what they are about has not happened.
type Step struct {
	Path     string         // place in the run, such as "Ship[3]/Pack#2"
	Name     string         // how it is shown below its parent, see [CutPath]
	State    states.Task    // its state; of a step that nothing reverts, the state before the undo passed it
	Stays    storage.Status // STAYS_DONE or MAY_STAY_DONE if the undo passed it and nothing reverts it; "" otherwise
	Earlier  bool           // the effect of an earlier execution stays done, or may
	Attempt  int            // counted from 1
	Progress float64        // progress that the task reported, from 0 to 1
	Details  atom.Value     // details that the task reported with its progress
	Failure  *atom.Failure  // of the last failed attempt
	UndoTry  int            // attempt of its revert, counted from 1
	UndoFail *atom.Failure  // of the last failed attempt of its revert
	Skipped  bool           // its revert failed, and an operator counted it as undone
	Times                   // of its attempts
	Undo     Times          // of the attempts of its revert
	Due      time.Time      // when what it waits for ends
	Timer    bool           // it is a timer of the flow
	Wait     WaitKind       // what it waits for while it is RUNNING, in a stored run; "" if it executes
	Inner    bool           // it only contains other steps
	Kind     string         // of a state without an atom: its type in the language, such as "Choice"; "" otherwise
	Next     string         // of a state without an atom: name of the state that followed; "" if none did
	numbered bool           // it may be one of a group
	number   int            // of a numbered one
	run      string         // id of the run that it began, whose steps are shown below it
	children []*Step
	folded   map[storage.Status]int // number of children that are not kept, by their status
}

// A Change is something that happened to a run or to one of its steps, for [Tree.Apply].
type Change struct {
	Path     string        // "" is the run itself
	From, To string        // texts of the states, or To of a [storage.Status]; both "" if only the progress changed
	Passed   bool          // nothing reverts the step, so the states of its revert say nothing
	Attempt  int           // attempt, counted from 1; from REVERTING to REVERTING that of the revert
	Failure  *atom.Failure // if To is a state of failure
	Due      time.Time     // if To is a wait: when it ends
	Timer    bool          // the step is a timer of the flow
	Inner    bool          // the step only holds others
	Progress float64       // progress that the task reported, from 0 to 1
	Details  atom.Value    // details that the task reported with it
	Waited   time.Duration // how long the attempt that ended waited for a free slot
	At       time.Time     // when it was committed
	Ended    time.Time     // when the attempt ended, if that was earlier; else zero
}

// ended returns when the attempt ended.
func (c *Change) ended() time.Time {
	if c.Ended.IsZero() {
		return c.At
	}
	return c.Ended
}

// stays reports whether the undo passed the step, and nothing reverts it.
func (c *Change) stays() bool {
	return c.To == string(storage.StatusStaysDone) || c.To == string(storage.StatusMayStayDone)
}

// NewTree returns the tree of a run that has not started: the name of its flow, and its id.
func NewTree(name, run string) *Tree {
	return &Tree{Flow: name, Run: run, steps: map[string]*Step{}, open: map[string]*openVisit{}}
}

func newStep(path, name string) *Step {
	s := &Step{Path: path, Name: name}
	s.number, s.numbered = numberOf(name)
	return s
}

// Observed returns the change that an event of the engine reports. It returns false for events that a tree does not
// show.
func Observed(ev engine.Event) (Change, bool) {
	c := Change{
		Path: ev.Path, From: ev.From, To: ev.To, Attempt: ev.Attempt, Failure: ev.Failure,
		Timer: ev.Timer, Inner: ev.Inner, Progress: ev.Progress, Details: ev.Details, Waited: ev.Waited, At: ev.Time,
	}
	if c.To == states.TaskRetrying.String() || c.To == states.TaskRunning.String() || ev.Kind == engine.RevertDelayed {
		c.Due = ev.Due
	}
	c.Passed = ev.Kind == engine.AtomChanged && !ev.Inner && !ev.Reverts
	return c, ev.Kind == engine.FlowChanged || ev.Kind != engine.LanguageEvent && ev.Path != flow.GrowingPath
}

// Recorded returns the tree of a stored run. It reads the history page by page, and then the atoms of the steps that it
// keeps. With a tracer of the run's language, the tree has the states without atoms, too; without one, tracer is nil.
// Errors are the store's.
func Recorded(ctx context.Context, store backend.Reader, run *storage.Run, tracer grow.Tracer) (*Tree, error) {
	left := maxChildRuns
	return recorded(ctx, store, run, tracer, &left)
}

// recorded is Recorded, with the steps of so many child runs at most.
func recorded(
	ctx context.Context, store backend.Reader, run *storage.Run, tracer grow.Tracer, left *int,
) (*Tree, error) {
	t := NewTree(run.Flow, run.ID)
	for e, err := range History(ctx, store, run, 0) {
		if err != nil {
			return nil, err
		}
		c := Change{Path: e.Path, Attempt: e.Attempt, Failure: e.Failure, Waited: e.Waited, At: e.Time, Ended: e.Ended}
		switch {
		case e.Kind == storage.EntryFlow:
			c.Path, c.To = "", states.Flow(e.To).String()
		case e.Kind == storage.EntryAtom:
			t.shown(e.Path)
			c.From, c.To = states.Task(e.From).String(), states.Task(e.To).String()
		case e.Kind == storage.EntryStays || e.Kind == storage.EntryMayStay:
			c.From, c.To = states.Task(e.From).String(), string(e.Status())
		case e.Kind == storage.EntryEvent && tracer != nil:
			for _, v := range Traced(tracer, &e) {
				t.visit(&v, e.Time)
			}
			continue
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
	t.State, t.Ended, t.Stopped = run.State, run.Ended, Stopped(run)
	return t, t.graft(ctx, store, left)
}

// atomsAtOnce is the number of atoms that are read at a time, because each may contain large values.
const atomsAtOnce = 20

// fill adds the data of atoms that the history does not contain.
func (t *Tree) fill(ctx context.Context, store backend.Reader, run *storage.Run) error {
	kept := map[string][]*Step{}
	for path, s := range t.steps {
		if s.Kind == "" {
			kept[path] = []*Step{s}
		}
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
				if s == t.steps[s.Path] {
					s.fillUndo(&atoms[i])
				}
				s.run = childRun(run.ID, &atoms[i])
			}
		}
	}
	t.Undone = slices.DeleteFunc(t.Undone, func(s *Step) bool { return s.Inner })
	return nil
}

// fill adds the data of the step's atom that the history does not contain.
func (s *Step) fill(a *storage.Atom, secrets *storage.Secrets) {
	s.Due, s.Timer, s.Wait = a.Due, a.Kind == storage.KindTimer, spanWait(a)
	s.Inner = s.Inner || a.Kind == storage.KindFork || a.Kind == storage.KindFlow
	if s.Tried.IsZero() && !a.EndedAt.IsZero() { // it was folded when it began
		s.Began, s.Tried, s.Ended = a.StartedAt, a.StartedAt, a.EndedAt
	}
	if s.State != states.TaskRunning && s.State != states.TaskReverting {
		return
	}
	s.Progress, s.Details = a.Progress, secrets.Mask(a.Path, a.Details)
}

// fillUndo adds the attempts of the step's revert: the history has only the first and the last one.
func (s *Step) fillUndo(a *storage.Atom) {
	if a.RevertAttempt == 0 || s.Undo.Began.IsZero() {
		return
	}
	s.UndoTry = a.RevertAttempt
	if s.State != states.TaskRevertFailure && !s.Skipped { // another attempt followed the failed ones
		s.UndoTry++
	}
	if s.State == states.TaskReverting {
		s.UndoFail = a.RevertFailure
	}
	if s.Undo.Tried = a.StartedAt; s.State == states.TaskReverting && a.Due.After(a.StartedAt) {
		s.Undo.Tried = a.Due
	}
}

// Apply adds a change to the tree. Apply changes in the order in which they happened.
func (t *Tree) Apply(c *Change) {
	if c.Path == "" {
		t.applyFlow(c)
		return
	}
	if to := states.TaskPending; c.Passed && to.UnmarshalText([]byte(c.To)) == nil && ofRevert(to) {
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

// change applies a change of state to a step.
func (t *Tree) change(s *Step, c *Change) {
	// For a pending step that is Inner, only steps below it were known: a call starts after the timer of its timeout.
	s.Inner = s.Inner && s.State != states.TaskPending || c.Inner
	s.Timer, s.Due = s.Timer || c.Timer, c.Due
	if c.stays() {
		s.Stays = storage.Status(c.To)
		return
	}
	s.Stays, s.Earlier = "", s.Earlier || s.Stays != ""
	was := s.State
	if s.State.UnmarshalText([]byte(c.To)) != nil {
		return // of a newer Ebb: it cannot be shown
	}
	switch s.State {
	case states.TaskReverting, states.TaskReverted, states.TaskRevertFailure:
		t.applyUndo(s, c)
	default:
		if was == states.TaskReverted {
			t.reset(s)
		}
		s.apply(c)
	}
}

// apply applies a change to a step that is not being undone.
func (s *Step) apply(c *Change) {
	s.Attempt = max(s.Attempt, c.Attempt)
	if c.Failure != nil {
		s.Failure = c.Failure
	}
	switch s.State {
	case states.TaskRunning:
		s.begin(c.At, c.From == states.TaskRetrying.String())
		s.Progress, s.Details = 0, nil
	case states.TaskSuccess:
		s.end(c)
		s.Failure = nil
	case states.TaskFailure, states.TaskRetrying, states.TaskCancelled:
		s.end(c)
	default:
	}
}

// Status returns the status of the step, as [storage.Atom.Status] does for an atom.
func (s *Step) Status() storage.Status {
	if s.Stays != "" {
		return s.Stays
	}
	return storage.Status(s.State.String())
}

// Cause returns the failure that explains the status of the step: that of its revert if the revert failed, and
// otherwise that of its last failed attempt. It is nil if there is none, or if the step only contains others.
func (s *Step) Cause() *atom.Failure {
	switch {
	case s.Inner:
		return nil
	case s.UndoFail != nil && s.State == states.TaskRevertFailure:
		return s.UndoFail
	default:
		return s.Failure
	}
}

// applyUndo applies a change to a step that is being undone.
func (t *Tree) applyUndo(s *Step, c *Change) {
	if c.Failure != nil {
		s.UndoFail = c.Failure
	}
	switch s.State {
	case states.TaskReverting:
		if c.From == c.To { // an attempt failed, and the next one starts without another change
			s.UndoTry = c.Attempt + 1
			s.Undo.again(c.Due)
			return
		}
		if s.Undo.Began.IsZero() && !s.Inner {
			t.undo(s)
		}
		s.Undo.begin(c.At, false)
		s.UndoTry, s.Progress, s.Details = 1, 0, nil
	case states.TaskReverted:
		s.Undo.end(c)
		s.Skipped = c.From == states.TaskRevertFailure.String()
	default:
		s.Undo.end(c)
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

// StuckAt returns the path of the step whose revert failed last, or "" if no revert failed.
func (t *Tree) StuckAt() string {
	for _, s := range slices.Backward(t.Undone) {
		if s.State == states.TaskRevertFailure {
			return s.Path
		}
	}
	return ""
}

package main

import (
	"strings"
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
	steps     map[string]*step
	undone    []*step // what was, or is being, undone, in that order
}

// A step is one node of a run.
type step struct {
	path     string
	name     string
	state    states.Task
	attempt  int
	failure  *atom.Failure // of its last failed attempt, or of its revert
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
	path    string // "" is the run itself
	to      string // the new state's text
	attempt int
	failure *atom.Failure
	due     time.Time
	timer   bool
	inner   bool
	at      time.Time
}

func newTree(name, run string) *tree {
	return &tree{flow: name, run: run, steps: map[string]*step{}}
}

// observed returns the change that an event tells of, and whether there is one
// to be shown.
func observed(ev engine.Event) (change, bool) {
	c := change{
		path: ev.Path, to: ev.To, attempt: ev.Attempt, failure: ev.Failure,
		timer: ev.Timer, inner: ev.Inner, at: ev.Time,
	}
	if c.to == states.TaskRetrying.String() || c.to == states.TaskRunning.String() {
		c.due = ev.Due
	}
	return c, ev.Kind == engine.FlowChanged || ev.Kind == engine.AtomChanged && ev.Path != flow.GrowingPath
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
			c.to = states.Task(e.To).String()
			if a := byPath[e.Path]; a != nil {
				c.due, c.timer, c.inner = a.Due, a.Kind == storage.KindTimer, a.Kind == storage.KindFork || a.Kind == storage.KindFlow
			}
		default:
			continue
		}
		t.apply(&c)
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
	s.timer, s.inner, s.due = s.timer || c.timer, s.inner || c.inner, c.due
	if s.state.UnmarshalText([]byte(c.to)) != nil {
		return // of a newer Ebb: it cannot be shown
	}
	s.attempt = max(s.attempt, c.attempt)
	if c.failure != nil {
		s.failure = c.failure
	}
	switch s.state {
	case states.TaskRunning:
		if s.began.IsZero() {
			s.began = c.at
		}
		s.ended = time.Time{}
	case states.TaskSuccess:
		s.ended, s.failure = c.at, nil
	case states.TaskFailure, states.TaskCancelled:
		s.ended = c.at
	case states.TaskReverting:
		if s.undoing.IsZero() && !s.inner {
			t.undone = append(t.undone, s)
		}
		s.undoing = c.at
	case states.TaskReverted, states.TaskRevertFailure:
		s.undone = c.at
	case states.TaskPending, states.TaskIgnore, states.TaskRetrying:
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

// step returns the step at a path, made with all that is above it when it is
// not there.
func (t *tree) step(path string) *step {
	if path == "" {
		return &t.top
	}
	if s := t.steps[path]; s != nil {
		return s
	}
	above, name := cutPath(path)
	s := &step{path: path, name: name}
	t.steps[path] = s
	parent := t.step(above)
	parent.children = append(parent.children, s)
	return s
}

// cutPath returns the path of what a step is shown under, and its name there:
// Fork[0]/Pay is shown as Pay under Fork[0], and that as [0] under Fork.
func cutPath(path string) (above, name string) {
	slash := strings.LastIndexByte(path, '/')
	name = path[slash+1:]
	if open := strings.LastIndexByte(name, '['); open > 0 && strings.HasSuffix(name, "]") {
		return path[:slash+1+open], name[open:]
	}
	return path[:max(slash, 0)], strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
}

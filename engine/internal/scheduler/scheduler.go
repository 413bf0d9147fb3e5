package scheduler

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
)

// Options change how failures are resolved.
type Options struct {
	KeepOuter    bool // an exhausted retry undoes only its own flow (TaskFlow without defer_reverts)
	NeverResolve bool // a failure is neither retried nor undone
}

// A Scheduler holds the state of one run. It is not safe for concurrent use.
type Scheduler struct {
	plan *flow.Plan
	opt  Options
	flow states.Flow
	rec  []Record
	now  time.Time

	nodes     []counters
	ready     []bool
	selected  []bool
	readyN    int     // ready atoms
	okN       int     // atoms in SUCCESS or IGNORE
	busy      int     // Execute and Revert commands without their Completed
	waits     int     // Wait commands without their Fired
	newReady  []int32 // from chooseAt on: ready, deciders not asked yet
	chooseAt  int
	next      []int32 // ready and selected
	redo      []int32 // found running when the run was loaded
	wave      []int32 // from startAt on: being started
	startAt   int
	revAll    bool // everything untouched is to be reverted
	fatal     []*atom.Failure
	failed    []int32 // atoms that hold a failure, ascending
	failures  []*atom.Failure
	ops       []op
	opAt      int
	asked     bool // an ask is out
	resolving resolution
	deciding  int32
	work      []int32 // scratch of changed

	input map[string]atom.Value
	whole atom.Value

	root    *Scope // of a growing flow; nil otherwise
	asks    []ask
	asking  ask
	serial  int64 // of nodes, in the order they were made
	undos   int64 // height of the undo stack
	unwound bool  // something was, or is to be, undone

	out []Command
}

// New returns the scheduler of a run whose records are all zero. input are the
// symbols of the run's input, whole the input itself.
func New(plan *flow.Plan, opt Options, input map[string]atom.Value, whole atom.Value) *Scheduler {
	s := &Scheduler{
		plan: plan, opt: opt, input: input, whole: whole,
		rec:      make([]Record, len(plan.Atoms)),
		nodes:    make([]counters, len(plan.Nodes)),
		ready:    make([]bool, len(plan.Atoms)),
		selected: make([]bool, len(plan.Atoms)),
		deciding: -1,
	}
	if len(plan.Atoms) == 1 && plan.Atoms[0].Language != nil {
		s.root = &Scope{Index: -1}
	}
	s.count()
	return s
}

// Flow returns the run's state.
func (s *Scheduler) Flow() states.Flow { return s.flow }

// Record returns the record of a plan's atom.
func (s *Scheduler) Record(i int32) *Record { return &s.rec[i] }

// Busy returns how many Execute and Revert commands have not been answered.
func (s *Scheduler) Busy() int { return s.busy }

// Undos returns the height of the undo stack.
func (s *Scheduler) Undos() int64 { return s.undos }

// Step takes one event and returns what is to be done about it. The returned
// commands are valid until the next call.
func (s *Scheduler) Step(ev Event) []Command {
	s.renewOut()
	s.now = ev.Now
	switch ev.Kind {
	case Begin:
		s.begin(ev.Fresh)
	case Reset:
		s.reset()
	case Completed:
		s.completed(ev)
	case Answered:
		s.asked = false
		s.answered(ev)
	case Voted:
		s.asked = false
		s.voted(ev)
	case Grown:
		s.asked = false
		s.grown(ev.Growth)
	case Unwound:
		s.asked = false
		s.unwoundNode(ev.Node)
	case Fired:
		s.fired(ev)
	case Suspend:
		if s.flow == states.FlowRunning {
			s.setFlow(states.FlowSuspending)
		}
		return s.out
	case Idle:
		s.idle()
		return s.out
	case Continue:
		s.startWave()
	}
	s.runOps()
	return s.out
}

// renewOut empties the list of commands, and lets go of one that was
// exceptionally long.
func (s *Scheduler) renewOut() {
	if cap(s.out) > 64*chunk {
		s.out = nil
	}
	clear(s.out)
	s.out = s.out[:0]
}

func (s *Scheduler) emit(c Command) { s.out = append(s.out, c) }

// setFlow changes the flow's state. Pairs that TaskFlow ignores are ignored.
func (s *Scheduler) setFlow(to states.Flow) {
	if states.Ignored(s.flow, to) {
		return
	}
	if err := states.Check(s.flow, to); err != nil {
		panic(err) // a defect of this package: the caller reports it as such
	}
	s.emit(Command{Op: FlowState, Atom: -1, FlowFrom: s.flow, FlowTo: to})
	s.flow = to
}

// begin brings the flow to RUNNING and takes up what was left.
func (s *Scheduler) begin(fresh bool) {
	if fresh && s.flow != states.FlowPending {
		s.setFlow(states.FlowResuming)
		s.setFlow(states.FlowSuspended)
	}
	if s.flow == states.FlowReverted {
		s.reset()
	}
	s.setFlow(states.FlowRunning)
	s.fatal = nil
	if s.root == nil {
		s.waits = 0 // retries found RETRYING wait anew
	}
	s.newReady, s.chooseAt, s.next, s.redo = s.newReady[:0], 0, s.next[:0], s.redo[:0]
	for i := range s.rec {
		a := int32(i)
		switch r := &s.rec[i]; {
		case r.State == states.TaskFailure && !s.opt.NeverResolve:
			s.push(op{resolve, a})
		case r.State == states.TaskRetrying && s.isRetry(a):
			s.push(op{renew, a})
		case r.State == states.TaskRunning || r.State == states.TaskReverting:
			s.redo = append(s.redo, a)
		}
		s.selected[i] = false
		if s.ready[i] {
			s.newReady = append(s.newReady, a)
		}
	}
	s.push(op{choose, -1})
}

// reset makes all atoms PENDING. It is called only where the flow's table
// allows it, and then changes everything or nothing.
func (s *Scheduler) reset() {
	if states.CheckReset(s.flow, states.FlowPending) != nil {
		return
	}
	s.revAll = false
	if s.root != nil {
		s.root, s.asks, s.unwound = &Scope{Index: -1}, nil, false
	}
	for i := range s.rec {
		a := int32(i)
		if r := &s.rec[i]; r.State != states.TaskPending || r.Intention != states.IntendExecute {
			s.resetAtom(a)
		}
	}
	if s.flow != states.FlowPending {
		s.emit(Command{Op: FlowState, Atom: -1, FlowFrom: s.flow, FlowTo: states.FlowPending})
		s.flow = states.FlowPending
	}
}

// resetAtom makes one atom PENDING. Results and failures stay until the next
// end of an attempt replaces them.
func (s *Scheduler) resetAtom(a int32) {
	r := &s.rec[a]
	if r.State != states.TaskPending {
		r.Incarnation++
		r.Attempt = 0
		r.Ended = EndNone
	}
	s.set(a, states.TaskPending, states.IntendExecute)
}

func (s *Scheduler) isRetry(a int32) bool { return s.plan.Atoms[a].Kind() == atom.KindRetry }

// set is the only writer of states and intentions.
func (s *Scheduler) set(a int32, state states.Task, intention states.Intention) {
	r := &s.rec[a]
	from := r.State
	if from == state && r.Intention == intention {
		return
	}
	if from != state {
		s.check(a, from, state)
		s.okN += ok(state) - ok(from)
	}
	r.State, r.Intention = state, intention
	if from == state {
		s.emit(Command{Op: Write, Atom: a, Rec: *r})
	} else {
		s.emit(Command{Op: Notify, Atom: a, From: from, To: state, Rec: *r})
	}
	s.changed(s.plan.Atoms[a].Node)
}

func ok(t states.Task) int {
	if t == states.TaskSuccess || t == states.TaskIgnore {
		return 1
	}
	return 0
}

// check panics when a transition is not in the tables: that would be a defect
// of this package, never of a flow.
func (s *Scheduler) check(a int32, from, to states.Task) {
	var err error
	switch {
	case to == states.TaskPending:
		if s.isRetry(a) {
			err = states.CheckReset(states.Retry(from), states.Retry(to))
		} else {
			err = states.CheckReset(from, to)
		}
	case s.isRetry(a):
		err = states.Check(states.Retry(from), states.Retry(to))
	default:
		err = states.Check(from, to)
	}
	if err != nil {
		panic(fmt.Errorf("scheduler: atom %q: %w", s.plan.Atoms[a].Name(), err))
	}
}

// completed takes the end of an Execute or Revert.
func (s *Scheduler) completed(ev Event) {
	s.busy--
	if ev.Node != nil {
		s.nodeCompleted(ev)
		return
	}
	a, r := ev.Atom, &s.rec[ev.Atom]
	switch {
	case ev.Revert && ev.Failure != nil:
		r.setRare(func(x *Rare) { x.RevertFailure, x.RevertResult = ev.Failure, nil })
		s.set(a, states.TaskRevertFailure, r.Intention)
		s.fatal = append(s.fatal, ev.Failure)
	case ev.Revert:
		if r.Rare != nil || len(ev.Result) > 0 && !isNull(ev.Result) {
			r.setRare(func(x *Rare) {
				x.RevertResult, x.RevertFailure = ev.Result, nil
				if s.isRetry(a) {
					x.Tries = nil
				}
			})
		}
		s.set(a, states.TaskReverted, r.Intention)
	case ev.Failure != nil:
		s.executionFailed(a, ev.Failure)
	default:
		r.Result, r.Ended = ev.Result, EndValue
		s.setFailure(a, nil)
		if s.isRetry(a) {
			h := r.Tries()
			h.Tries = append(slices.Clip(h.Tries), atom.Try{Value: ev.Result})
			h.Failure = nil
			r.Rare = &Rare{Tries: &h}
		} else {
			r.Rare = nil
		}
		s.set(a, states.TaskSuccess, r.Intention)
	}
	s.push(op{choose, -1})
}

func isNull(v atom.Value) bool { return string(v) == string(atom.Null) }

func (s *Scheduler) executionFailed(a int32, f *atom.Failure) {
	r := &s.rec[a]
	r.Ended = EndFailure
	s.setFailure(a, f)
	if s.isRetry(a) {
		h := r.Tries()
		h.Failure = f
		r.Rare = &Rare{Tries: &h}
	} else {
		due := r.Due()
		r.Result, r.Rare = nil, nil
		if s.root != nil && s.root.ending.TimedOut {
			r.Rare = &Rare{Due: cmp.Or(due, s.now)}
		}
	}
	s.set(a, states.TaskFailure, r.Intention)
	if s.opt.NeverResolve {
		s.fatal = append(s.fatal, f)
		return
	}
	s.push(op{resolve, a})
}

// setFailure keeps the list of atoms that hold a failure.
func (s *Scheduler) setFailure(a int32, f *atom.Failure) {
	r := &s.rec[a]
	if r.Failure == nil && f == nil {
		return
	}
	at, found := slices.BinarySearch(s.failed, a)
	switch {
	case f == nil && found:
		s.failed = slices.Delete(s.failed, at, at+1)
	case f != nil && !found:
		s.failed = slices.Insert(s.failed, at, a)
	}
	r.Failure = f
	s.failures = nil
}

// Failures returns the failures that atoms hold now, in the order of the plan:
// what reverts are told.
func (s *Scheduler) Failures() []*atom.Failure {
	if s.failures == nil {
		for _, a := range s.failed {
			s.failures = append(s.failures, s.rec[a].Failure)
		}
	}
	return s.failures
}

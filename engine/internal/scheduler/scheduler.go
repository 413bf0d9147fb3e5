package scheduler

import (
	"fmt"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
)

// A Scheduler holds the state of one run. It is not safe for concurrent use.
type Scheduler struct {
	plan   *flow.Plan
	flow   states.Flow
	rec    []Record
	root   *Scope // of a growing flow; nil otherwise
	input  map[string]atom.Value
	whole  atom.Value
	now    time.Time
	random float64
	out    []Command

	front   front
	flight  flight
	failing failing
	ending  ending
	growth  growth
	cancels cancels
	stack   stack
}

// A front is what of a plan can begin.
type front struct {
	nodes    []counters
	ready    []bool
	selected []bool
	readyN   int     // ready atoms
	okN      int     // atoms in SUCCESS or IGNORE
	newReady []int32 // from chooseAt on: ready, deciders not asked yet
	chooseAt int
	next     []int32 // ready and selected
	redo     []int32 // found running when the run was loaded
	wave     []int32 // from startAt on: being started
	startAt  int
	work     []int32 // scratch of changed
}

// A flight is what was begun and has not ended.
type flight struct {
	busy      int            // Execute and Revert commands without their Completed
	waits     int            // Wait commands without their Fired
	reverting int            // reverts that another party ends; they are among the waits
	undone    map[int32]bool // those of them that are of atoms of the plan
}

// failing holds the consequences of the failures of a plan.
type failing struct {
	revAll    bool // every untouched atom must be reverted
	rewinding *rewind
	kept      []bool // per atom: a pivot that succeeded, or before one; nil while there is none
	fatal     []*atom.Failure
	failed    []int32 // atoms that hold a failure, ascending
	failures  []*atom.Failure
	ops       []op
	opAt      int
	resolving resolution
	deciding  int32
}

// An ending says how the run must end for a reason outside it.
type ending struct {
	halted         bool // nothing more is started, and nothing is undone
	parked         bool // a revert failed, and an operator must decide
	pending        PendingOutcome
	pendingFailure *atom.Failure      // why the run must end
	commands       []*OperatorCommand // being followed
}

// growth is the state of a growing flow's questions.
type growth struct {
	asks   []ask
	back   ask // the question that was taken back, which goes before asks; no scope: there is none
	asking ask
	asked  bool  // an ask is out
	serial int64 // of nodes, in the order of their creation
	alive  int64 // nodes and child flows that are open
	held   int64 // bytes of their values
}

// cancels are the pending cancellations, which are done a part at a time.
type cancels struct {
	left     []cancelling // the scopes and nodes still to be cancelled
	quota    int          // how many of them this Step may cancel
	partSize int
}

// A stack is the scheduler's view of the undo stack.
type stack struct {
	height   int64           // height of the undo stack
	drops    int             // how often the undo stack was dropped
	holes    map[int64]*Node // entries of the undo stack that are undone, and have others above them, by height
	unwound  bool            // something was, or is to be, undone
	mending  bool            // what could not be undone for a flow is to be tried again
	skipping bool            // the topmost entry of the undo stack counts as undone
	downTo   string          // path of the topmost entry of the undo stack that is to stay
	end      atom.RevertEnd  // what follows from the last revert that failed
}

// New returns the scheduler of a run whose records are all zero. input are the
// symbols of the run's input, whole the input itself.
func New(plan *flow.Plan, input map[string]atom.Value, whole atom.Value) *Scheduler {
	s := &Scheduler{
		plan: plan, input: input, whole: whole,
		rec: make([]Record, len(plan.Atoms)),
		front: front{
			nodes: make([]counters, len(plan.Nodes)), ready: make([]bool, len(plan.Atoms)), selected: make([]bool, len(plan.Atoms)),
			work: make([]int32, 0, 16),
		},
		failing: failing{deciding: -1},
		cancels: cancels{partSize: partSize},
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
func (s *Scheduler) Busy() int { return s.flight.busy }

// Undos returns the height of the undo stack.
func (s *Scheduler) Undos() int64 { return s.stack.height }

// Step takes one event and returns what is to be done about it. The returned
// commands are valid until the next call.
func (s *Scheduler) Step(ev Event) []Command {
	if ev.Kind == Suspend {
		return s.suspend()
	}
	s.renewOut()
	s.now, s.random, s.cancels.quota = ev.Now, ev.Random, s.cancels.partSize
	switch ev.Kind {
	case Begin:
		s.begin(&ev)
	case Reset:
		s.reset()
	case Completed:
		s.completed(ev)
	case Answered:
		s.growth.asked = false
		s.answered(ev)
	case Voted:
		s.growth.asked = false
		s.voted(ev)
	case Grown:
		s.growth.asked = false
		s.grown(ev.Growth)
	case Unwound:
		s.growth.asked = false
		if q := s.growth.asking; q.undo {
			s.growth.asking = ask{}
			s.undoEntry(q.scope, ev.Node, ev.N)
		} else {
			s.unwoundNode(ev.Node)
		}
	case Fired:
		s.fired(ev)
	case CommandReceived:
		s.applyCommand(ev.OperatorCommand)
	case Deferred:
		s.deferred(ev)
	case Told:
		s.told(ev)
	case Exceeded:
		s.exceeded(ev.Failure)
	case Idle:
		s.idle()
		return s.out
	case Continue:
		s.startWave()
	case Later:
		s.later()
		return s.out
	case Suspend: // answered above
	}
	s.runOps()
	return s.out
}

// suspend answers a request to suspend. The request may come while the driver
// carries out the commands of the previous step; suspend leaves these as they are.
func (s *Scheduler) suspend() []Command {
	if s.flow != states.FlowRunning {
		return nil
	}
	out := s.out
	s.out = nil
	s.setFlow(states.FlowSuspending)
	cmds := s.out
	s.out = out
	return cmds
}

// renewOut empties the list of commands, and frees a list that was exceptionally
// long.
func (s *Scheduler) renewOut() {
	if cap(s.out) > 64*chunk {
		s.out = nil
	}
	clear(s.out)
	s.out = s.out[:0]
}

// Rest frees what only deciding needs. The driver calls it when there is nothing
// more to decide and the records must be kept.
func (s *Scheduler) Rest() {
	s.out, s.failing.ops, s.front.newReady, s.front.next, s.front.wave, s.front.work = nil, nil, nil, nil, nil, nil
	s.failing.opAt, s.front.chooseAt, s.front.startAt = 0, 0, 0
}

func (s *Scheduler) emit(c Command) {
	if c.Op <= Notify {
		s.weigh(&c)
	}
	s.out = append(s.out, c)
}

// command is emit for what each step of a flow does: it returns the command, to
// be filled in where it is.
func (s *Scheduler) command(op Op, a int32) *Command {
	if n := len(s.out); n < cap(s.out) { // it is zero, see renewOut
		s.out = s.out[:n+1]
	} else {
		s.out = append(s.out, Command{})
	}
	c := &s.out[len(s.out)-1]
	c.Op, c.Atom, c.Rec = op, a, s.rec[a]
	return c
}

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
		s.front.okN += ok(state) - ok(from)
	}
	r.State, r.Intention = state, intention
	if from == state {
		s.command(Write, a)
	} else {
		c := s.command(Notify, a)
		c.From, c.To = from, state
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

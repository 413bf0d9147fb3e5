package scheduler

import (
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
)

// A Scheduler contains the state of one run. Only one goroutine may use it at a time.
type Scheduler struct {
	plan   *flow.Plan
	flow   states.Flow
	units  []Unit // atoms of the plan
	root   *Scope // own scope of a growing flow; nil for a plan
	input  map[string]atom.Value
	whole  atom.Value
	now    time.Time
	random float64
	out    []Command

	readySet    readySet
	inFlight    inFlight
	failing     failing
	stopReason  stopReason
	growth      growth
	cancelQueue cancelQueue
	undoStack   undoStack
}

// A readySet contains the atoms of a plan that can start.
type readySet struct {
	nodes    []counters
	ready    []bool
	selected []bool
	readyN   int     // number of ready atoms
	okN      int     // number of atoms in SUCCESS or IGNORE
	newReady []int32 // from chooseAt on: ready atoms whose deciders were not asked
	chooseAt int
	next     []int32 // atoms that are ready and selected
	redo     []int32 // atoms that were running when the run was loaded
	wave     []int32 // from startAt on: atoms to start now
	startAt  int
	work     []int32 // buffer of changed
}

// An inFlight counts the work that has started and not ended.
type inFlight struct {
	busy      int // Execute and Revert commands without Completed, and Withdraw commands without Withdrawn
	waits     int // Wait commands without Fired, and units that another party ends
	reverting int // reverts that another party ends; they also count as waits
}

// failing contains the consequences of failures in a plan.
type failing struct {
	revAll    bool // revert every untouched atom
	rewinding *rewind
	kept      []bool // by atom: a pivot that succeeded, or an atom before one; nil if there is none
	fatal     []*atom.Failure
	failed    []int32 // atoms with a failure, ascending
	failures  []*atom.Failure
	ops       []op
	opAt      int
	resolving resolution
	deciding  int32
}

// A stopReason describes how the run must end for a reason outside of it.
type stopReason struct {
	halted         bool // start nothing more, and undo nothing
	parked         bool // a revert failed, and an operator must decide
	follows        bool // see StopFollows
	pending        PendingOutcome
	pendingFailure *atom.Failure      // why the run must end
	commands       []*OperatorCommand // commands that are being applied
}

// growth contains the state of a growing flow's questions.
type growth struct {
	asks   []ask
	back   ask // the question that was taken back, which precedes asks; empty if its scope is nil
	asking ask
	asked  bool  // a question is open
	serial int64 // serial number of the last node created
	alive  int64 // number of open nodes and child flows
	held   int64 // size of their values in bytes
}

// A cancelQueue contains the pending cancellations, which are done in parts.
type cancelQueue struct {
	left     []cancelling // scopes and nodes that are still to be cancelled
	quota    int          // how many of them this Step may still cancel
	partSize int
}

// An undoStack contains what the scheduler knows of the undo stack.
type undoStack struct {
	height   int64           // number of entries
	drops    int             // how often the stack was deleted
	holes    map[int64]*Node // entries that are undone and have others above them, by height
	unwound  bool            // some entries were or will be undone
	mending  bool            // retry the reverts that failed for a flow
	skipping bool            // treat the topmost entry as undone
	downTo   string          // path of the topmost entry that stays
	end      atom.RevertEnd  // consequence of the last revert that failed
}

// New returns the scheduler of a run whose records are all zero. input contains the symbols of the run's input,
// whole is the input itself.
func New(plan *flow.Plan, input map[string]atom.Value, whole atom.Value) *Scheduler {
	s := &Scheduler{
		plan: plan, input: input, whole: whole,
		units: planned(plan),
		readySet: readySet{
			nodes: make([]counters, len(plan.Nodes)), ready: make([]bool, len(plan.Atoms)),
			selected: make([]bool, len(plan.Atoms)),
			work:     make([]int32, 0, 16),
		},
		failing:     failing{deciding: -1},
		cancelQueue: cancelQueue{partSize: partSize},
	}
	if len(plan.Atoms) == 1 && plan.Atoms[0].Language != nil {
		s.root = s.ownScope()
	}
	s.count()
	return s
}

// Flow returns the run's state.
func (s *Scheduler) Flow() states.Flow { return s.flow }

// Unit returns the unit of atom i of the plan.
func (s *Scheduler) Unit(i int32) *Unit { return &s.units[i] }

// Busy returns the number of Execute and Revert commands that have not been answered.
func (s *Scheduler) Busy() int { return s.inFlight.busy }

// Undos returns the height of the undo stack.
func (s *Scheduler) Undos() int64 { return s.undoStack.height }

// Step processes one event and returns the resulting commands. They are valid until the next call.
func (s *Scheduler) Step(ev Event) []Command {
	if ev.Kind == Suspend {
		return s.suspend()
	}
	s.renewOut()
	s.now, s.random, s.cancelQueue.quota = ev.Now, ev.Random, s.cancelQueue.partSize
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
			s.undoEntry(q.scope, ev.Unit.Grown(), ev.N)
		} else {
			s.unwoundNode(ev.Unit.Grown())
		}
	case Fired:
		s.fired(ev)
	case CommandReceived:
		s.applyCommand(ev.OperatorCommand)
	case Deferred:
		s.deferred(ev)
	case Withdrawn:
		s.withdrawn(&ev)
	case RunKnown:
		s.runKnown(&ev)
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
	case Suspend: // handled above
	}
	s.runOps()
	return s.out
}

// suspend handles a request to suspend. The request may come while the driver carries out the commands of the
// previous step; suspend does not change these.
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

// renewOut empties the list of commands, and frees a list that was exceptionally long.
func (s *Scheduler) renewOut() {
	if cap(s.out) > 64*chunk {
		s.out = nil
	}
	clear(s.out)
	s.out = s.out[:0]
}

// Rest frees memory that only decisions need. The driver calls it when no decision is left and it keeps the
// records.
func (s *Scheduler) Rest() {
	s.out, s.failing.ops = nil, nil
	s.readySet.newReady, s.readySet.next, s.readySet.wave, s.readySet.work = nil, nil, nil, nil
	s.failing.opAt, s.readySet.chooseAt, s.readySet.startAt = 0, 0, 0
}

func (s *Scheduler) emit(c Command) {
	if c.Op <= Notify {
		s.weigh(&c)
	}
	s.out = append(s.out, c)
}

// next adds an empty command to the list, and returns it for the caller to fill in. It is emit without a copy, for
// the commands that each step of a flow needs.
func (s *Scheduler) next() *Command {
	if n := len(s.out); n < cap(s.out) { // the element is zero, see renewOut
		s.out = s.out[:n+1]
	} else {
		s.out = append(s.out, Command{})
	}
	return &s.out[len(s.out)-1]
}

package scheduler

import (
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
)

// Op says what a command asks for.
type Op uint8

// The commands. Those that ask are the last of their list; no event but the
// answer, or Suspend, may follow.
const (
	Write       Op = iota // keep Rec; nobody is told
	Notify                // keep Rec; then tell that the atom went From -> To
	FlowState             // keep that the flow went FlowFrom -> FlowTo; then tell
	Execute               // execute the atom with Values; answer with Completed
	Revert                // revert the atom, as Outcome tells; answer with Completed
	Wait                  // send Fired when Due has come
	Unwait                // Fired is no longer wanted
	Cancel                // cancel the context of what executes; Completed comes all the same
	AskRetry              // ask the retry's controller about Tries; answer with Answered
	AskDeciders           // ask the atom's deciders; answer with Voted
	AskLanguage           // ask the scope's language about Cause; answer with Grown
	AskUndo               // bring the topmost entry of the undo stack; answer with Unwound
	Emit                  // append Events to the language's history
	Remember              // keep Memory: of Scope, or of the run when there is none
	PushUndo              // put the node on the undo stack
	PopUndo               // take the topmost entry off the undo stack
	Deadline              // keep when the run's own flow is overdue; send Fired with no node when Due has come
	More                  // send Continue
	Over                  // the run has come to rest in FlowTo; Failures say why
)

// A Command is one thing the driver is to do, in order.
type Command struct {
	Op       Op
	Atom     int32 // index in the plan; -1 when Node or Scope is meant
	Node     *Node
	Scope    *Scope
	From, To states.Task
	Rec      Record

	FlowFrom, FlowTo states.Flow
	Values           atom.Values
	Outcome          atom.Outcome[atom.Value]
	Tries            atom.History
	Cause            *flow.Cause // AskLanguage
	Events           []flow.Event
	Missing          *atom.Failure // Execute, Revert: an argument has no value; the call is not made and fails so
	Due              time.Time
	Memory           atom.Value
	Failures         []*atom.Failure
	End              *flow.End
}

// EventKind tells events apart.
type EventKind uint8

// The events.
const (
	Begin     EventKind = iota // run, or go on
	Completed                  // an Execute or Revert has ended
	Answered                   // Decision, or Failure when the controller failed
	Voted                      // Nay says whether any decider said no, Depth how much is left out; Failure when one failed
	Grown                      // Growth is the language's answer
	Unwound                    // Node is the topmost entry of the undo stack; nil when it is empty
	Fired                      // the wait of Atom or Node is over; neither means the deadline
	Idle                       // no completion is at hand
	Continue                   // more was asked for
	Suspend                    // come to rest, undoing nothing
	Reset                      // begin anew: all atoms PENDING
)

// An Event is one thing that happened.
type Event struct {
	Kind     EventKind
	Atom     int32
	Node     *Node
	Revert   bool // Completed: a revert has ended
	Result   atom.Value
	Failure  *atom.Failure
	Decision atom.Decision
	Nay      bool
	Depth    flow.Depth
	Growth   flow.Growth
	Fresh    bool      // Begin: the records were just loaded
	Now      time.Time // when it happened
}

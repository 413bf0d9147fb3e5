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
// answer, Later or Suspend may follow.
const (
	Write          Op = iota // keep Rec; tell no observer
	Notify                   // keep Rec; then tell that the atom went From -> To
	Shelve                   // keep Tries, with the next record of the retry, which does not hold them any more: they are among its Earlier
	FlowState                // keep that the flow went FlowFrom -> FlowTo; then tell
	Execute                  // execute the atom with Values; answer with Completed
	Revert                   // revert the atom, as Outcome tells; answer with Completed
	Wait                     // send Fired when Due has come
	Unwait                   // Fired is no longer wanted
	Cancel                   // cancel the context of what executes; Completed comes all the same, unless it is Abandoned
	Await                    // the node makes no call, and another party ends it; send Completed then
	Spawn                    // begin the node's own run; send Completed when that has ended
	Void                     // the atom can no longer be ended from outside the run
	Tell                     // send Messages to other runs, and Out out of the database
	Label                    // set Labels of the run
	AskRetry                 // ask the retry's controller about Tries; answer with Answered
	AskDeciders              // ask the atom's deciders; answer with Voted
	AskLanguage              // ask the scope's language about Cause; answer with Grown
	AskUndo                  // bring the topmost entry of the undo stack, or of Part of it; answer with Unwound
	Emit                     // append Events to the language's history
	Remember                 // keep Memory: of Scope, or of the run when there is none
	PushUndo                 // put the node on the undo stack
	PopUndo                  // take the topmost entry off the undo stack
	DropUndo                 // forget the undo stack: what is on it will not be undone any more
	Deadline                 // keep when the run is overdue; send Fired with no node when Due has come
	PendingFailure           // keep that the run will end with PendingOutcome, because of Failures
	More                     // send Continue
	CommandApplied           // OperatorCommand is done, or was dropped: its message is no longer needed
	Over                     // the run has come to rest in FlowTo; Failures say why
)

// A Command is one thing the driver is to do, in order. Each step of a flow is
// several, which are copied a few times: what few of them say is in Detail.
type Command struct {
	Op               Op
	From, To         states.Task
	FlowFrom, FlowTo states.Flow
	PendingOutcome   PendingOutcome // PendingFailure, Over
	Abandoned        bool           // Cancel, Void
	Atom             int32          // index in the plan; -1 when Node or Scope is meant
	Node             *Node
	Scope            *Scope
	Rec              Record
	Values           atom.Values
	Missing          *atom.Failure // Execute, Revert, AskRetry: an argument has no value; the call is not made and fails so
	*Detail                        // nil where the Op needs none of it
}

// A Detail is what commands of few kinds say.
type Detail struct {
	Outcome         atom.Outcome[atom.Value] // Revert
	Tries           atom.History             // Shelve, AskRetry; Execute and Revert of a retry; without those that were shelved
	Cause           *flow.Cause              // AskLanguage
	Part            *Part                    // AskUndo; nil is all of the stack
	Events          []flow.Event             // Emit
	Untold          int64                    // Emit: how many more there were, which are only counted
	Messages, Out   []flow.Message           // Tell
	Labels          map[string]string        // Label
	Due             time.Time                // Wait, Deadline
	Memory          atom.Value               // Remember
	Failures        []*atom.Failure          // PendingFailure, Over
	OperatorCommand *OperatorCommand         // CommandDone
	End             *flow.End                // Over
}

// EventKind tells events apart.
type EventKind uint8

// The events.
const (
	Begin           EventKind = iota // run, or go on
	Completed                        // an Execute or Revert has ended
	Answered                         // Decision, or Failure when the controller failed
	Voted                            // Nay says whether any decider said no, Depth how much is left out; Failure when one failed
	Grown                            // Growth is the language's answer
	Unwound                          // Node is the entry of the undo stack that was asked for, N its height; nil when there is none
	Fired                            // the wait of Atom or Node is over; neither means the deadline
	Idle                             // no completion is at hand
	Continue                         // more was asked for
	Deferred                         // the call of Execute has ended; another party ends the atom; send Completed then
	Told                             // the run was told something, as Cause says, by message N
	Suspend                          // come to rest, undoing nothing
	CommandReceived                  // an operator sent OperatorCommand
	Reset                            // begin anew: all atoms PENDING
	Later                            // AskLanguage, AskUndo or More is not answered now: other events come first, and Idle asks again
	Exceeded                         // the run has reached a limit, as Failure says; it may come in place of Grown
)

// An Event is one thing that happened.
type Event struct {
	Kind            EventKind
	Atom            int32
	Node            *Node
	Revert          bool // Completed: a revert has ended
	ByToken         bool // Completed: of a node that began a run, the party that had its token ended it, not the run
	Result          atom.Value
	Failure         *atom.Failure
	Decision        atom.Decision
	Nay             bool
	Depth           flow.Depth
	Growth          *flow.Growth
	Cause           *flow.Cause      // Told
	N               int64            // Told, Unwound
	OperatorCommand *OperatorCommand // CommandCame; of Begin: the command for a run that had come to rest
	Fresh           bool             // Begin: the records were just loaded, as a growing flow goes on
	Now             time.Time        // when it happened
	Random          float64          // from 0 to 1, for the waits that this event leads to
}

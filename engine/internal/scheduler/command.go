package scheduler

import (
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/states"
)

// Op is the kind of a command.
type Op uint8

// The kinds of commands. A command that asks a question is the last of its list. Until its answer, only the events
// Later and Suspend may follow.
const (
	Write  Op = iota // store Rec; notify no observer
	Notify           // store Rec; then notify observers that the atom went from From to To
	// Shelve stores Tries with the next record of the retry. The record no longer contains them: they are in its
	// Earlier.
	Shelve
	FlowState // store that the flow went from FlowFrom to FlowTo; then notify observers
	Execute   // execute the atom with Values: call [Scheduler.MarkCalled] before, and answer with Completed
	Revert    // revert the atom, with Outcome; answer with Completed
	Wait      // send Fired at Due
	Unwait    // do not send Fired
	Cancel    // cancel the context of the running call; Completed still follows, unless the call is Abandoned
	Await     // the node makes no call, and another party ends it; then send Completed
	Spawn     // start the child run of the node or atom; send Completed when that run has ended
	Void      // the atom's token is void: no other party can end the atom
	// Withdraw: no worker may take the work of the atom from its queue any more. Answer with Withdrawn, which says whether
	// one had taken it.
	Withdraw
	Tell        // send Messages to other runs, and Out to targets outside the database
	Label       // set Labels of the run
	NeedPerson  // store that a person must decide, because of Failures; with none, that the decision is no longer needed
	AskRetry    // ask the retry's controller about Tries; answer with Answered
	AskDeciders // ask the atom's deciders; answer with Voted
	AskLanguage // ask the scope's language about Cause; answer with Grown
	AskUndo     // load the topmost entry of the undo stack, or of Part of it; answer with Unwound
	Emit        // append Events to the language's history
	Remember    // store Memory of Scope, or of the run if Scope is nil
	PushUndo    // put the node on the undo stack
	PopUndo     // remove the topmost entry of the undo stack
	// Stays: the undo has passed the atom, which nothing reverts. What it did stays done, or may, if its outcome is
	// unknown.
	Stays
	AwaitRun       // the undo has come to the node, which nothing reverts: answer with RunKnown when its run has ended
	DropUndo       // delete the undo stack: its entries will not be undone
	Deadline       // store the run's deadline; send Fired without a unit at Due
	PendingFailure // store that the run will end with PendingOutcome, because of Failures
	More           // send Continue
	CommandApplied // OperatorCommand was applied or dropped: delete its message
	Over           // the run has come to rest in FlowTo, because of Failures
)

// A Command is one instruction to the driver. The driver carries out commands in order. Each step of a flow
// produces several commands, which are copied a few times, so fields that few kinds use are in Detail.
type Command struct {
	Op               Op
	From, To         states.Task
	FlowFrom, FlowTo states.Flow
	PendingOutcome   PendingOutcome // for PendingFailure, Over
	Abandoned        bool           // for Cancel, Void
	Unit             *Unit          // nil if the command concerns the run
	Scope            *Scope         // of a command about a growing flow
	Rec              Record
	Values           atom.Values
	// Missing is for Execute, Revert, Spawn and AskRetry: an argument has no value. The driver does not make the
	// call, and it fails with this failure.
	Missing *atom.Failure
	*Detail // nil if the Op needs none of its fields
}

// A Detail contains the fields that few kinds of commands use.
type Detail struct {
	Outcome atom.Outcome[atom.Value] // for Revert
	// Tries is for Shelve and AskRetry, and for Execute and Revert of a retry. It does not contain shelved tries.
	Tries           atom.History
	Cause           *grow.Cause       // for AskLanguage
	Part            *Part             // for AskUndo; nil means the whole stack
	Events          []grow.Event      // for Emit
	Untold          int64             // for Emit: number of further events, which are only counted
	Messages, Out   []grow.Message    // for Tell
	Labels          map[string]string // for Label
	Due             time.Time         // for Wait, Deadline
	Memory          atom.Value        // for Remember
	Failures        []*atom.Failure   // for PendingFailure, NeedPerson, Over
	OperatorCommand *OperatorCommand  // for CommandApplied
	End             *grow.End         // for Over
}

// EventKind is the kind of an event.
type EventKind uint8

// The kinds of events.
const (
	Begin     EventKind = iota // start or resume the run
	Completed                  // an Execute or Revert has ended
	Answered                   // the answer to AskRetry: Decision, or Failure if the controller failed
	// Voted is the answer to AskDeciders: Nay if any decider said no, and Depth, how much is left out; or Failure
	// if a decider failed.
	Voted
	Grown           // the answer to AskLanguage: Growth
	Unwound         // the answer to AskUndo: Unit is the entry, N its height; a nil Unit means that there is none
	Fired           // the wait of Unit is over; if it is nil, the deadline has passed
	Idle            // no completion is waiting
	Continue        // the answer to More
	Deferred        // the call of Execute has ended, and another party ends the atom; Completed follows then
	Withdrawn       // the work of Withdraw is out of its queue; Untaken if no worker ever took it
	RunKnown        // the answer to AwaitRun: Untaken if nothing was done in that run
	Told            // the run received message N, with Cause
	Suspend         // come to rest, and undo nothing
	CommandReceived // an operator sent OperatorCommand
	Reset           // start again: all atoms PENDING
	Later           // AskLanguage, AskUndo or More is not answered yet: other events come first, and Idle asks again
	Exceeded        // the run has reached a limit or lacks a mock, with Failure; may come in place of Grown
)

// An Event is one event that the driver reports to the scheduler.
type Event struct {
	Kind            EventKind
	Unit            *Unit       // nil if the event concerns the run
	Revert          bool        // for Completed: a revert has ended
	Untaken         bool        // for Withdrawn; for RunKnown, and Completed of an undo: nothing had been done
	Own             bool        // for Completed: the call was not cancelled before it ended, or its time was up
	ByToken         bool        // for Completed of a node with a child run: the owner of its token ended it
	RunEnd          grow.RunEnd // for Completed of a node with a child run: how that run ended
	continued       bool        // for Completed of the run's own flow: another run continues it
	Result          atom.Value
	Failure         *atom.Failure
	Decision        atom.Decision
	Nay             bool
	Depth           flow.Depth
	Growth          *grow.Growth
	Cause           *grow.Cause      // for Told
	Scope           *Scope           // for Told: the flow that the message is for; nil is that of Unit, or the run's own
	N               int64            // for Told, Unwound
	OperatorCommand *OperatorCommand // for CommandReceived; for Begin: the command for a run that had come to rest
	Fresh           bool             // for Begin: the records were just loaded, as a growing flow requires
	Now             time.Time        // time of the event
	Random          float64          // from 0 to 1, for the jitter of waits that this event causes
}

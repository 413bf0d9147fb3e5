package grow

import (
	"time"

	"github.com/ebbflow/ebb/atom"
)

// A Growth is a language's answer to an [Ask]: the nodes to add, or the end of the flow. With the zero Growth, the
// flow continues with the nodes that it has. If none of them can cause another question, the flow fails with
// [atom.CodeLanguage]. The same happens if two open nodes have the same name, or if a node has the name of a node
// that can still be undone.
//
// The engine commits all of an answer at once, together with the cause that it answers. To
// add or drop thousands of nodes, give several answers, with More.
type Growth struct {
	Events []Event    // lines for the language's history, in order
	Untold int64      // number of events left out because the question was quiet; the engine numbers them all the same
	Steps  int64      // steps that the answer took, such as states entered, for the limits of the run; 0 counts as 1
	Memory atom.Value // what the flow remembers; nil keeps the present Memory
	Outer  atom.Value // from a child: what the run's own flow remembers; nil keeps it
	Listen bool       // from the run's own flow: if no node is open, the run waits for a message
	// Drop names open nodes of this flow. The engine cancels them and does not ask about their ends.
	Drop     []string
	DropNext int // drop so many open nodes of this flow, the oldest first, but none that this answer adds
	// Leave is like Drop, for Nested nodes, but their runs continue. It applies after Add, and also if the answer ends
	// the flow.
	Leave []string
	Add   []Spec     // nodes to add; each starts as soon as it can
	Again *Again     // for Failed, JoinFailed and Reopened: try the node again
	Note  atom.Value // for Taken and Called: the node's new note; nil keeps the present one
	Undo  *Undoing   // undo this before the flow continues; not together with End, More or Listen
	End   *End       // end the flow; the engine cancels its open nodes
	// More, if not nil, makes the engine commit this answer and then ask again with More as Note. Only Overdue
	// comes before that.
	More   atom.Value
	Labels map[string]string // labels of the run to set; an empty value removes a label
	// Person, from the run's own flow, says that a person must decide how the run continues, and its Message says about
	// what. Meanwhile the run is listed among those that need a person. It does not stop: the language hears what the
	// person has decided by a message or a call. The end of the run, or a Person without a Message, ends this.
	Person *atom.Failure
	// Send has messages to runs. The engine drops a message to a run that does not exist, unless it has a Receipt.
	Send     []Message
	Out      []Message // to targets outside the database, in order for each target
	Deadline time.Time // for Begin and Reopened, of the run's own flow: the time of Overdue; zero is never
	// Reply is for a Cause with Call: the caller receives it after the commit of this answer.
	Reply atom.Value
	// Refuse is for a Cause with Call: the caller receives it as an error. The run does not change: the engine ignores
	// the rest of the answer, and a token stays as it was.
	Refuse atom.Value
	// GiveUp names open nodes of this flow that have a Token. The next heartbeat of their workers returns that the
	// language wants the task given up. The workers decide whether they do.
	GiveUp []string
}

// Again asks for another attempt of the node that failed. In the answer to [Reopened] it starts the node over, as a
// new incarnation. But a Fork continues then: its children that had succeeded stay, and the engine reopens the others.
type Again struct {
	After time.Duration // how long to wait before the attempt
	Token string        // Work, Nested: the new token; "" is none
	Child *Child        // Nested: the run to begin this time; nil is the same as before
	Note  atom.Value    // the node's new note; nil keeps the present one
	Input atom.Value    // Work, Nested: the new input; Fork: the new Shared of the group; nil keeps the present one
}

// An Undoing selects the work of a flow that is undone before the flow continues. The
// engine undoes the work in reverse order. Then it asks the language with the cause
// [Undone], or [UndoFailed] if an undo failed. Until then, the engine asks the
// language nothing else about the flow. The nodes to undo must have ended, or the
// same answer must drop them. A flow never undoes the work of other flows, nor work
// before a pivot.
type Undoing struct {
	Under string     // name of a node: undo only this node and everything inside it; "" is the whole flow
	To    string     // name of a node: undo only what was done after it; "" is no limit
	Note  atom.Value // the engine returns it with the cause
}

// An End is how a growing flow ends: with Failure if it is set, and otherwise successfully with Value.
type End struct {
	Value     atom.Value    // result of the flow, if Failure is nil
	Failure   *atom.Failure // why the flow failed; nil if it succeeded
	TimedOut  bool          // with Failure, of the run's own flow: its deadline passed
	Cancelled bool          // with Failure, of the run's own flow: the run was cancelled
	Note      atom.Value    // of a child: further data for its parent, see [Cause]
	// Reopen is, with Failure, what the language needs to continue if the run is reopened, see [Reopener]. If it is nil,
	// and the failure of a node caused this end, the engine reopens that node.
	Reopen atom.Value
	// Successor is, without Failure, of the run's own flow: another run continues the work of this one. The commit that
	// ends this run creates it. It may have the key of this run. The parent of this run waits for the successor as it
	// did for this run, and learns only how the last run ended. If the successor cannot be created, the flow fails as a
	// Nested node fails, see [Child]. Without an ID, the engine chooses a new
	// one. Detached and Reopen of the Child, and Value, are not used.
	Successor *Child
}

// A RunEnd is how a run ended. The numbers are stored.
type RunEnd uint8

// How a run that another run waits for or asks about has ended.
const (
	RunOpen      RunEnd = iota // it has not ended, or how is not known
	RunSucceeded               // it succeeded
	RunFailed                  // it failed
	RunTimedOut                // its deadline passed
	RunCancelled               // an operator, another run or its own language cancelled it
)

// String returns the end's name.
func (e RunEnd) String() string {
	return [...]string{
		RunOpen: "open", RunSucceeded: "succeeded", RunFailed: "failed", RunTimedOut: "timed out",
		RunCancelled: "cancelled",
	}[e]
}

// An Event is one line of a language's own history, for example one of AWS's
// history events. The engine numbers the events of a run from 1, without gaps, and
// commits them together with the states that they describe.
type Event struct {
	Type    string     // a name that the language defines
	Prev    int64      // number of the event that led to this one; 0 is none
	Name    string     // the node or state, for people; may be ""
	Details atom.Value // an object with the small members; may be nil
	Key     string     // the member of Details whose value is Body; "" if there is none
	Body    atom.Value // the one value that may be large: Ebb stores it once and refers to it
}

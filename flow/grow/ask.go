package grow

import (
	"time"

	"github.com/ebbflow/ebb/atom"
)

// A RunInfo describes a run to its language.
type RunInfo struct {
	ID         string     // id of the run
	Flow       string     // name of the flow's definition
	Definition string     // hash of the stored definition that the run was begun on; "" for none
	Started    time.Time  // when the run was begun
	Input      atom.Value // the input that the run was started with
	Attributes atom.Value // attributes that the caller set for the language, such as AWS names; may be nil
	Key        string     // key of the run, see engine.Key; "" if it has none
	Continues  string     // id of the run that this run continues, see [End]; "" for none
	Reopens    int        // how often the run was reopened after it had ended, see [Reopener]
	Reopened   time.Time  // when that was last; zero if never
}

// An Ask is one question to a language.
type Ask struct {
	Run    *RunInfo   // the run that the question is about
	Path   string     // path of the growing flow that the engine asks about; "" is the run's own
	Index  int        // index of the flow within its group, from 0; -1 for the run's own
	Shared atom.Value // for a child: what its group shares, see [Group]
	// Memo lets the language of a child keep what it computed from Shared for the next question. The engine may
	// set it to nil, or empty it, at any time.
	Memo   *any
	Memory atom.Value    // the Memory that the last Growth of this flow left
	Outer  atom.Value    // for a child: the current Memory of the run's own flow
	Cause  Cause         // what happened
	Now    time.Time     // when it happened; a language knows no other time
	Event  int64         // number of the run's next [Event], from 1
	Quiet  bool          // the engine discards events: the answer may count them instead, see [Growth.Untold]
	Random func() uint64 // a source of random bits for this answer
	Token  func() string // returns a new token for [Spec.Token], which cannot be guessed

	// Interrupted reports whether the engine does not need the answer any more: the run is
	// to stop, or has received a command, for example. A language that computes for long
	// must call Interrupted every few thousand steps, and return at once if it is true. The
	// engine then ignores the answer, and asks the same question again when the run
	// resumes. Interrupted is nil if nothing interrupts; see [Ask.Done].
	Interrupted func() bool

	// Recall returns the outcome of an earlier or current node of this flow, by the name of
	// the node. It returns false if there was no such node. With Recall, a language need not
	// remember the results of many nodes. Recall returns only state that is committed
	// before the answer or with it.
	Recall func(name string) (Past, bool)

	// Queue returns why no worker can ask for a queue that a [Spec] is to name. It is nil if any queue may be named.
	Queue func(name string) error
}

// Done reports whether the engine does not need the answer any more, see Interrupted.
func (a *Ask) Done() bool { return a.Interrupted != nil && a.Interrupted() }

// A Past is a node of a growing flow as the store has it now: its input, and how it ended. [Ask.Recall] returns it.
type Past struct {
	Open           bool          // the node has not ended, or the language has not been asked about its end
	Input          atom.Value    // the node's input
	Note           atom.Value    // the node's note
	Result         atom.Value    // nil unless the node succeeded
	Failure        *atom.Failure // nil unless the node failed; also nil if it was cancelled
	Started, Ended time.Time     // of the last attempt; zero if there was none, or if it was cancelled before it began
}

// CauseKind is the kind of a cause.
type CauseKind uint8

// What causes a question to a language.
const (
	Begin  CauseKind = iota // the flow begins with Input
	Ended                   // the atom Name succeeded with Result
	Failed                  // the atom Name failed with Failure
	Joined                  // the group Name succeeded, see [Group]; Results are in the order of the children
	// JoinFailed means that the group Name failed. The engine has ended its open children.
	JoinFailed
	// Overdue means that the flow's deadline has passed, and that the engine has cancelled its open nodes. The runs of
	// Nested nodes in Leave continue; the engine cancels the others with the answer.
	Overdue
	Continue // the last answer asked for More
	// Stopped means that an operator or a parent ended the run, with Failure if a reason was given. The engine uses
	// only the Events, Labels, Send, Out and Leave of the answer, and the Detached runs of its Add.
	Stopped
	// Told means that the run received a message: Message is its kind, Name its name, Result its body. The flow whose
	// path the message has gets it, and without a path the run's own flow. Ebb drops a message to a flow that is not
	// open, and a language ignores messages that it does not expect.
	Told
	Taken // a worker took the work of the node Name, which has a token; Result is the name of the worker
	// Called means that the task of a node with a token returned Result, or that the run of a Nested node exists now;
	// see [Spec].
	Called
	Undone // the engine has undone what the flow asked for; Note is that of the [Undoing]
	// UndoFailed means that an undo failed with Failure. The engine has not undone what came before it, unless the
	// policy of the undo says so.
	UndoFailed
	// Reopened means that an operator continues a run that had ended without success. The language is a [Reopener].
	// The engine asks first about the flow, without a Name; Note is End.Reopen. Then it asks about each node that was
	// open when the flow ended, or whose failure ended it. If the answer has no [Again], the node stays ended.
	Reopened
	// Asked means that a caller asks the run's own flow, and waits for Growth.Reply or Growth.Refuse: Name is the name
	// of the call, Input its body. Engines call it with Server.Call of package engine.
	Asked
	// Receipt means that a message of the run was delivered, or cannot be. Name is the message's [Message.Receipt],
	// Note its note. Result is the id of the run that received the message, as a JSON string. If no run received it,
	// Failure has the reason, with the code [atom.CodeUndelivered]. Only the run's own flow gets a Receipt, once for
	// each such message, unless the run has ended.
	Receipt
)

// String returns the kind's name.
func (k CauseKind) String() string {
	return [...]string{
		Begin: "begin", Ended: "ended", Failed: "failed", Joined: "joined",
		JoinFailed: "join failed", Overdue: "overdue", Continue: "continue", Stopped: "stopped",
		Told: "told", Taken: "taken", Called: "called",
		Undone: "undone", UndoFailed: "undo failed", Reopened: "reopened", Asked: "asked", Receipt: "receipt",
	}[k]
}

// A Cause is the reason for a question to a language. Each field names the kinds that set it.
type Cause struct {
	Kind  CauseKind  // what happened
	Name  string     // the node's name, from its Spec; Asked: the name of the call
	Note  atom.Value // the node's note, or the note of More, of Undo or of End.Reopen
	Input atom.Value // Begin, Asked
	// Call is set if a caller waits for the answer: always for Asked; for Taken, Ended and Failed if the caller has the
	// node's Token. See Growth.Reply and Growth.Refuse. At Ended and Failed, [Ask.Recall] still returns the node as open.
	Call    bool
	Message MessageKind // Told: the kind of message
	From    string      // Told: id of the run that sent the message; "" if no run did
	// Run is set for Ended, Failed and Called of a Nested node if the cause is about the run itself. It is not set
	// for a task in its place, nor for the holder of the token.
	Run bool
	// End is, for Ended and Failed with Run set, how the run has ended.
	End RunEnd
	// Attempt is, for Ended, Failed, Joined, JoinFailed, Taken, Called and Reopened, the number of the node's attempt,
	// from 1.
	Attempt int
	Result  atom.Value   // Ended, Told, Taken, Called, Receipt
	Results []atom.Value // Joined: the result of each child; nil for a child that did not succeed
	// Failure is for Failed, JoinFailed, Overdue, Stopped, UndoFailed and Receipt; for Reopened, of a node that had
	// failed.
	Failure *atom.Failure
	Index   int        // JoinFailed: index of the child whose failure made the group fail
	EndNote atom.Value // Joined: the End.Note of the child that ended last; JoinFailed: of the one that failed
	// Abandoned is, for Stopped, whether nothing of the run is undone.
	Abandoned bool
	// Aborted has, for JoinFailed, Overdue and Stopped, the paths of the open nodes that the engine ended, in the
	// order in which they were added. Accepted has those of them that had ended before: another party ended them, or
	// their call, or its time was up. So they have a result or a failure: see [Ask.Recall], with the path within the flow
	// as the name.
	Aborted, Accepted []string
}

// An UndoAsk asks a language for the input of the task that reverts a node, see [Undo].
type UndoAsk struct {
	Run  *RunInfo                 // the run that is undone, wholly or in part
	Path string                   // path of the node that is reverted
	Spec *Spec                    // that node, with its input and note
	Did  atom.Outcome[atom.Value] // how its execution ended
	Now  time.Time                // when it is asked; a language knows no other time

	Interrupted func() bool // as that of an [Ask]; nil where nothing interrupts
}

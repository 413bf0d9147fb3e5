package flow

import (
	"time"

	"github.com/ebbflow/ebb/atom"
)

// A Language decides how a flow grows while it runs. The engine asks it once for
// each [Cause]. The language answers with a [Growth], which the engine commits
// before any effect depends on it. The engine never repeats a question that was
// answered. So a changed language, random numbers or the time cannot change the
// decisions that a run has made.
//
// A Language is a pure value: it does no I/O, reads no clock and starts no
// goroutine. Between calls it keeps no state except in memories and notes. Any
// number of goroutines may ask it at once.
type Language interface {
	// Grow answers one cause. The run does nothing else meanwhile. A language that
	// computes for longer must answer with [Growth.More], or call [Ask.Interrupted]
	// now and then. Between two answers, and at each such call, the run handles
	// commands and stop requests. If an answer ignores them for as long as
	// engine.WithGrace says, the engine gives it up. A panic is the failure of the
	// flow that was asked. If the process dies before the answer is committed, the
	// engine asks the same question again.
	Grow(ask *Ask) Growth
	// Undo returns the input of the task that undoes a node, which has run or may
	// have run. It is asked before each attempt of the undo. An error, or a panic,
	// is the failure of that attempt.
	Undo(ask *UndoAsk) (atom.Value, error)
}

// Numbering is a [Language] that never gives two nodes of a flow the same name, as it
// numbers those that recur. So the engine need not check the names.
type Numbering interface {
	Language
	// NumbersNodes marks the language and is not called.
	NumbersNodes()
}

// A SizedLanguage is a [Language] that knows the size of its definition. The engine caches compiled definitions up to a
// total size, and counts this size.
type SizedLanguage interface {
	Language
	// Size returns the size of the definition's text in bytes.
	Size() int
}

// A TaskLanguage is a [Language] that has tasks of its own beside those of the engine.
type TaskLanguage interface {
	Language
	// Task returns the body of the task of that name, see [Spec]; false if it is a task of the engine.
	Task(name string) (atom.Body, bool)
}

// A RunInfo describes a run to its language.
type RunInfo struct {
	ID         string     // id
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
	// Aborted has, for JoinFailed, Overdue and Stopped, the paths of the open nodes that the engine ended, in the
	// order in which they were added.
	Aborted []string
}

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

// Kind is what a node of a growing flow does.
type Kind uint8

// The kinds of the nodes that a language adds to its flow, see [Spec].
const (
	Work   Kind = iota // runs a registered task
	Timer              // ends at a given time
	Fork               // runs a group of child flows and joins them
	Nested             // starts another run, and ends as that run does
)

// String returns the kind's name, as it is stored.
func (k Kind) String() string {
	return [...]string{Work: "work", Timer: "timer", Fork: "fork", Nested: "nested"}[k]
}

// A Spec describes a node to add. It is data, never a closure, so Ebb can store it
// and another process can start the node. Each field names the kinds that use it.
type Spec struct {
	Name string `json:"name"` // unique within the flow
	Kind Kind   `json:"kind"` // kind of the node
	// Work: name of the task, such as exec:./book; Nested: a task that may replace the run
	Task  string     `json:"task,omitempty"`
	Input atom.Value `json:"-"` // Work: the task's input; Nested: the run's input, unless Child has one
	Note  atom.Value `json:"-"` // the engine returns it with every cause about the node
	// Timeout limits one attempt of Work, and of Nested with a Token. With a Token, the attempt lasts until the token
	// is used. 0 is without limit.
	Timeout time.Duration `json:"timeout,omitempty"`
	// Heartbeat limits the time between heartbeats of Work with a Token. For a worker it begins when the worker takes
	// the work. 0 is without limit.
	Heartbeat time.Duration `json:"heartbeat,omitempty"`
	ToStart   time.Duration `json:"toStart,omitempty"` // Work for workers: see [atom.ScheduleToStart]; 0 is without limit
	ToClose   time.Duration `json:"toClose,omitempty"` // Work for workers: see [atom.StartToClose]; 0 is without limit
	Due       time.Time     `json:"due,omitzero"`      // Timer: when it ends; Work, Fork: the earliest start
	// Limits says that a Timer limits the time of other work, and is not a wait: see engine.WithoutWaits.
	Limits bool `json:"limits,omitempty"`
	// Undo says how to undo Work or Nested; nil means that there is nothing to undo. If a Nested node has an Undo
	// without a Task, its run is undone as a whole, unless Stays is set.
	Undo *Undo `json:"undo,omitempty"`
	// Token lets its holder end an attempt of Work or Nested, see [Ask]. The call of Task only begins the attempt.
	Token string `json:"token,omitempty"`
	// Report makes the engine ask with [Called] when the Task of a node with a Token returns, or when the run of a
	// Nested node exists.
	Report bool `json:"report,omitempty"`
	// Ends makes the result of the Task end the attempt of a node with a Token. With [atom.ErrDeferred] the result is
	// reported instead.
	Ends  bool   `json:"ends,omitempty"`
	Queue string `json:"queue,omitempty"` // with a Token and without a Task: the queue in which workers find the work
	// Priority orders the work of a Queue: higher numbers first. Workers find work of the same priority in the order in
	// which it was committed, and work of one answer in the order of Growth.Add.
	Priority int32  `json:"priority,omitempty"`
	Group    *Group `json:"group,omitempty"` // Fork
	Child    *Child `json:"child,omitempty"` // Nested
	Pivot    bool   `json:"pivot,omitempty"` // Work: after it succeeds, neither it nor what ended before it is undone
}

// Undo names the task that reverts the work of a node.
type Undo struct {
	Task   string            `json:"task"`            // name of the task
	Note   string            `json:"note,omitempty"`  // the engine passes it with the [UndoAsk]
	Policy atom.RevertPolicy `json:"policy,omitzero"` // how often to try it, and what follows if it fails
	// Stays says that nothing reverts the node, and that it may have an effect. When the engine undoes the node, it
	// calls nothing, and records that what the node did stays done. Task is empty then.
	Stays bool `json:"stays,omitempty"`
}

// Reverts reports whether the node can be undone: an Undo is there that reverts its work.
func (s *Spec) Reverts() bool { return s.Undo != nil && !s.Undo.Stays }

// An UndoAsk asks a language for the input of the task that reverts a node, see [Undo].
type UndoAsk struct {
	Run  *RunInfo                 // the run
	Path string                   // path of the node that is reverted
	Spec *Spec                    // that node, with its input and note
	Did  atom.Outcome[atom.Value] // how its execution ended
	Now  time.Time                // the only time there is

	Interrupted func() bool // as that of an [Ask]; nil where nothing interrupts
}

// A Group is a set of child flows of one kind that run side by side. The engine
// creates a child when a slot is free, and joins the children in the order of their
// index. The group ends well if Need children have ended well, or if all children have
// ended and at most Tolerate have failed. It fails with the first failure that makes
// this impossible. The engine then ends the other children: it cancels their atoms and
// waits for them, so that their work can be undone.
type Group struct {
	Count    int `json:"count"`              // number of children
	Slots    int `json:"slots,omitempty"`    // how many run at once; 0 is all
	Need     int `json:"need,omitempty"`     // how many must succeed for the group to succeed early; 0 is all
	Tolerate int `json:"tolerate,omitempty"` // how many may fail
	// Do not wait for children that are ended; they are still undone with the run
	Abandon bool       `json:"abandon,omitempty"`
	Shared  atom.Value `json:"-"` // every question about a child has it
}

// A Child is a run that another run begins. The commit that begins the node also
// creates the row of the run, so neither exists without the other. If a run with this
// ID exists already, the node fails with [atom.CodeRunExists]. If the engine's catalog
// does not know the flow, the node fails with [atom.CodeNoFlow].
type Child struct {
	// Of the run; "" is the parent's id, a slash and the node's path
	ID string `json:"id,omitempty"`
	// Key of the run, see engine.Key; "" for none. If an open run holds it, the node fails with [atom.CodeKeyTaken].
	Key        string            `json:"key,omitempty"`
	Flow       string            `json:"flow"`                 // name of the flow
	Definition string            `json:"definition,omitempty"` // hash of the stored definition
	Structure  string            `json:"structure,omitempty"`  // of a flow of the program: its [Plan.Hash]
	Labels     map[string]string `json:"labels,omitempty"`     // labels of the run
	Attributes atom.Value        `json:"attributes,omitempty"` // for the language, see [RunInfo]
	// Detached runs are neither awaited nor undone: the node ends with the id of the run, or by its Token.
	Detached bool       `json:"detached,omitempty"`
	Input    atom.Value `json:"input,omitempty"` // of the run; nil is the node's
	// Reopen makes the engine reopen the run with this ID, if this run has begun it and it did not succeed. If it
	// succeeded, the node ends with its output. If it cannot be reopened, the node fails as that run did.
	Reopen bool `json:"reopen,omitempty"`
}

// A MessageKind says what a message brings to a run. The engine and the stores have kinds of their own beside these.
type MessageKind string

// The kinds of messages that any process may send to a run.
const (
	MessageSignal MessageKind = "signal" // Name is the name of the signal, Body its value
	MessageEvent  MessageKind = "event"  // Body is a CloudEvent in its JSON form
)

// A Message is sent by a flow: to another run through that run's inbox, or to a target
// outside the database through the outbox.
type Message struct {
	To    string      // id of the run; or the target, such as a URL; with ToKey it may be ""
	ToKey string      // the open run with this key, see engine.Key; with To, only if it is that run
	Kind  MessageKind // kind of the message
	Name  string      // name of the signal or event
	Key   string      // the receiver drops a second message with the same key; "" is a new, unique key
	Body  atom.Value  // the content
	// Receipt, if not "", makes the engine ask the sender once what became of the message, see [Receipt]. A run has
	// received a message when the answer of its language, or the atom that waited for it, is committed.
	Receipt string
	Note    atom.Value // with Receipt: the engine returns it with the cause
}

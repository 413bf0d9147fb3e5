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
// numbers those that recur. The engine need not look whether it did.
type Numbering interface {
	Language
	NumbersNodes()
}

// A Run describes a run to its language.
type Run struct {
	ID         string
	Flow       string     // name of the flow's definition
	Definition string     // hash of the stored definition that the run was begun on; "" for none
	Started    time.Time  // when the run was begun
	Input      atom.Value // the input that the run was started with
	Attributes atom.Value // attributes that the caller set for the language, such as AWS names; may be nil
}

// An Ask is one question to a language.
type Ask struct {
	Run    *Run
	Path   string        // path of the growing flow that is asked; "" is the run's own
	Index  int           // which child of its group the flow is, from 0; -1 for the run's own
	Shared atom.Value    // for a child: what its group shares, see [Group]
	Memo   *any          // for a child: where the language may leave what it has made of Shared, for the next question; nil, or emptied, at any time
	Memory atom.Value    // what the last Growth of this flow left as Memory
	Outer  atom.Value    // for a child: the Memory of the run's own flow, as it is now
	Cause  Cause         // what happened
	Now    time.Time     // when it happened; the only time there is
	Event  int64         // the number that the next [Event] of the run gets, from 1
	Quiet  bool          // events are neither stored nor reported: the answer may leave them out and count them, see [Growth.Untold]
	Random func() uint64 // a source of random bits for this answer
	Token  func() string // makes a token for [Spec.Token], which cannot be guessed

	// Interrupted reports whether the engine does not need the answer any more: the run is
	// to stop, or has received a command, for example. A language that computes for long
	// must call Interrupted every few thousand steps, and return at once if it is true. The
	// engine then ignores the answer, and asks the same question again when the run
	// resumes. Interrupted is nil if nothing interrupts; see [Ask.Done].
	Interrupted func() bool

	// Recall returns the outcome of a node that this flow has had, by the name of the
	// node. It returns false if there was no such node. With Recall, a language need not
	// remember the results of many nodes. Recall returns only state that is committed
	// before the answer or with it.
	Recall func(name string) (Past, bool)
}

// Done reports whether the engine does not need the answer any more, see Interrupted.
func (a *Ask) Done() bool { return a.Interrupted != nil && a.Interrupted() }

// A Past is the outcome of a node.
type Past struct {
	Open           bool          // it has not ended, or its end is still to be asked about
	Input          atom.Value    // what it was given
	Note           atom.Value    // its note
	Result         atom.Value    // nil when it did not end well
	Failure        *atom.Failure // how it failed; nil for one that was cancelled
	Started, Ended time.Time     // of its last attempt; zero when there was none, or it was cancelled before
}

// CauseKind tells causes apart.
type CauseKind uint8

// The kinds of causes.
const (
	Begin      CauseKind = iota // the flow begins; Input holds what with
	Ended                       // the atom Name ended well; Result holds its result
	Failed                      // the atom Name failed; Failure says how
	Joined                      // the group Name ended well, see [Group]; Results are in order of index
	JoinFailed                  // the group Name failed, and those of its children that were open were ended
	Overdue                     // the flow's deadline passed; its open nodes were cancelled
	Continue                    // the last answer asked for More
	Stopped                     // the run is ended from outside; Failure has the reason, if one was given; of the answer only Events count
	Told                        // the run was told something: Message is how, Name what, Result what with. Only the run's own flow is
	Taken                       // a worker took the work of the node Name, which waits under a token; Result names the worker
	Called                      // the task of the node Name, which others are to end, has returned Result, or the run that it begins is there; see [Spec]
	Undone                      // what the flow wanted undone is; Note is what that left
	UndoFailed                  // an undo failed, Failure says how; what was done before it was left, unless its policy says otherwise
)

// String returns the kind's name.
func (k CauseKind) String() string {
	return [...]string{
		Begin: "begin", Ended: "ended", Failed: "failed", Joined: "joined",
		JoinFailed: "join failed", Overdue: "overdue", Continue: "continue", Stopped: "stopped",
		Told: "told", Taken: "taken", Called: "called",
		Undone: "undone", UndoFailed: "undo failed",
	}[k]
}

// A Cause is the reason for a question to a language.
type Cause struct {
	Kind    CauseKind
	Name    string        // the node's name, as its Spec gave it
	Note    atom.Value    // the node's note, or what More or Undo left
	Input   atom.Value    // Begin
	Message string        // Told: the kind of message, such as signal or event
	Run     bool          // Ended, Failed, Called of a Nested node: of the run itself, not of a task in its place, nor of the token's holder
	Attempt int           // Ended, Failed, Joined, JoinFailed, Taken, Called: which attempt of the node it is about, from 1
	Result  atom.Value    // Ended, Told, Taken, Called
	Results []atom.Value  // Joined: of each child; nil for one that did not end well
	Failure *atom.Failure // Failed, JoinFailed, Overdue, Stopped, UndoFailed
	Index   int           // JoinFailed: the child whose failure was one too many
	EndNote atom.Value    // Joined: the End.Note of the child that ended last; JoinFailed: of the one that failed
	Aborted []string      // JoinFailed, Overdue, Stopped: paths of the nodes that were open and have been ended, in the order they were added
}

// A Growth is a language's answer. With the zero Growth, the flow continues with the
// nodes that it has. If none of them can cause another question, the flow fails with
// [atom.CodeLanguage]. It fails with the same code if two open nodes have the same
// name, or if a node has the name of a node that can still be undone.
//
// The engine commits all of an answer at once, together with the cause that it answers.
type Growth struct {
	Events   []Event           // what to write into the language's history, in order
	Untold   int64             // how many events were left out because the question was quiet; they have numbers all the same
	Steps    int64             // how many steps the answer took, such as states entered, for the limits of the run; 0 counts as 1
	Memory   atom.Value        // what the flow is to remember; nil leaves it as it was
	Outer    atom.Value        // of a child: what the run's own flow is to remember; nil leaves it as it was
	Listen   bool              // the run's own flow may go on with nothing open: it waits to be told something, until its next answer
	Drop     []string          // names of open nodes of this flow whose ends are not wanted any more: they are cancelled, and not asked about
	DropOpen bool              // all nodes of this flow that are open are dropped, but not those that this answer adds
	Leave    []string          // like Drop, for Nested nodes: their runs go on
	Add      []Spec            // nodes to add; each starts as soon as it may
	Again    *Again            // for Failed and JoinFailed: the node is tried again
	Note     atom.Value        // for Taken and Called: the node's new note; nil leaves it as it was
	Undo     *Undoing          // to be undone before the flow goes on; without End, More and Listen
	End      *End              // the flow is over; its open nodes are cancelled
	More     atom.Value        // not nil: commit this answer, then ask again with this as Note, before all but Overdue
	Labels   map[string]string // labels of the run to set, by which it is found; one whose value is "" is taken away
	Send     []Message         // to other runs; a message to a run that does not exist is dropped
	Out      []Message         // to targets outside the database, in order for each target
	Deadline time.Time         // for Begin, of the run's own flow: when it is overdue; zero is never
}

// Again asks for another attempt of the node that failed.
type Again struct {
	After time.Duration // how long to wait first
	Token string        // Work, Nested: its new token; "" is none
	Child *Child        // Nested: the run that it begins this time; nil leaves it as it was
	Note  atom.Value    // the node's new note; nil leaves it as it was
	Input atom.Value    // Work, Nested: its new input; Fork: what the group shares from now on; nil leaves it as it was
}

// An Undoing selects the work of a flow that is undone before the flow continues. The
// engine undoes the work in reverse order. Then it asks the language with the cause
// [Undone], or [UndoFailed] if an undo failed. Until then, the engine asks the
// language nothing else about the flow. The nodes to undo must have ended, or the
// same answer must drop them. A flow never undoes the work of other flows, nor work
// before a pivot.
type Undoing struct {
	Under string     // name of a node: only what it did, and what was done inside of it; "" is all that the flow did
	To    string     // name of a node: only what was done after it; "" is all
	Note  atom.Value // given back with the cause
}

// An End is how a growing flow ends: with Failure, or well with Value.
type End struct {
	Value     atom.Value
	Failure   *atom.Failure
	TimedOut  bool       // with Failure, of the run's own flow: its deadline passed
	Cancelled bool       // with Failure, of the run's own flow: the run was asked to end
	Note      atom.Value // of a child: what its parent is told beside the result, see [Cause]
}

// An Event is one line of a language's own history, for example one of AWS's
// history events. The core numbers the events of a run without gaps from 1 and
// commits them with the states they tell about.
type Event struct {
	Type    string     // in the language's words
	Prev    int64      // number of the event it follows from; 0 when none
	Name    string     // the node or state it is about, for people; may be ""
	Details atom.Value // an object with what is small; may be nil
	Key     string     // member of Details that Body stands for; "" when there is none
	Body    atom.Value // the one value that may be large; stored once and referred to
}

// Kind is the kind of a grown node.
type Kind uint8

// The kinds of grown nodes.
const (
	Work   Kind = iota // runs a registered task
	Timer              // ends when its time has come
	Fork               // runs a group of child flows and joins them
	Nested             // begins a run of its own, and ends as that run does
)

// String returns the kind's name, as it is stored.
func (k Kind) String() string {
	return [...]string{Work: "work", Timer: "timer", Fork: "fork", Nested: "nested"}[k]
}

// A Spec describes a node to add. It is data, never a closure, so Ebb can store it
// and another process can start the node.
type Spec struct {
	Name      string        `json:"name"` // unique within its flow
	Kind      Kind          `json:"kind"`
	Task      string        `json:"task,omitempty"`      // Work: what the registry knows the task by, such as exec:./book; Nested: one that may do it instead
	Input     atom.Value    `json:"-"`                   // Work: what the task receives; Nested: the run's input, unless the Child has one
	Note      atom.Value    `json:"-"`                   // given back with every cause that is about the node
	Timeout   time.Duration `json:"timeout,omitempty"`   // Work, Nested with a Token: how long an attempt may take, with a Token until it is used; 0: any time
	Heartbeat time.Duration `json:"heartbeat,omitempty"` // Work, with a Token: how long nothing may be heard of an attempt, by workers once taken; 0: any time
	ToStart   time.Duration `json:"toStart,omitempty"`   // Work for workers: how long it waits to be taken, see [atom.ScheduleToStart]; 0: any time
	ToClose   time.Duration `json:"toClose,omitempty"`   // Work for workers: how long the worker that took it may take, see [atom.StartToClose]; 0: any time
	Due       time.Time     `json:"due,omitzero"`        // Timer: when it ends; Work, Fork: when it starts at the earliest
	Undo      *Undo         `json:"undo,omitempty"`      // Work, Nested: how to undo it; nil: not at all. Without a Task a Nested run is undone as a whole
	Token     string        `json:"token,omitempty"`     // Work, Nested: its holder ends the attempt, see [Ask]; the call of a Task only begins it
	Report    bool          `json:"report,omitempty"`    // with Token and Task: what the task returns is told as [Called]; Nested: that its run is there is
	Ends      bool          `json:"ends,omitempty"`      // with Token and Task: what the task returns ends the attempt, or with [atom.ErrDeferred] is told
	Queue     string        `json:"queue,omitempty"`     // with Token and without Task: where workers find the work
	Group     *Group        `json:"group,omitempty"`     // Fork
	Child     *Child        `json:"child,omitempty"`     // Nested
	Pivot     bool          `json:"pivot,omitempty"`     // Work: once it has succeeded, neither it nor what ended before it is undone
}

// Undo names the task that undoes another.
type Undo struct {
	Task   string            `json:"task"`            // what the registry knows it by
	Note   string            `json:"note,omitempty"`  // what the language wants to be told when it is asked for the input
	Policy atom.RevertPolicy `json:"policy,omitzero"` // how often it is tried, and what follows when it fails
}

// An UndoAsk asks a language for the input of an undo.
type UndoAsk struct {
	Run  *Run
	Path string // of the node that is undone
	Spec *Spec  // the node that is undone, with its input and note
	Did  atom.Outcome[atom.Value]
	Now  time.Time

	Interrupted func() bool // as that of an [Ask]; nil where nothing interrupts
}

// A Group is a set of child flows of one kind that run side by side. The engine
// creates a child when a slot is free, and joins the children in the order of their
// index. The group ends well if Need children have ended well, or if all children have
// ended and at most Tolerate have failed. It fails with the first failure that makes
// this impossible. The engine then ends the other children: it cancels their atoms and
// waits for them, so that their work can be undone.
type Group struct {
	Count    int        `json:"count"`              // how many children
	Slots    int        `json:"slots,omitempty"`    // how many at once; 0 is all
	Need     int        `json:"need,omitempty"`     // how many must end well for the group to end well before all have ended; 0 is all
	Tolerate int        `json:"tolerate,omitempty"` // how many may fail without the group's failing
	Abandon  bool       `json:"abandon,omitempty"`  // those that are ended are not waited for; what they may have done is still undone with the run
	Shared   atom.Value `json:"-"`                  // given to every child with every question
}

// A Child is a run that another run begins. The commit that begins the node also
// creates the row of the run, so neither exists without the other. If a run with this
// ID exists already, the node fails with [atom.CodeRunExists]. If the engine's catalog
// does not know the flow, the node fails with [atom.CodeNoFlow].
type Child struct {
	ID         string            `json:"id,omitempty"`         // of the run; "" is the parent's id and the node's path, with a slash between
	Flow       string            `json:"flow"`                 // name of its flow
	Definition string            `json:"definition,omitempty"` // hash of the stored definition it begins on
	Labels     map[string]string `json:"labels,omitempty"`
	Attributes atom.Value        `json:"attributes,omitempty"` // what its language is to know, see [Run]
	Detached   bool              `json:"detached,omitempty"`   // it is begun, not waited for, not undone: the node ends with its id, or by its Token
	Input      atom.Value        `json:"input,omitempty"`      // of the run; nil: the node's
}

// A Message is sent by a flow: to another run through that run's inbox, or to a target
// outside the database through the outbox.
type Message struct {
	To   string     // id of the run; or the target, such as a URL
	Kind string     // of the message, such as signal or event
	Name string     // of the signal or event
	Key  string     // a message that comes under a key again is dropped; "" makes a key that no other message has
	Body atom.Value // what with
}

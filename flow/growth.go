package flow

import (
	"time"

	"github.com/ebbflow/ebb/atom"
)

// A Language decides, in a flow that grows while it runs, what comes next. It
// is asked once for each [Cause] and answers with a [Growth], which the engine
// commits before any effect rests on it: what was answered is never asked
// again, so neither a changed language, nor random numbers, nor the time can
// bend a run in flight.
//
// A Language is a pure value: it does no I/O, reads no clock, starts no
// goroutine and keeps nothing between calls but what it puts into memories and
// notes. It may be asked by any number of goroutines at once.
type Language interface {
	// Grow answers one cause. It must return within the engine's budget of
	// time; a language that computes long answers with [Growth.More].
	Grow(ask *Ask) Growth
	// Undo returns the input of the task that undoes what spec's task did, or
	// may have done. It is asked when the undoing begins.
	Undo(ask *UndoAsk) (atom.Value, error)
}

// A Run is what a language may know about the run it is asked in.
type Run struct {
	ID         string
	Flow       string     // name of the flow's definition
	Started    time.Time  // when the run was begun
	Input      atom.Value // what the run was started with
	Attributes atom.Value // what the starter wanted the language to know, such as AWS names; may be nil
}

// An Ask is one question to a language.
type Ask struct {
	Run    *Run
	Path   string        // path of the growing flow that is asked; "" is the run's own
	Index  int           // which child of its group the flow is, from 0; -1 for the run's own
	Shared atom.Value    // for a child: what its group shares, see [Group]
	Memory atom.Value    // what the last Growth of this flow left as Memory
	Cause  Cause         // what happened
	Now    time.Time     // when it happened; the only time there is
	Event  int64         // the number that the next [Event] of the run gets, from 1
	Random func() uint64 // a source of random bits for this answer
}

// CauseKind tells causes apart.
type CauseKind uint8

// The kinds of causes.
const (
	Begin      CauseKind = iota // the flow begins; Input holds what with
	Ended                       // the atom Name ended well; Result holds its result
	Failed                      // the atom Name failed; Failure says how
	Joined                      // every child of the group Name ended well; Results are in order of index
	JoinFailed                  // a child of the group Name failed, and the others were ended
	Overdue                     // the flow's deadline passed; its open nodes were cancelled
	Continue                    // the last answer asked for More
	Stopped                     // the run is ended from outside, Failure says why if anyone did; of the answer only Events count
)

// String returns the kind's name.
func (k CauseKind) String() string {
	return [...]string{
		Begin: "begin", Ended: "ended", Failed: "failed", Joined: "joined",
		JoinFailed: "join failed", Overdue: "overdue", Continue: "continue", Stopped: "stopped",
	}[k]
}

// A Cause is what a language is asked about.
type Cause struct {
	Kind    CauseKind
	Name    string        // the node's name, as its Spec gave it
	Note    atom.Value    // the node's note, or what More left
	Input   atom.Value    // Begin
	Attempt int           // Ended, Failed, Joined, JoinFailed: which attempt of the node ended, from 1
	Result  atom.Value    // Ended
	Results []atom.Value  // Joined
	Failure *atom.Failure // Failed, JoinFailed, Overdue, Stopped
	Index   int           // JoinFailed: which child failed
	EndNote atom.Value    // Joined: the End.Note of the child that ended last; JoinFailed: of the one that failed
	Aborted []string      // JoinFailed, Overdue, Stopped: paths of the nodes that were open and have been ended, in the order they were added
}

// A Growth is a language's answer. The zero Growth lets the flow go on with
// what it has; it is an error when nothing is left that could cause another
// question.
type Growth struct {
	Events   []Event    // what to write into the language's history, in order
	Memory   atom.Value // what the flow is to remember; nil leaves it as it was
	Add      []Spec     // nodes to add; each starts as soon as it may
	Again    *Again     // for Failed and JoinFailed: the node is tried again
	End      *End       // the flow is over; its open nodes are cancelled
	More     atom.Value // not nil: commit this answer, then ask again with this as Note
	Deadline time.Time  // for Begin: when the flow is overdue; zero is never
}

// Again asks for another attempt of the node that failed.
type Again struct {
	After time.Duration // how long to wait first
	Note  atom.Value    // the node's new note; nil leaves it as it was
	Input atom.Value    // Work: its new input; Fork: what the group shares from now on; nil leaves it as it was
}

// An End is how a growing flow ends: with Failure, or well with Value.
type End struct {
	Value    atom.Value
	Failure  *atom.Failure
	TimedOut bool       // with Failure: the flow ended because its deadline passed
	Note     atom.Value // of a child: what its parent is told beside the result, see [Cause]
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

// Kind says what a grown node does.
type Kind uint8

// The kinds of grown nodes.
const (
	Work  Kind = iota // runs a registered task
	Timer             // ends when its time has come
	Fork              // runs a group of child flows and joins them
)

// String returns the kind's name, as it is stored.
func (k Kind) String() string { return [...]string{Work: "work", Timer: "timer", Fork: "fork"}[k] }

// A Spec describes a node to be added: data, never a closure, so it can be
// stored and taken up by another process.
type Spec struct {
	Name      string        `json:"name"` // unique within its flow
	Kind      Kind          `json:"kind"`
	Task      string        `json:"task,omitempty"`      // Work: what the registry knows the task by, such as exec:./book
	Input     atom.Value    `json:"-"`                   // Work: what the task receives
	Note      atom.Value    `json:"-"`                   // given back with every cause that is about the node
	Timeout   time.Duration `json:"timeout,omitempty"`   // Work: how long an attempt may take; 0 is without limit
	Heartbeat time.Duration `json:"heartbeat,omitempty"` // Work: how long a deferred attempt may be silent; 0 is without limit
	Due       time.Time     `json:"due,omitzero"`        // Timer: when it ends; Work, Fork: when it starts at the earliest
	Undo      *Undo         `json:"undo,omitempty"`      // Work: how to undo it; nil when it cannot be
	Group     *Group        `json:"group,omitempty"`     // Fork
}

// Undo names the task that undoes another.
type Undo struct {
	Task string `json:"task"`           // what the registry knows it by
	Note string `json:"note,omitempty"` // what the language wants to be told when it is asked for the input
}

// An UndoAsk asks a language for the input of an undo.
type UndoAsk struct {
	Run  *Run
	Path string // of the node that is undone
	Spec *Spec  // the node that is undone, with its input and note
	Did  atom.Outcome[atom.Value]
	Now  time.Time
}

// A Group is a set of child flows of one kind that run side by side. They are
// made as slots free and joined in order of their index. The first that fails
// ends the others: their atoms are cancelled and waited for, so what they did
// can be undone.
type Group struct {
	Count  int        `json:"count"`           // how many children
	Slots  int        `json:"slots,omitempty"` // how many at once; 0 is all
	Shared atom.Value `json:"-"`               // given to every child with every question
}

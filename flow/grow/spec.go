package grow

import (
	"time"

	"github.com/ebbflow/ebb/atom"
)

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
	// Limits says that a Timer limits the time of other work, and is not a wait: see engine.WithWaitScale.
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
	// NoEffect says that Work or Nested without an Undo changes nothing outside the run: see [atom.NoEffect].
	NoEffect bool `json:"noEffect,omitempty"`
	Pivot    bool `json:"pivot,omitempty"` // Work: after it succeeds, neither it nor what ended before it is undone
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

// LeaveUndone records that nothing reverts the node, and whether it may have an effect. If the run undoes nothing at
// all, no view needs to say that the effect stays done.
func (s *Spec) LeaveUndone(effect, undoes bool) {
	s.NoEffect = !effect
	if effect && undoes {
		s.Undo = &Undo{Stays: true}
	}
}

// HasEffect reports whether the node may have an effect, which only its Undo reverts.
func (s *Spec) HasEffect() bool {
	return s.Undo != nil || (s.Kind == Work || s.Kind == Nested) && !s.NoEffect
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
	// Kept is for a language that decides, with Leave of its answer to [Stopped], which runs continue when its own run is
	// stopped. Without it, the engine cancels the run as soon as an ancestor is stopped.
	Kept bool `json:"kept,omitempty"`
	// Stop is, with Kept, the message that ends the run if its parent is ended from outside; nil if the parent leaves it.
	// The engine sends it to all runs below as soon as a message that Stops is sent to one above. The language sends it in
	// its turn, too.
	Stop *Message `json:"stop,omitempty"`
	// Reopen makes the engine reopen the run with this ID, if this run has begun it and it did not succeed. If it
	// succeeded, the node ends with its output. If it cannot be reopened, the node fails as that run did.
	Reopen bool `json:"reopen,omitempty"`
}

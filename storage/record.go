package storage

import (
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/states"
)

// InlineLimit is the size in bytes up to which a value is copied into each
// record that holds it. Larger ones live once in the run's payloads.
const InlineLimit = 256

// A Held value is a value in a record: either inline, or one of the run's
// payloads, which are immutable. The zero Held is no value.
type Held struct {
	Ref  int64      // number of the payload within the run, from 1; 0 when inline
	Data atom.Value // the value; filled in for payloads too when a store returns records
}

// A Run is one run of a flow: its head row, the place of its fence.
type Run struct {
	ID         string            // chosen by the caller that started it
	Flow       string            // name of its flow
	Definition string            // hash of the definition it began on and ends on; "" for flows that are only in code
	Structure  string            // structural hash of a compiled flow, to tell a changed one; a checkpoint may replace it
	Labels     map[string]string // for search; keys and values up to 256 B
	Parent     string            // id of the run that began it; "" when none
	Root       string            `json:",omitempty"` // id of the run at the head of its family: the ancestor that no run began; "" for that run
	Depth      int64             `json:",omitempty"` // how many runs began one another from Root to this run
	Trace      string            // traceparent of the caller that began it
	Job        string            // id of the job that asked for this run, see Store.Create; "" when none
	Secrets    Secrets           // what no view of the run may show; set when it is created, for good

	State   states.Flow
	Outcome Outcome // how it ended, or is about to: set as soon as it is decided, while the state is not yet an end
	Undo    Undone  // what became of what was done
	Hold    bool    // suspended on purpose: not to be taken up unless asked for
	Input   Held    // what it was begun with; a checkpoint may replace it
	Output  Held    // the result, once the outcome is Succeeded
	Failure *atom.Failure
	Attrs   atom.Value // what the starter wanted the flow's language to know

	Created, Started, Updated, Ended time.Time // zero when not yet

	Seq     int64      // commits so far; the guard of owner writes
	Entries int64      // history entries so far
	Events  int64      // language events so far
	Refs    int64      // payloads so far
	Growth             // how much it has done and written so far
	Undos   int64      // height of the undo stack
	Memory  atom.Value // frontier of the run's own growing flow; nil for other flows
	Lost    int64      // how often its owner died, each time within [LostWindow] of the time before

	Suspicion Suspicion `json:",omitzero"`

	Fence   int64     // raised by each Begin and Step
	ClaimID string    // of the present owner's claim
	Owner   string    // id of the owner; "" is none
	Wakeups int64     // raised by each message
	Due     time.Time // when an unowned run is to be taken up; zero: only when a message comes
}

// A Growth is how much a run has done and written so far, for the limits on that.
// Runs that were created before there was this begin at zero.
type Growth struct {
	Iterations int64 // steps of the run's language, and attempts of the atoms of its plan
	Waited     int64 // Iterations when the run last took in something that it had waited for
	Bytes      int64 // of history, payloads and records of grown atoms, as the engine counts them
}

// Outcome is how a run ended, or is about to end: a run that was cancelled or
// timed out says so while it is still being undone. Whether it has ended is said
// by its state alone.
type Outcome uint8

// The outcomes of runs.
const (
	Unfinished Outcome = iota
	Succeeded
	FailedOutcome
	TimedOut
	Cancelled
	Continued // it went on as another run
)

// Undone says how far the effects of a run were undone.
type Undone uint8

// What may become of what was done.
const (
	UndoNone   Undone = iota // nothing that ran could be undone, or the run succeeded
	UndoneAll                // all was undone
	UndonePart               // undone down to a point of no return, or as far as was asked for
	UndoFailed               // a revert failed
)

// An Atom is one node of a run: a task, a retry, a timer, a fork or a child
// flow. Its key is (run, path).
type Atom struct {
	Path        string // static atoms: their name; grown ones: Ship[3]/Pack#2
	Kind        AtomKind
	Incarnation int // how often a retry around it began it anew
	Attempt     int // how often this incarnation was tried
	// RevertAttempt is how often the revert of this incarnation has failed.
	RevertAttempt int
	State         states.Task
	Intention     states.Intention
	Live          bool // needed to go on with the run; others are kept to be shown and undone

	Spec   atom.Value // grown nodes: what they are (flow.Spec, JSON); nil otherwise
	Input  Held       // grown nodes: effective input; for forks what they share
	Note   Held       // grown nodes: what their language keeps with them; for child flows their memory
	Result Held
	Ended  EndMark // how the present attempt's execution ended; kept through reverting

	Failure       *atom.Failure
	RevertResult  Held
	RevertFailure *atom.Failure
	Tries         *atom.History // retries: what they decide by; of many tries the newest, see Reader.Tries
	Overflow      int64         // payload with the tries before those, see EncodeTries; 0 when there are none
	Progress      float64       // 0 to 1, as the task reported it
	Details       atom.Value    // of the progress

	Due       time.Time // when a wait, a timer or a time limit ends; zero when none
	StartedAt time.Time // begin of the present attempt
	EndedAt   time.Time // end of the present attempt
}

// AtomKind is the kind of node that a record is about.
type AtomKind uint8

// The kinds of nodes.
const (
	KindTask AtomKind = iota
	KindRetry
	KindTimer
	KindFork
	KindFlow // a growing flow: a child of a fork, or one placed in a graph
	KindRun  // a run of its own
)

// EndMark says how the execution of an atom's present attempt ended. It
// survives reverting, so neither a reset nor a failed revert can make growth
// forget or repeat.
type EndMark uint8

// The end marks.
const (
	EndNone     EndMark = iota // not ended, or its end is not known
	EndValue                   // with a result
	EndFailure                 // with a failure
	EndHandled                 // with a failure that was handled
	EndDeferred                // not ended: another party ends it, by token or message
	EndUndoing                 // of a flow, not ended: what its result says is being undone first
)

// An Undo is one entry of a run's undo stack: a grown atom that can be undone.
type Undo struct {
	N    int64  // position in the stack, from 1 at the bottom
	Path string // of the atom, whose record says how to undo it
}

// EntryKind tells history entries apart.
type EntryKind uint8

// The kinds of history entries.
const (
	EntryFlow  EntryKind = iota // the run's own state changed
	EntryAtom                   // an atom's state changed
	EntryEvent                  // a line of the language's own history
)

// An Entry is one line of a run's history. Histories are only ever appended to.
type Entry struct {
	Seq  int64 // the core's number, without gaps from 1
	Kind EntryKind
	Time time.Time
	Path string // atom's path; for events the path or state they are about

	From, To    uint8 // EntryFlow: states.Flow; EntryAtom: states.Task
	Incarnation int
	Attempt     int
	Failure     *atom.Failure // what it failed with, when To is a failure

	Number  int64      // EntryEvent: the language's number, without gaps from 1
	Prev    int64      // EntryEvent: the number it follows from
	Type    string     // EntryEvent: in the language's words
	Details atom.Value // EntryEvent: an object; may be nil
	Key     string     // EntryEvent: member of Details that Body stands for
	Body    Held       // EntryAtom: the result; EntryEvent: the value under Key
}

// A TimerRow is a durable timer. Firing it twice is harmless: the process that drives the
// run checks whether the atom or the run still waits for the timer.
type TimerRow struct {
	Run         string
	Path        string // "" is the run's own deadline
	Incarnation int
	Kind        TimerKind
	Due         time.Time
}

// TimerKind is the purpose of a timer.
type TimerKind uint8

// The kinds of timers.
const (
	TimerWait     TimerKind = iota // a timer node
	TimerRetry                     // the wait before another try
	TimerDeadline                  // a flow's deadline
	TimerToken                     // a token's deadline or heartbeat
)

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

// Undone is what became of what a run had done.
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

// AtomKind says what kind of node a record is about.
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

// A Token is the right to end an atom from elsewhere.
type Token struct {
	ID          string // unguessable
	Run         string
	Path        string
	Incarnation int
	Attempt     int
	State       TokenState
	Deadline    time.Time     // when the atom fails if the token is still open; zero is never
	Heartbeat   time.Duration // how long it may be silent; 0 is without limit
	Beat        time.Time     // when it was last heard of
	Since       time.Time     // when it was put into its queue, or, by the store's clock, last taken; zero is before there was this

	ScheduleToStart time.Duration // how long its work may wait to be taken for the first time; 0 is without limit
	StartToClose    time.Duration // how long the worker that took it last may take; 0 is without limit

	Result  atom.Value    // what it was completed with
	Failure *atom.Failure // what it was failed with
	Queue   string        // under what name workers find the work; "" when they do not
	Work    atom.Value    // what the worker that takes it is told; dropped when the token ends; nil when the atom's record has it
	Worker  string        // the worker that took it last; "" when none did
	Take    int64         // how often it was taken: the number of that, by which its worker is known
	Lease   time.Time     // until when it is its worker's, by the store's clock; zero is for as long as the token is open
}

// TokenState is where a token is in its life.
type TokenState uint8

// The states of tokens.
const (
	TokenOpen TokenState = iota
	TokenCompleted
	TokenFailed
	TokenExpired // its deadline or heartbeat passed
	TokenGone    // its atom was cancelled or begun anew
)

// A TimerRow is a durable timer. Firing it twice is harmless: who serves the
// run looks whether what it was for is still waiting.
type TimerRow struct {
	Run         string
	Path        string // "" is the run's own deadline
	Incarnation int
	Kind        TimerKind
	Due         time.Time
}

// TimerKind says what a timer is for.
type TimerKind uint8

// The kinds of timers.
const (
	TimerWait     TimerKind = iota // a timer node
	TimerRetry                     // the wait before another try
	TimerDeadline                  // a flow's deadline
	TimerToken                     // a token's deadline or heartbeat
)

// A Message is durable input to a run, from a process that does not own it.
type Message struct {
	N           int64 // given by the store, rising within the run: the wakeup counter after this message incremented it
	Run         string
	Kind        string // token, event, signal, cancel, suspend, retry …
	Path        string // the atom it is for; "" is the run
	Incarnation int    // the incarnation it is for; a message for an older one is answered "gone"
	Name        string // of the event or signal
	Key         string // what makes a repeated message recognisable; "" when nothing does
	Body        atom.Value
	Failure     *atom.Failure // with what a token was failed; nil otherwise
	Sent        time.Time
}

// An Arrival says that a run has messages, and the value of its wakeup counter with
// the last of them.
type Arrival struct {
	Run     string
	Wakeups int64
}

// MessageTaken is the kind of the message that tells a run that a worker took the
// work of a token, see [Inbox]. Its Name is the token's id, its Path and
// Incarnation those of the atom, Body who took it, as a JSON string.
const MessageTaken = "taken"

// MessageRetaken is MessageTaken when it is not the first time.
const MessageRetaken = "retaken"

// MessageToken is the kind of the message that tells a run that a token was ended.
// Its Name is the token's id, its Path and Incarnation those of the atom; Body is
// the result, unless Failure says that it was failed.
const MessageToken = "token"

// MessageSignal is the kind of a message by which any process sends a signal to a run:
// Name says which, Body is what it carries.
const MessageSignal = "signal"

// An Outgoing is something a run sends out of the database: in order per run
// and target, at least once, under a stable id.
type Outgoing struct {
	N        int64  // given by the store, rising
	ID       string // the same however often it is sent
	Run      string
	Target   string // where to
	Body     atom.Value
	Attempts int
	NotUntil time.Time
	Parked   bool // given up until someone looks
	Error    string
}

// A Definition is the text a run was begun on. Runs end on the version they
// began on.
type Definition struct {
	Hash     string // of language and text
	Name     string
	Version  int64 // given by the store, rising for each name
	Language string
	Text     []byte
	Created  time.Time
}

// An Owner is a process that may own runs.
type Owner struct {
	ID      string
	Host    string
	PID     int
	Started time.Time
	Seen    time.Time // by the store's clock
	Alive   bool      // as far as the store can tell
}

// A Job is a posted request for a run. The process that claims it makes the run; from
// then on the job is the run's, and ends with it.
type Job struct {
	ID       string
	Run      string // id of the run that it wants
	Flow     string
	Version  int64
	Input    atom.Value
	Labels   map[string]string // what a process that claims it must offer
	Priority int
	State    states.Job
	NotUntil time.Time // when it may be claimed; zero is at once
	Created  time.Time
	Ended    time.Time // by the clock of the process that ended it; zero when it has not
	// RunLabels are labels of the run, beside those of what it needs.
	RunLabels map[string]string
	Trace     string // traceparent of the caller that posted it, and of the run; "" is none

	Epoch    int64     // raised by each claim, never reset
	ClaimID  string    // of the process that has claimed it; "" when none has, or its run has it
	Owner    string    // of the claim
	Lease    time.Time // until when the claim holds, by the store's clock; zero when its run has it
	Attempts int       // claims that came to nothing so far
	Failure  *atom.Failure
}

// NeedLabel begins the keys of those labels of a run that say what a process must
// offer to drive it: a run with the label "needs.gpu" = "a100" is due only to
// processes that offer "gpu" = "a100". The labels of a job become such labels of its
// run.
const NeedLabel = "needs."

package storage

import (
	"fmt"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/states"
)

// A Held value is a value in a record, inline or as a payload of the run. The zero Held means that there is no
// value.
type Held struct {
	Ref  int64      // number of the payload within the run, from 1; 0 means inline
	Data atom.Value // the value; in records that a store returns, it is filled in for payloads too
}

// A Run is the record of one run: what it was started with, its state, and which process drives it. Times are in UTC.
type Run struct {
	ID         string            // chosen by the caller that started the run
	Number     int64             `json:"-"` // set by the store; larger than those of stored runs that were created before
	Flow       string            // name of its flow
	Definition string            // hash of the definition, which the run keeps; "" for flows that exist only in code
	Structure  string            // hash of the structure of its flow; the engine compares it to detect a changed flow
	Labels     map[string]string // labels by which the run can be found; keys and values have at most 256 bytes
	Parent     string            // id of the run that started this one; "" if none did
	Root       string            `json:",omitempty"` // id of the topmost ancestor; "" if no run started this one
	Depth      int64             `json:",omitempty"` // number of ancestors
	Key        string            `json:",omitempty"` // key of the run; "" if it has none; does not change
	Continues  string            `json:",omitempty"` // id of the run whose work this run continues; "" if none
	Trace      string            // W3C traceparent that the run was started under; "" if there is none
	Job        string            // id of the job that asked for the run; "" if none did
	Secrets    Secrets           // values that views of the run must mask; does not change
	PlainKeys  bool              `json:",omitempty"` // value of [atom.Call.PlainKey] in its calls; does not change

	State   states.Flow   // state of the run
	Outcome Outcome       // how the run ends; set when that is decided, even while the run is still being undone
	Undo    Undone        // how much was undone
	Hold    bool          // true if an operator suspended the run: servers do not resume it
	Input   Held          // input of the run; a command may change it
	Output  Held          // result of the run, set if Outcome is Succeeded
	Failure *atom.Failure // why it failed, was cancelled, or is suspended; nil otherwise
	Attrs   atom.Value    // attributes that the caller passes to the flow's language, see engine.Attributes

	Created, Started, Updated, Ended time.Time // zero if the event has not happened

	Seq     int64      // number of commits; the store accepts only the next one
	Entries int64      // number of history entries
	Events  int64      // number of the language's events, including events that are only counted
	Refs    int64      // number of payloads
	Growth             // counters of work done and bytes written
	Undos   int64      // number of entries on the undo stack
	Memory  atom.Value // the language's memory between steps, or options of a planned flow's run; may be nil
	Lost    int64      // number of deaths of its owners, each within an hour of the previous one

	CrashLoop CrashLoop `json:",omitzero"` // whether the run may kill the processes that drive it

	Fence   int64     // rises when a process takes the run over; the store compares it before every owner write
	ClaimID string    // id of the current owner's claim; "" if no process drives the run
	Owner   string    // id of the process that drives the run; "" if none does
	Wakeups int64     // wakeup counter: rises with each message
	Due     time.Time // from when a process may resume the run; zero means only when a message arrives

	// Err is set in a list, if the record is damaged: why. Failure says it too, and what cannot be read is zero.
	Err error `json:"-"`
}

// A Growth counts how much a run has done and written since it was created. The engine compares it with
// engine.Limits.
type Growth struct {
	Iterations int64 // steps of the run's language, and attempts of the atoms of its plan
	Waited     int64 // value of Iterations when the run last resumed after a wait
	Bytes      int64 // bytes of history, payloads and records of grown atoms
}

// Outcome is how a run ends. The engine sets it when that is decided: a run that was cancelled is Cancelled while
// it is still being undone. Run.State tells whether the run has ended.
type Outcome uint8

// The outcomes of runs.
const (
	Unfinished    Outcome = iota // not decided yet
	Succeeded                    // every atom succeeded
	FailedOutcome                // an atom failed, and the failure was not handled
	TimedOut                     // the deadline of the run passed
	Cancelled                    // an operator, or the run that started it, cancelled it
	Continued                    // the run ended, and another run continues its work: Output is its id, a JSON string
)

// String returns the outcome as JSON and filters of runs have it, such as "timed_out".
func (o Outcome) String() string {
	if int(o) >= len(outcomes) {
		return fmt.Sprintf("Outcome(%d)", uint8(o))
	}
	return outcomes[o]
}

var outcomes = [...]string{
	Unfinished: "unfinished", Succeeded: "succeeded", FailedOutcome: "failed", TimedOut: "timed_out",
	Cancelled: "cancelled", Continued: "continued",
}

// Undone is how much of what a run did was undone.
type Undone uint8

// The values of Undone.
const (
	UndoNone   Undone = iota // nothing: the run did not fail, or none of its atoms can be reverted
	UndoneAll                // everything that can be reverted
	UndonePart               // a part: down to a pivot (atom.Pivot), or to the atom that an operator named
	UndoFailed               // a revert failed, and a person must decide, see [Run.NeedsPerson]
)

// String returns how much was undone as JSON and filters of runs have it, such as "partly".
func (u Undone) String() string {
	if int(u) >= len(undones) {
		return fmt.Sprintf("Undone(%d)", uint8(u))
	}
	return undones[u]
}

var undones = [...]string{UndoNone: "none", UndoneAll: "undone", UndonePart: "partly", UndoFailed: "failed"}

// An Atom is the record of one node of a run: a task, a retry, a timer, a fork or a child flow. The run's id and Path
// identify it.
type Atom struct {
	Path        string   // the atom's name in a compiled flow; in a growing flow, such as Ship[3]/Pack#2
	Kind        AtomKind // kind of node
	Incarnation int      // how often the atom was reset and started over, from 0
	Attempt     int      // attempts of this incarnation, counted from 1; 0 if it has not started
	// RevertAttempt is how often the revert of this incarnation failed.
	RevertAttempt int
	State         states.Task      // state of the node
	Intention     states.Intention // whether it is executed or reverted
	Undo          UndoMode         // what undoing the atom does
	Signal        string           // name of the signal that ends the atom, see [atom.Awaits]; "" if none does
	Live          bool             // the run needs the record to continue; others are kept for views and for undo

	Spec   atom.Value   // in a growing flow: the node's grow.Spec in JSON; nil otherwise
	Input  Held         // in a growing flow: the input; for a fork, the input that its children share
	Note   Held         // in a growing flow: data that the language keeps with the node
	Result Held         // what Execute returned
	Ended  grow.EndMark // how the latest execution ended; does not change while the atom is reverted

	Failure       *atom.Failure // of the latest failed attempt
	RevertResult  Held          // what Revert returned
	RevertFailure *atom.Failure // of the latest failed attempt to revert
	Tries         *atom.History // of a retry: its latest tries, see [Reader.Tries]; nil otherwise
	Overflow      int64         // of a retry: number of the payload with its earlier tries; 0 if there are none
	Progress      float64       // progress that the task reported, from 0 to 1
	Details       atom.Value    // details that the task reported with its progress
	Successor     string        // KindRun: id of the run that continues the run of the attempt; "" if none does
	RunEnd        grow.RunEnd   // KindRun in a growing flow: how the run of the attempt ended

	Due       time.Time // when its wait, timer or time limit ends; zero means never
	StartedAt time.Time // start of the latest attempt
	EndedAt   time.Time // end of the latest attempt; zero while it executes
}

// UndoMode is what undoing an atom does.
type UndoMode uint8

// What undoing an atom does.
const (
	UndoReverts UndoMode = iota // reverts it; also the mode of records of which it is not known
	UndoNothing                 // nothing: it has no effect
	UndoLeaves                  // nothing, though it may have an effect: what it did stays done
)

// AtomKind is the kind of a node.
type AtomKind uint8

// The kinds of nodes.
const (
	KindTask  AtomKind = iota // an atom.Task
	KindRetry                 // a retry controller, atom.Retry
	KindTimer                 // a wait
	KindFork                  // a set of child flows
	KindFlow                  // a growing flow: a child of a fork, or a node of a graph
	KindRun                   // a child run, with a record and an id of its own
)

// An Undo is one entry of the undo stack of a run of a growing flow. It names an atom that can be reverted.
type Undo struct {
	N    int64  // position in the stack, from 1 at the bottom
	Path string // path of the atom; its record defines how to revert it
}

// EntryKind is what an [Entry] reports.
type EntryKind uint8

// The kinds of history entries.
const (
	EntryFlow    EntryKind = iota // the run's own state changed
	EntryAtom                     // an atom's state changed
	EntryEvent                    // the language recorded an event of its own history, such as an event of AWS
	EntryStays                    // the undo has passed an atom that nothing reverts: what it did stays done
	EntryMayStay                  // as EntryStays, but whether the atom had its effect is not known
	EntryCommand                  // a command was applied or refused, or a message was read
)

// An Entry is one line of the history of a run. A history only grows. If a field's comment begins with a kind, the
// field is zero in entries of other kinds.
type Entry struct {
	Seq  int64     // number of the line: 1, 2 and so on
	Kind EntryKind // what the line reports
	Time time.Time // time of the commit
	Path string    // path of the atom; EntryEvent: path or name of the state; EntryCommand: what it names, or ""

	From, To    uint8 // state before and after; EntryFlow: a states.Flow; EntryAtom: a states.Task
	Incarnation int   // EntryAtom: of the atom
	Attempt     int   // EntryAtom: of the atom, or of its revert, counted from 1
	// Failure is why the run or the attempt of the atom failed; EntryCommand: why it was refused. If the atom went from
	// FAILURE to RETRYING, only the entry of the FAILURE has it.
	Failure *atom.Failure
	// Ended is when the attempt ended, if that was a millisecond or more before Time; else zero.
	Ended time.Time
	// Waited is how long the attempt that ended waited until the process had a free slot for it.
	Waited time.Duration

	Flow    string     // EntryEvent: path of the flow whose event it is, such as "Ship[3]"; "" is the run's own flow
	Number  int64      // EntryEvent: number of the event: 1, 2 and so on; EntryCommand: number of the message
	Prev    int64      // EntryEvent: number of the event that led to it; 0 means none
	Type    string     // EntryEvent: the language's type of the event; EntryCommand: the command, such as "cancel"
	Details atom.Value // EntryEvent: further fields, a JSON object; may be nil
	Key     string     // EntryEvent: name of the member of Details whose value is Body
	Body    Held       // EntryAtom: the result; EntryEvent: the value under Key
	Issuer  *Issuer    // EntryCommand: who gave the command
}

// A TimerRow is a durable timer of a run. A timer may fire twice. The process that drives the run therefore checks
// whether the atom or the run still waits for it.
type TimerRow struct {
	Run         string    // id of the run
	Path        string    // path of the atom that waits; "" for the deadline of the run
	Incarnation int       // incarnation of that atom
	Kind        TimerKind // purpose of the timer
	Due         time.Time // when it fires
}

// TimerKind is the purpose of a timer.
type TimerKind uint8

// The kinds of timers.
const (
	TimerWait     TimerKind = iota // a wait that the flow asks for
	TimerRetry                     // the pause before the next attempt
	TimerDeadline                  // the deadline of the run
	TimerToken                     // the deadline or heartbeat limit of a token
)

package states

import "github.com/looplab/fsm"

// Flow is the state of a flow, that is of a run as a whole.
type Flow uint8

// The states of a flow. The zero value is FlowPending. Numbers may be stored:
// they never change.
const (
	// FlowPending has never run, or was reset.
	FlowPending Flow = iota
	// FlowRunning is at work, or waits for something outside; the state does not
	// tell whether a process owns the run.
	FlowRunning
	// FlowSuccess has ended well.
	FlowSuccess
	// FlowFailure has ended badly and is not undone: there was nothing to undo,
	// undoing it was not wanted, or failed.
	FlowFailure
	// FlowReverted has failed, or was cancelled, and is undone.
	FlowReverted
	// FlowSuspending lets its running atoms end, and starts no others.
	FlowSuspending
	// FlowSuspended is on hold until a caller resumes it.
	FlowSuspended
	// FlowResuming is being read back from the store.
	FlowResuming
)

// Ended reports whether the flow is SUCCESS, FAILURE or REVERTED: it does
// nothing more until a user asks for it.
func (s Flow) Ended() bool { return s == FlowSuccess || s == FlowFailure || s == FlowReverted }

var flowNames = vocabulary{"flow", []string{
	"PENDING", "RUNNING", "SUCCESS", "FAILURE", "REVERTED", "SUSPENDING", "SUSPENDED", "RESUMING",
}}

// String returns TaskFlow's spelling, for example "SUSPENDED".
func (s Flow) String() string { return flowNames.text(uint8(s)) }

// MarshalText returns the same text as String, or ErrUnknown for a number that
// names no state.
func (s Flow) MarshalText() ([]byte, error) { return flowNames.marshal(uint8(s)) }

// UnmarshalText accepts what MarshalText wrote. Any other text is refused with
// ErrUnknown and a list of the legal ones, and leaves s as it was.
func (s *Flow) UnmarshalText(text []byte) error { return flowNames.unmarshal(text, (*uint8)(s)) }

func (s Flow) table() *table { return flowTable }

var onFlow = events[Flow](&flowNames)

var flowTable = compile(flowNames,
	rules{events: fsm.Events{
		onFlow("run", FlowRunning, FlowPending, FlowSuccess, FlowFailure, FlowSuspended),
		onFlow("succeed", FlowSuccess, FlowRunning, FlowSuspending),
		onFlow("fail", FlowFailure, FlowRunning, FlowSuspending),
		onFlow("reverted", FlowReverted, FlowRunning, FlowSuspending),
		onFlow("suspend", FlowSuspending, FlowRunning),
		onFlow("suspended", FlowSuspended, FlowSuspending, FlowResuming),
		onFlow("resume", FlowResuming, FlowRunning, FlowSuspending),
		onFlow("renew", FlowPending, FlowSuccess, FlowReverted),
		onFlow(Reset, FlowPending, FlowPending, FlowSuccess, FlowReverted),
	}},
	rules{
		feature: "retry --from",
		why: "a run that was undone in part goes on from what is still done; PENDING in between would say that " +
			"nothing is",
		events: fsm.Events{onFlow("run", FlowRunning, FlowReverted)},
	},
	rules{
		feature: "skip of a failed revert",
		why:     "when the skipped revert was the last one that stood in the way, the run is undone without running again",
		events:  fsm.Events{onFlow("reverted", FlowReverted, FlowFailure)},
	},
	rules{
		feature: "hold",
		why: "a run without an owner, or that revert --to has just taken back to its point, has no running atom to wait " +
			"for before it is suspended; and a hold may be lifted before the running atoms have ended",
		events: fsm.Events{
			onFlow("hold", FlowSuspended, FlowRunning),
			onFlow("run", FlowRunning, FlowSuspending),
		},
	},
	rules{
		feature: "cancel",
		why: "a run that is not running, and has nothing to undo or has undone it already, ends where it stands; " +
			"its deadline ends it likewise",
		events: fsm.Events{
			onFlow("cancel", FlowFailure, FlowPending, FlowSuspended),
			onFlow("reverted", FlowReverted, FlowSuspended),
		},
	},
	rules{
		feature: "reset of a failed run",
		why:     "TaskFlow refuses it, but only after it has reset the atoms; here a reset is all or nothing",
		events:  fsm.Events{onFlow(Reset, FlowPending, FlowFailure)},
	},
).ignoring(
	onFlow("suspend", FlowSuspending, FlowPending, FlowFailure, FlowSuccess, FlowSuspended, FlowReverted),
	onFlow("suspended", FlowSuspended, FlowPending, FlowFailure, FlowSuccess, FlowReverted),
	onFlow("resume", FlowResuming, FlowPending, FlowFailure, FlowSuccess, FlowSuspended, FlowReverted),
)

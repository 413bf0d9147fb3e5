package states

import "github.com/looplab/fsm"

// Flow is the state of a flow, that is of a run as a whole.
type Flow uint8

// The states of a flow. The zero value is FlowPending. Numbers may be stored:
// they never change.
const (
	// FlowPending has never run, or was reset.
	FlowPending Flow = iota
	// FlowRunning executes or waits. The state does not say whether a process owns
	// the run.
	FlowRunning
	// FlowSuccess has succeeded.
	FlowSuccess
	// FlowFailure has failed and is not undone: there was nothing to undo, or the
	// undo was not wanted or failed.
	FlowFailure
	// FlowReverted has failed, or was cancelled, and is undone.
	FlowReverted
	// FlowSuspending lets its running atoms end, and starts no others.
	FlowSuspending
	// FlowSuspended does nothing until a caller resumes it.
	FlowSuspended
	// FlowResuming is being loaded from the store.
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

// Known reports whether the number has a state.
func (s Flow) Known() bool { return int(s) < len(flowNames.names) }

// MarshalText returns the same text as String, or ErrUnknown for a number without a state.
func (s Flow) MarshalText() ([]byte, error) { return flowNames.marshal(uint8(s)) }

// UnmarshalText accepts the output of MarshalText. For any other text, it returns ErrUnknown with a list of the legal
// ones, and does not change s.
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
		why:     "a run that was undone in part continues from what is still done; PENDING would say that nothing is done",
		events:  fsm.Events{onFlow("run", FlowRunning, FlowReverted)},
	},
	rules{
		feature: "skip of a failed revert",
		why:     "if the skipped revert was the last one, the run is undone without running again",
		events:  fsm.Events{onFlow("reverted", FlowReverted, FlowFailure)},
	},
	rules{
		feature: "hold",
		why: "a run without an owner, or after revert --to, has no running atom to wait for; " +
			"a hold may be lifted before the running atoms have ended",
		events: fsm.Events{
			onFlow("hold", FlowSuspended, FlowRunning),
			onFlow("run", FlowRunning, FlowSuspending),
		},
	},
	rules{
		feature: "cancel",
		why:     "a cancel or deadline ends a run that is not running and has nothing to undo, or is undone already",
		events: fsm.Events{
			onFlow("cancel", FlowFailure, FlowPending, FlowSuspended),
			onFlow("reverted", FlowReverted, FlowSuspended),
		},
	},
	rules{
		feature: "reset of a failed run",
		why:     "TaskFlow refuses it after it has reset the atoms; in Ebb, a reset is all or nothing",
		events:  fsm.Events{onFlow(Reset, FlowPending, FlowFailure)},
	},
).ignoring(
	onFlow("suspend", FlowSuspending, FlowPending, FlowFailure, FlowSuccess, FlowSuspended, FlowReverted),
	onFlow("suspended", FlowSuspended, FlowPending, FlowFailure, FlowSuccess, FlowReverted),
	onFlow("resume", FlowResuming, FlowPending, FlowFailure, FlowSuccess, FlowSuspended, FlowReverted),
)

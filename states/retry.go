package states

import (
	"slices"

	"github.com/looplab/fsm"
)

// Retry is the state of a retry, the atom that decides what follows a failure in its
// flow. It shares its numbers and texts with Task, so Task(r) and
// Retry(t) are legal conversions that keep the meaning; the tables differ.
type Retry uint8

// The states of a retry. The zero value is RetryPending.
const (
	// RetryPending has not run, or was reset.
	RetryPending = Retry(TaskPending)
	// RetryRunning was started.
	RetryRunning = Retry(TaskRunning)
	// RetrySuccess has given a value to the current attempt of its flow.
	RetrySuccess = Retry(TaskSuccess)
	// RetryFailure could not give a value.
	RetryFailure = Retry(TaskFailure)
	// RetryReverting is being undone.
	RetryReverting = Retry(TaskReverting)
	// RetryReverted is undone, and its history is empty.
	RetryReverted = Retry(TaskReverted)
	// RetryRevertFailure could not be undone.
	RetryRevertFailure = Retry(TaskRevertFailure)
	// RetryIgnore was left out by a decider.
	RetryIgnore = Retry(TaskIgnore)
	// RetryRetrying has undone its flow and waits to run it again.
	RetryRetrying = Retry(TaskRetrying)
	// RetryCancelled was stopped, or not begun. Ebb's own.
	RetryCancelled = Retry(TaskCancelled)
)

var retryNames = vocabulary{"retry", atomNames}

// String returns TaskFlow's spelling, for example "RETRYING".
func (s Retry) String() string { return retryNames.text(uint8(s)) }

// MarshalText returns the same text as String, or ErrUnknown for a number without a state.
func (s Retry) MarshalText() ([]byte, error) { return retryNames.marshal(uint8(s)) }

// UnmarshalText accepts the output of MarshalText. For any other text, it returns ErrUnknown with a list of the legal
// ones, and does not change s.
func (s *Retry) UnmarshalText(text []byte) error { return retryNames.unmarshal(text, (*uint8)(s)) }

func (s Retry) table() *table { return retryTable }

var onRetry = events[Retry](&retryNames)

var retryTable = compile(retryNames, slices.Concat(
	[]rules{{events: slices.Concat(atomEvents, fsm.Events{
		onRetry("retry", RetryRetrying, RetrySuccess),
		onRetry("start", RetryRunning, RetryRetrying),
		onRetry(Reset, RetryPending, RetryPending, RetryRunning, RetrySuccess, RetryFailure,
			RetryReverting, RetryReverted, RetryRevertFailure, RetryIgnore, RetryRetrying),
	})}},
	atomExtensions,
)...)

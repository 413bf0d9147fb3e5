package states

import (
	"slices"

	"github.com/looplab/fsm"
)

// Task is the state of a task.
type Task uint8

// The states of a task. The zero value is TaskPending. Numbers may be stored:
// they never change. Retry shares them.
const (
	// TaskPending has not run, or was reset.
	TaskPending Task = iota
	// TaskRunning was started, and may have had effects.
	TaskRunning
	// TaskSuccess has succeeded.
	TaskSuccess
	// TaskFailure has failed, and may have had effects.
	TaskFailure
	// TaskReverting is being undone.
	TaskReverting
	// TaskReverted is undone.
	TaskReverted
	// TaskRevertFailure could not be undone.
	TaskRevertFailure
	// TaskIgnore was left out by a decider.
	TaskIgnore
	// TaskRetrying waits for its next attempt. Ebb's own.
	TaskRetrying
	// TaskCancelled was stopped or not started, because its result is not wanted any
	// more. It may have had effects. Ebb's own.
	TaskCancelled
)

var taskNames = vocabulary{"task", atomNames}

// String returns TaskFlow's spelling, for example "REVERT_FAILURE".
func (s Task) String() string { return taskNames.text(uint8(s)) }

// MarshalText returns the same text as String, or ErrUnknown for a number without a state.
func (s Task) MarshalText() ([]byte, error) { return taskNames.marshal(uint8(s)) }

// UnmarshalText accepts the output of MarshalText. For any other text, it returns ErrUnknown with a list of the legal
// ones, and does not change s.
func (s *Task) UnmarshalText(text []byte) error { return taskNames.unmarshal(text, (*uint8)(s)) }

func (s Task) table() *table { return taskTable }

var onTask = events[Task](&taskNames)

var taskTable = compile(taskNames, slices.Concat(
	[]rules{{events: slices.Concat(atomEvents, fsm.Events{
		onTask(Reset, TaskPending, TaskPending, TaskRunning, TaskSuccess, TaskFailure,
			TaskReverting, TaskReverted, TaskRevertFailure, TaskIgnore),
	})}},
	taskRetry,
	atomExtensions,
)...)

// taskRetry retries a task without a retry around it.
var taskRetry = []rules{
	{
		feature: "per-task retry",
		why: "after a failed attempt, the task waits in RETRYING until its timer fires, then starts again; " +
			"it can be reset like any other state",
		events: fsm.Events{
			onTask("retry", TaskRetrying, TaskRunning),
			onTask("start", TaskRunning, TaskRetrying),
			onTask(Reset, TaskPending, TaskRetrying),
		},
	},
	{
		feature: "retry of a language",
		why:     "Ebb asks a language (ASL's Retry) after it has stored the failure, so its task retries from FAILURE",
		events:  fsm.Events{onTask("retry", TaskRetrying, TaskFailure)},
	},
	{
		feature: "retry of a run of a language",
		why: "a flow or group inside the run that failed or was ended continues where it was; " +
			"PENDING would say that nothing in it is done",
		events: fsm.Events{onTask("reopen", TaskRunning, TaskFailure, TaskCancelled)},
	},
	{
		feature: "revert --to",
		why:     "a growing flow that was undone down to one of its atoms can be undone further",
		events:  fsm.Events{onTask("revert", TaskReverting, TaskReverted)},
	},
}

package states

import "github.com/looplab/fsm"

// atomNames are the texts of tasks and retries. Both share their numbers, because a scheduler keeps both in one array.
var atomNames = []string{
	"PENDING", "RUNNING", "SUCCESS", "FAILURE", "REVERTING", "REVERTED", "REVERT_FAILURE", "IGNORE",
	"RETRYING", "CANCELLED",
}

// atomEvents are TaskFlow's ten pairs, which hold for tasks and retries.
var atomEvents = fsm.Events{
	onTask("start", TaskRunning, TaskPending),
	onTask("ignore", TaskIgnore, TaskPending),
	onTask("succeed", TaskSuccess, TaskRunning),
	onTask("fail", TaskFailure, TaskRunning),
	onTask("revert", TaskReverting, TaskFailure, TaskSuccess),
	onTask("reverted", TaskReverted, TaskReverting),
	onTask("revert_failed", TaskRevertFailure, TaskReverting),
	onTask("renew", TaskPending, TaskReverted, TaskIgnore),
}

// atomExtensions are Ebb's pairs that hold for tasks and retries.
var atomExtensions = []rules{
	{
		feature: "delay between attempts",
		why: "a wait for the next attempt ends early if a sibling's failure is undone, a deadline passes, " +
			"or the attempt is not wanted any more",
		events: fsm.Events{
			onTask("revert", TaskReverting, TaskRetrying),
			onTask("fail", TaskFailure, TaskRetrying),
			onTask("cancel", TaskCancelled, TaskRetrying),
		},
	},
	{
		feature: "cancel",
		why: "if a sibling branch fails or a user cancels, Ebb stops running atoms and starts no others; " +
			"a stopped atom may have had effects, so it can be reverted",
		events: fsm.Events{
			onTask("cancel", TaskCancelled, TaskRunning, TaskPending),
			onTask("revert", TaskReverting, TaskCancelled),
			onTask(Reset, TaskPending, TaskCancelled),
		},
	},
	{
		feature: "resume of a run that is being undone",
		why: "after a crash, an atom that was RUNNING when a sibling failed is reverted without another execution; " +
			"TaskFlow does the same, but its table lacks the pair",
		events: fsm.Events{onTask("revert", TaskReverting, TaskRunning)},
	},
	{
		feature: "retry of a failed revert",
		why:     "a policy or a user retries the revert",
		events:  fsm.Events{onTask("revert", TaskReverting, TaskRevertFailure)},
	},
	{
		feature: "skip of a failed revert",
		why:     "a user who has cleaned up by hand declares the atom undone",
		events:  fsm.Events{onTask("skip", TaskReverted, TaskRevertFailure)},
	},
	{
		feature: "decider over an undone atom",
		why: "a decider leaves out all atoms after it, even one that a nested retry has reverted; " +
			"TaskFlow writes this without a check",
		events: fsm.Events{onTask("ignore", TaskIgnore, TaskReverted)},
	},
}

package states

import "github.com/looplab/fsm"

// atomNames are the texts of tasks and retries, which share their numbers: a
// scheduler keeps both in one array.
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
		why: "a wait for the next attempt ends early when a sibling's failure is to be undone, " +
			"when a deadline passes, or when the attempt is no longer wanted",
		events: fsm.Events{
			onTask("revert", TaskReverting, TaskRetrying),
			onTask("fail", TaskFailure, TaskRetrying),
			onTask("cancel", TaskCancelled, TaskRetrying),
		},
	},
	{
		feature: "cancel",
		why: "when a sibling branch has failed, or a user cancels, what runs is stopped and what was not begun never will " +
			"be; " +
			"what was stopped may have had effects, so it can be reverted",
		events: fsm.Events{
			onTask("cancel", TaskCancelled, TaskRunning, TaskPending),
			onTask("revert", TaskReverting, TaskCancelled),
			onTask(Reset, TaskPending, TaskCancelled),
		},
	},
	{
		feature: "resume of a run that is being undone",
		why: "an atom found RUNNING, whose sibling had failed before the crash, is reverted without being run again; " +
			"TaskFlow does so too, though its table lacks the pair",
		events: fsm.Events{onTask("revert", TaskReverting, TaskRunning)},
	},
	{
		feature: "retry of a failed revert",
		why:     "a policy, or a user, has the revert tried again",
		events:  fsm.Events{onTask("revert", TaskReverting, TaskRevertFailure)},
	},
	{
		feature: "skip of a failed revert",
		why:     "a user who has cleaned up by hand declares the atom undone",
		events:  fsm.Events{onTask("skip", TaskReverted, TaskRevertFailure)},
	},
	{
		feature: "decider over an undone atom",
		why: "a decider leaves out everything behind it, even an atom that a nested retry has reverted; " +
			"TaskFlow writes it without asking its table",
		events: fsm.Events{onTask("ignore", TaskIgnore, TaskReverted)},
	},
}

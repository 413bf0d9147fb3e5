// Package swf is the model of an execution of Amazon SWF, as a [grow.Language]. The decisions of its decider make the
// flow of an execution grow. The decision task, the activities, timers, children and lambda functions are the nodes
// of the flow, and its history is the events of the run.
//
// The package is pure: no clock, no I/O, no goroutine. It knows no domain and no registered type. The server passes
// the types that a batch of decisions names with the batch, see [Completion]. What a run remembers is proportional to
// what is open in it, never to its history.
//
// # How an execution is stored
//
// The run has the flow [FlowName], and the runId as its id. It has the key of [Key], the labels of [Start.Labels], a
// [Start] as attributes, and the execution's input. Each node is named after its id and the event that created it:
// Pay#5, wait#6, decision#2. The node "timeout" ends the execution when its time is over. Decision tasks and activities
// are work with a token, which waits in the queues of [DecisionQueue] and [ActivityQueue].
package swf

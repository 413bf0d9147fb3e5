package swf

import "github.com/ebbflow/ebb/flow"

// Tracer returns a tracer that reports when workers and deciders took the tasks of an execution. The nodes of the run
// show everything else.
func Tracer() flow.Tracer { return tracer{} }

type tracer struct{}

// Trace implements [flow.Tracer].
func (tracer) Trace(_ int64, _ string, e *flow.Event) []flow.Visit {
	switch e.Type {
	case "ActivityTaskStarted":
		return []flow.Visit{{Stage: flow.VisitTaken, Path: e.Name}}
	case "DecisionTaskStarted": // it follows from the event that created the node
		return []flow.Visit{{Stage: flow.VisitTaken, Path: NodeName(decisionNode, e.Prev)}}
	default:
		return nil
	}
}

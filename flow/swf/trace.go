package swf

import (
	"github.com/ebbflow/ebb/flow/grow"
)

// Tracer returns a tracer that reports when workers and deciders took the tasks of an execution. The nodes of the run
// show everything else.
func Tracer() grow.Tracer { return tracer{} }

type tracer struct{}

// Trace implements [grow.Tracer].
func (tracer) Trace(_ int64, _ string, e *grow.Event) []grow.Visit {
	switch e.Type {
	case "ActivityTaskStarted":
		return []grow.Visit{{Stage: grow.VisitTaken, Path: e.Name}}
	case "DecisionTaskStarted": // it follows from the event that created the node
		return []grow.Visit{{Stage: grow.VisitTaken, Path: NodeName(decisionNode, e.Prev)}}
	default:
		return nil
	}
}

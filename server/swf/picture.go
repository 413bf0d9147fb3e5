package swf

import (
	"context"
	"iter"

	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/flow/swf"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// IsExecution reports whether a run is an execution.
func IsExecution(run *storage.Run) bool { _, ok := executionOf(run); return ok }

// Picture returns the diagram of an execution: its decisions, what each decision caused, what made the decider decide
// again, and what undoes the execution. If it has too many nodes, the error is [ErrManyNodes].
func Picture(ctx context.Context, store backend.Reader, run *storage.Run) (draw.View, error) {
	view, err := pictureOf(run.Flow+"  "+run.ID, entries(ctx, store, run.ID))
	if err != nil {
		return view, err
	}
	undo := run.Labels[swf.LabelUndo]
	if undo == "" || len(view.Nodes) == 0 {
		return view, nil
	}
	last := view.Nodes[len(view.Nodes)-1].ID
	view.Nodes = append(view.Nodes, draw.Node{ID: undo, Label: "undone by " + undo, State: undoState(ctx, store, undo)})
	view.Edges = append(view.Edges, draw.Edge{From: last, To: undo, Taken: true})
	return view, nil
}

// undoState returns the state of the execution that undoes another one, as diagrams show it.
func undoState(ctx context.Context, store backend.Reader, id string) string {
	run, err := store.Run(ctx, id)
	switch {
	case err != nil: // it is not there any more
		return ""
	case !run.State.Ended():
		return states.TaskRunning.String()
	case run.State == states.FlowSuccess:
		return states.TaskSuccess.String()
	default:
		return states.TaskFailure.String()
	}
}

// entries yields the events of a run.
func entries(ctx context.Context, store backend.Reader, run string) iter.Seq2[swf.NumberedEvent, error] {
	return func(yield func(swf.NumberedEvent, error) bool) {
		for entry, err := range storage.EachEvent(ctx, store, run, storage.EventQuery{}) {
			var e swf.NumberedEvent
			if err == nil {
				e, err = numbered(&entry)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

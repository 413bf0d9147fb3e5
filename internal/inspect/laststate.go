package inspect

import (
	"context"
	"fmt"

	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/storage"
)

// A LastState is the state in which a run succeeded.
type LastState struct {
	Path   string `json:"path"`             // place in the run, such as "Pack#2"
	State  string `json:"state"`            // name of the state
	Type   string `json:"type"`             // type of the state in the language, such as "Succeed"
	After  string `json:"after,omitempty"`  // name of the state before; "" if it was the only one
	Caught bool   `json:"caught,omitempty"` // the state before failed, and one of its catchers chose this state
}

// Last returns the state in which a run succeeded. It returns nil for a run that has not succeeded, and nil without a
// tracer. It reads the events page by page; errors are the store's.
func Last(ctx context.Context, store backend.Reader, run *storage.Run, tracer grow.Tracer) (*LastState, error) {
	if tracer == nil || !run.State.Ended() || run.Outcome != storage.Succeeded {
		return nil, nil //nolint:nilnil // documented
	}
	var open, last *LastState
	for e, err := range storage.EachEvent(ctx, store, run.ID, storage.EventQuery{}) {
		if err != nil {
			return nil, err
		}
		for _, v := range Traced(tracer, &e) {
			switch {
			case v.Level != "" || v.State == "":
			case v.Stage == grow.VisitEntered:
				open = &LastState{Path: v.Path, State: v.State, Type: v.Kind, After: v.From, Caught: v.Caught}
			case v.Stage == grow.VisitLeft:
				last = open
			default:
			}
		}
	}
	return last, nil
}

// sentence says in which state a run succeeded, and how it came there.
func (l *LastState) sentence() string {
	text := fmt.Sprintf("It ended in the %s state %s", l.Type, visible.Line(l.Path))
	if l.Type == kindOfSM4C {
		text = "It ended in the state " + visible.Line(l.Path)
	}
	switch {
	case l.Caught:
		text += fmt.Sprintf(", which a catcher of %s chose", visible.Line(l.After))
	case l.After != "":
		text += ", after " + visible.Line(l.After)
	}
	return text + "."
}

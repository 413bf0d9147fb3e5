package swf

import (
	"context"
	"errors"
	"iter"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/swf"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// An undoFinder is the body of [swf.UndoTask]: it reads the history of the execution that is undone, and the type of
// the activity that undoes.
type undoFinder struct{ server *Server }

// Execute implements [atom.Body].
func (u undoFinder) Execute(ctx context.Context, in atom.Values) (atom.Value, error) {
	var ask swf.UndoAsk
	if err := in.Input().Decode(&ask); err != nil {
		return nil, err
	}
	step, err := swf.NextUndo(&ask, func(before int64) iter.Seq2[swf.NumberedEvent, error] {
		return u.server.eventsBefore(ctx, ask.RunID, before)
	})
	if err != nil {
		return nil, err
	}
	if step.Item != nil && step.Lost == "" {
		if step.Known, err = u.server.knownActivity(ctx, ask.Domain, step.By); err != nil {
			return nil, err
		}
	}
	return atom.Encode(step)
}

// Revert implements [atom.Body].
func (undoFinder) Revert(context.Context, atom.Values, atom.Outcome[atom.Value]) (atom.Value, error) {
	return nil, nil
}

// Reverts implements [atom.Body].
func (undoFinder) Reverts() bool { return false }

// knownActivity returns an activity type of a domain; nil if it does not exist.
func (s *Server) knownActivity(ctx context.Context, domainName string, t swf.Type) (*swf.KnownActivityType, error) {
	d, err := s.domain(ctx, domainName)
	if err != nil {
		return nil, err
	}
	known := &swf.KnownActivityType{Type: t}
	exists, err := s.known(ctx, activityTypes, d, t, &known.Deprecated, &known.Defaults)
	if err != nil || !exists {
		return nil, err
	}
	return known, nil
}

// eventsRead is how many events are read at once.
const eventsRead = 100

// eventsBefore yields the events of a run before one, the last first. A run that does not exist has none.
func (s *Server) eventsBefore(ctx context.Context, run string, before int64) iter.Seq2[swf.NumberedEvent, error] {
	return func(yield func(swf.NumberedEvent, error) bool) {
		for limit := 1; before > 1; limit = eventsRead { // often only the first is needed
			entries, err := s.store.Events(ctx, run, storage.EventQuery{After: before, Reverse: true, Limit: limit})
			switch {
			case errors.Is(err, storage.ErrNotFound), err == nil && len(entries) == 0:
				return
			case err != nil:
				yield(swf.NumberedEvent{}, err)
				return
			}
			for i := range entries {
				e, err := numbered(&entries[i])
				if !yield(e, err) || err != nil {
					return
				}
				before = e.Number
			}
		}
	}
}

// numbered returns an entry of a history as the model has it.
func numbered(e *storage.Entry) (swf.NumberedEvent, error) {
	attributes, err := attributesOf(e)
	return swf.NumberedEvent{Number: e.Number, Event: grow.Event{Type: e.Type, Details: attributes}}, err
}

// openUndo returns the id of the run of an open execution with the workflowId of one that undoes: the one that was
// started last.
func (s *Server) openUndo(ctx context.Context, d *domain, workflowID string) (string, error) {
	runs, err := s.store.Runs(ctx, storage.RunQuery{
		Labels: label(swf.LabelWorkflowID, d.Name, workflowID), States: openStates, Brief: true, Limit: 1,
	})
	if err != nil || len(runs) == 0 {
		return "", errors.Join(err, storage.ErrNotFound)
	}
	return runs[0].ID, nil
}

// IsBeingUndone reports whether the execution that undoes a closed one is open: it reads its history, so the run must
// not be deleted. Other runs are not being undone.
func IsBeingUndone(ctx context.Context, store backend.Reader, run *storage.Run) (bool, error) {
	id := run.Labels[swf.LabelUndo]
	if id == "" {
		return false, nil
	}
	undo, err := store.Run(ctx, id)
	if errors.Is(err, storage.ErrNotFound) {
		return false, nil
	}
	return !undo.State.Ended(), err
}

package rules

import (
	"encoding/json"
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/awaited"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A Receiver is what a store knows about the run that a message is for.
type Receiver struct {
	Run      string
	State    states.Flow
	Messages int64      // number of messages in its inbox
	Bytes    int64      // of their bodies
	Awaited  atom.Value // the record of what the atoms of its plan take from outside; nil if there is none
}

// Takes returns why the run does not take a message that somebody sends: it has ended, its inbox is full, or the data
// of a signal is not what its atoms await. An inbox keeps places for commands, so that the run can be cancelled.
func (r *Receiver) Takes(l *storage.Message) error {
	most, outside := int64(backend.MaxInbox), l.Kind == grow.MessageSignal || l.Kind == grow.MessageEvent
	if !outside {
		most += most / 10 //nolint:mnd // the reserve
	}
	switch {
	case outside && r.State.Ended():
		return fmt.Errorf("%w: run %q is %v and waits for nothing", storage.ErrEnded, r.Run, r.State)
	case r.Messages >= most, outside && r.Bytes+int64(len(l.Body)) > backend.MaxInboxBytes:
		return fmt.Errorf("%w: run %q has %d messages with %d bytes that it has not read: resume it, or send less",
			storage.ErrFull, r.Run, r.Messages, r.Bytes)
	case l.Kind == grow.MessageSignal && l.Failure == nil:
		return misfit(r.Run, awaited.Read(r.Awaited.JSON()).CheckSignal(l.Name, textOf(l.Body)))
	default:
		return nil
	}
}

// CheckResult returns why a token cannot end with the result: its atom has a type that the result does not fit. work is
// that of the token, and record that of what the atoms of the run's plan take from outside; nil if there is none.
func CheckResult(run, path string, work, record, result atom.Value) error {
	var told struct {
		Revert bool `json:"revert"`
	}
	if record == nil || work.Decode(&told) == nil && told.Revert { // the result of a revert has no type
		return nil
	}
	return misfit(run, awaited.Read(record.JSON()).CheckResult(path, textOf(result)))
}

// textOf returns the JSON of a value; no value is null.
func textOf(v atom.Value) json.RawMessage {
	if v == nil {
		v = atom.Null
	}
	return v.JSON()
}

// misfit returns the error for a value that does not fit, which has a text of its own.
func misfit(run string, why error) error {
	if why == nil {
		return nil
	}
	return &misfitError{fmt.Errorf("run %q: %w", run, why)}
}

type misfitError struct{ error }

// Unwrap returns [storage.ErrInvalid].
func (e *misfitError) Unwrap() error { return storage.ErrInvalid }

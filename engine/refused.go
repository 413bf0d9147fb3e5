package engine

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/checkpoint"
	"github.com/ebbflow/ebb/engine/internal/session"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// MaxRefused is the maximum number of lines in a row that [Command.Refused] and [RecordRefused] add to the history of a
// run. After a command that the run accepts, it adds as many again.
//
//limit:values lines in a row of commands that the state of a run excludes, in its history (`engine.MaxRefused`)
//limit:and | {} | no line
const MaxRefused = 100

// Refused records that a caller asked for the command and did not get it, because the state of the run does not allow
// the command. A program calls Refused if it refuses a command itself, before [Send]; [Engine.Command] and [SuspendBy]
// do so themselves. The line is in the history of the run and in the audit. It names the caller of
// [Command.By]; without By, Refused does nothing.
//
// Refused adds no line that repeats the newest line of the run, and at most [MaxRefused] lines in a row. If there is no
// such run, Refused does nothing. Other errors are those of the store.
func (o Command) Refused(ctx context.Context, store storage.Store, run string, why error) error {
	m, err := o.c.Message(run)
	if err != nil {
		return nil //nolint:nilerr // it is not a command that a run could refuse
	}
	return RecordRefused(ctx, store, m, why)
}

// RecordRefused is [Command.Refused] for a message that is not a command, such as a signal, with its Issuer.
func RecordRefused(ctx context.Context, opened storage.Store, m storage.Message, why error) error {
	if m.Issuer == nil {
		return nil
	}
	store, line := backend.Of(opened), checkpoint.CommandEntry(&m)
	line.Number, line.Time = 0, store.Now()
	line.Failure = &atom.Failure{Code: atom.CodeRefused, Message: why.Error()}
	if len(line.Path) > backend.MaxID || !utf8.ValidString(line.Path) || strings.IndexByte(line.Path, 0) >= 0 {
		return nil // no run has such an atom: the command is not valid
	}
	full, err := repeats(ctx, store, m.Run, &line)
	if full || err != nil {
		return session.Wrap(m.Run, err)
	}
	err = store.Step(ctx, m.Run, func(snap *backend.Snapshot) (*backend.Checkpoint, error) {
		return refusal(snap, line), nil
	})
	if _, owned := errors.AsType[*storage.OwnedError](err); owned { // only the owner writes the history
		err = store.Send(ctx, storage.Message{
			Run: m.Run, Kind: backend.MessageRefused, Name: line.Type, Path: line.Path, Failure: line.Failure, Issuer: m.Issuer,
		})
	}
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	return session.Wrap(m.Run, err)
}

// repeats reports whether the history of a run needs no line of a refused command: its newest line says the same, or
// its newest lines are all of refused commands.
func repeats(ctx context.Context, store backend.Audits, run string, line *storage.Entry) (bool, error) {
	refused := 0
	for q := (backend.AuditQuery{Run: run, Limit: MaxRefused}); refused < MaxRefused; {
		lines, err := store.Audit(ctx, q)
		if err != nil || len(lines) == 0 {
			return false, err
		}
		for i := range lines {
			e := &lines[i].Entry
			if e.Failure == nil {
				return false, nil
			}
			if refused == 0 && e.Type == line.Type && e.Path == line.Path && e.Issuer != nil && *e.Issuer == *line.Issuer &&
				e.Failure.Message == line.Failure.Message {
				return true, nil
			}
			refused++
			q.Below = lines[i].N
		}
		q.Limit = MaxRefused - refused
	}
	return true, nil
}

// refusal returns the checkpoint that adds a line to the history of a run without an owner, and changes nothing else.
func refusal(snap *backend.Snapshot, line storage.Entry) *backend.Checkpoint {
	run := &snap.Run
	cp := &backend.Checkpoint{Head: backend.Head{
		Seq: run.Seq, State: run.State, Outcome: run.Outcome, Undo: run.Undo, Hold: run.Hold, Output: run.Output,
		Failure: run.Failure, Started: run.Started, Ended: run.Ended, Entries: run.Entries + 1, Events: run.Events,
		Refs: run.Refs, Growth: run.Growth, Due: run.Due, Time: line.Time,
	}}
	line.Seq = cp.Head.Entries
	cp.History = []storage.Entry{line}
	return cp
}

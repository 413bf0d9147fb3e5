package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/engine/internal/session"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// Apply sends a command to a run, as the caller has read it, and waits for the run's answer. It reports whether the run
// has applied the command, or begun to. If the run was at rest, and has gone on since it was read, it refuses the
// command: of several callers that read the same end of a run, one has its command applied. The key is that of
// [SendOnce]; a repeated call gets the answer to the first.
//
// If the run refuses the command, the error wraps [ErrRefused]. If no process takes the run up now, if the answer
// cannot be read, or if ctx ends, Apply returns false and no error: the command waits in the inbox. Other errors are
// those of the store, and nothing was sent; if the run does not exist, they wrap [storage.ErrNotFound].
func Apply(
	ctx context.Context, store backend.Store, run *storage.Run, key string, o Command,
) (applied bool, err error) {
	o.address(run, key)
	if err := SendOnce(ctx, store, run.ID, key, o); err != nil {
		return false, err
	}
	t := time.NewTimer(leastCallPause)
	defer t.Stop()
	for pause := leastCallPause; ; pause = min(2*pause, mostCallPause) {
		now, err := store.Run(ctx, run.ID) // before the answer: a run that does nothing more has given it
		if err == nil {
			applied, err = answered(ctx, store, run.ID, o.c.Answer)
		}
		if applied || err != nil || ctx.Err() != nil {
			if !errors.Is(err, ErrRefused) {
				err = nil
			}
			return applied, err
		}
		if now.Owner == "" {
			if taken, err := isServed(ctx, store, &now); !taken || err != nil {
				return false, nil // the command was sent
			}
		}
		select {
		case <-t.C:
			t.Reset(min(2*pause, mostCallPause))
		case <-ctx.Done():
		}
	}
}

// address prepares a command for the run that the caller has seen, and for the answer of the run.
func (o *Command) address(run *storage.Run, key string) {
	o.c.Answer = uuid.NewString()
	if key != "" { // a repeated command has the answer of the first
		sum := sha256.Sum256([]byte(run.ID + "\x00" + key))
		o.c.Answer = "answer-" + hex.EncodeToString(sum[:])
	}
	if ends := o.c.Kind == inbox.Cancel || o.c.Kind == inbox.Suspend; run.State.Ended() || run.Hold && !ends {
		o.c.Next = run.Entries + 1
	}
}

// answered returns the answer to a command: whether it was applied, or why it was refused. Before there is one, it
// returns neither.
func answered(ctx context.Context, store backend.Reader, run, answer string) (applied bool, err error) {
	t, err := store.Token(context.WithoutCancel(ctx), answer)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return false, nil
	case err != nil:
		return false, session.Wrap(run, err)
	case t.Failure != nil:
		return false, &saidError{t.Failure.Message, ErrRefused}
	default:
		return true, nil
	}
}

// isServed reports whether a server takes up a run that has no owner.
func isServed(ctx context.Context, store backend.Store, run *storage.Run) (bool, error) {
	for record, err := range storage.EachRecord(ctx, store, storage.RecordQuery{Kind: PresenceRecords}) {
		if err != nil {
			return false, session.Wrap(run.ID, err)
		}
		var p Presence
		if err := record.Body.Decode(&p); err != nil {
			return false, fmt.Errorf("engine: the record of the server %q: %w", record.Key, err)
		}
		if p.Takes(run) {
			return true, nil
		}
	}
	return false, nil
}

package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/checkpoint"
	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/engine/internal/session"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// Suspend lets a run come to rest, no matter which process owns it, and returns its record at that time. A live
// owner lets running atoms end and starts no others. A run without a live owner is at rest at once: the atoms that
// its dead owner was executing keep their state, and continue when the run is run again. If commands wait in its inbox,
// the process that applies them suspends the run again afterwards. Suspend needs no engine, so it can suspend runs of
// any program.
//
// If the run has ended, Suspend returns an error that wraps [ErrRefused]. If ctx ends while Suspend waits for the
// owner, it returns [ErrStopped]; the owner still suspends the run.
func Suspend(ctx context.Context, store storage.Store, run string) (storage.Run, error) {
	return suspend(ctx, backend.Of(store), run, nil, false)
}

// SuspendBy is [Suspend] with who gives the command, see [Command.By].
func SuspendBy(ctx context.Context, store storage.Store, run string, who storage.Issuer) (storage.Run, error) {
	return suspend(ctx, backend.Of(store), run, &who, false)
}

// suspend suspends a run. Told says that the inbox of the run has the command.
func suspend(ctx context.Context, store backend.Store, run string, by *storage.Issuer, told bool) (storage.Run, error) {
	hold := Hold()
	hold.c.By = by
	for ; ; told = true {
		if told {
			by = nil // the message says it
		}
		held, err := holdUnowned(ctx, store, run, nil, by, !told)
		if _, owned := errors.AsType[*storage.OwnedError](err); !owned {
			if errors.Is(err, ErrRefused) {
				err = errors.Join(err, hold.Refused(ctx, store, run, err))
			}
			if err != nil {
				return storage.Run{}, err
			}
			if row, err := store.Run(ctx, run); err == nil {
				return row, nil
			}
			return held, nil // it was committed, also if it cannot be read now
		}
		if !told {
			if err := Send(ctx, store, run, hold); err != nil {
				return storage.Run{}, session.Wrap(run, err)
			}
		}
		row, err := WhileOwned(ctx, store, run)
		if err != nil || rests(&row) {
			return row, unawaited(err)
		}
	}
}

// unawaited returns the error of a caller that waits for what becomes of a command that it has sent. Also if the store
// fails, the run gets the command.
func unawaited(err error) error {
	if _, broken := errors.AsType[*StoreError](err); broken {
		return fmt.Errorf("%w: the command was sent, and then: %w", ErrStopped, err)
	}
	return err
}

// IgnoreSuspend lets Run resume a run even if its inbox contains a request to suspend it, because the former owner
// died before it read the request. Without IgnoreSuspend, Run suspends the run and starts nothing.
func IgnoreSuspend() RunOption { return ignoreSuspend{} }

type ignoreSuspend struct{}

func (ignoreSuspend) begin(*beginning) error { return nil }

// rests reports whether a run does nothing until it is run again.
func rests(run *storage.Run) bool {
	return run.State.Ended() || run.State == states.FlowSuspended && run.Hold
}

// holdUnowned marks a run without an owner as suspended. If why is not nil, an operator must decide how the run
// continues. Asks says that the command is not in the inbox. If others are there, which resume the run, the command
// follows them. HoldUnowned returns what it knows of the run.
func holdUnowned( //nolint:gocognit // one transaction
	ctx context.Context, store backend.Store, id string, why *atom.Failure, by *storage.Issuer, asks bool,
) (held storage.Run, err error) {
	err = store.Step(ctx, id, func(snap *backend.Snapshot) (*backend.Checkpoint, error) {
		run := &snap.Run
		held = *run
		if run.State.Ended() {
			return nil, fmt.Errorf("%w: run %q has ended (%v) and cannot be suspended", ErrRefused, id, run.State)
		}
		if taken := len(snap.Messages) < backend.MaxMessages && len(inbox.Holds(snap.Messages)) == 0; taken && !asks &&
			why == nil && run.State != states.FlowSuspending { // in that state, its owner died before it came to rest
			return nil, nil //nolint:nilnil // the owner has suspended it, and it has been resumed since
		}
		before, follows := snap.Messages, false
		for i := range snap.Messages {
			switch {
			case snap.Messages[i].Kind == inbox.Suspend:
				follows = false
			case backend.ReachesHeld(snap.Messages[i]):
				before, follows = before[:min(i, len(before))], asks
			}
		}
		now := store.Now()
		cp := &backend.Checkpoint{Head: backend.Head{
			Seq: run.Seq, State: run.State, Outcome: run.Outcome, Undo: run.Undo, Hold: true, Output: run.Output,
			Failure: run.Failure,
			Started: run.Started, Entries: run.Entries, Events: run.Events, Refs: run.Refs, Growth: run.Growth, Time: now,
		}}
		if run.Outcome == storage.Unfinished && !run.Due.After(now) && backend.ReachesHeld(snap.Messages...) {
			cp.Head.Due = run.Due // zero unless the run is due because of the command
		}
		// Otherwise the run is already suspended, or never ran.
		if states.Check(run.State, states.FlowSuspended) == nil {
			cp.Head.State = states.FlowSuspended
			cp.Head.Entries++
			cp.History = []storage.Entry{{
				Seq: cp.Head.Entries, Kind: storage.EntryFlow, Time: now, From: uint8(run.State), To: uint8(states.FlowSuspended),
			}}
		}
		if why != nil {
			cp.Head.Failure, cp.Head.Absolve = why, true // an operator decides whether to resume the run
			if run.Job != "" {
				cp.Job = &backend.JobEnd{Job: run.Job, State: states.JobParked, Failure: why}
			}
		}
		cp.Taken = inbox.Holds(before)
		for i := range before {
			l := &before[i]
			if l.Kind != inbox.Suspend {
				continue
			}
			if l.Issuer != nil {
				command(cp, l)
			}
			if l.Name != "" {
				cp.Tokens = append(cp.Tokens, checkpoint.Answer(l.Name, nil))
			}
		}
		switch {
		case follows:
			cp.Messages = []storage.Message{{Run: id, Kind: inbox.Suspend, Issuer: by, Sent: now}}
		case by != nil && (!run.Hold || run.State != cp.Head.State):
			command(cp, &storage.Message{Kind: inbox.Suspend, Issuer: by})
		}
		held.Hold, held.State, held.Failure = true, cp.Head.State, cp.Head.Failure
		if run.Hold && run.State == cp.Head.State && len(cp.Taken) == 0 && !follows {
			return nil, nil //nolint:nilnil // nothing is to be written
		}
		return cp, nil
	})
	if errors.Is(err, ErrRefused) || err == nil {
		return held, err
	}
	if _, owned := errors.AsType[*storage.OwnedError](err); owned {
		return held, err
	}
	return held, session.Wrap(id, err)
}

// command adds the line of a command to the history of a run that no process drives.
func command(cp *backend.Checkpoint, m *storage.Message) {
	cp.Head.Entries++
	e := checkpoint.CommandEntry(m)
	e.Seq, e.Time = cp.Head.Entries, cp.Head.Time
	cp.History = append(cp.History, e)
}

// WhileOwned waits as long as a live process owns the run, and returns the run's record after that. If ctx ends
// first, it returns [ErrStopped].
func WhileOwned(ctx context.Context, opened storage.Store, run string) (storage.Run, error) {
	const look, lookAlive = 100 * time.Millisecond, time.Second
	store := backend.Of(opened)
	t := time.NewTicker(look)
	defer t.Stop()
	var asked time.Time // when the store was last asked which owners are alive
	for {
		changed := store.Changed()
		row, err := store.Run(ctx, run)
		if err == nil && row.Owner != "" && time.Since(asked) >= lookAlive {
			asked = time.Now()
			var alive bool
			if alive, err = lives(ctx, store, row.Owner); err == nil && !alive {
				row, err = withoutOwner(ctx, store, run, row.Owner)
			}
		}
		switch {
		case ctx.Err() != nil:
			return row, ErrStopped
		case err != nil:
			return row, session.Wrap(run, err)
		case row.Owner == "":
			return row, nil
		}
		select {
		case <-changed:
		case <-t.C:
		case <-ctx.Done():
			return row, ErrStopped
		}
	}
}

// withoutOwner reads a run whose owner is not alive. After the run was read before, and before the owner's own end, the
// owner may have ended or released the run.
func withoutOwner(ctx context.Context, store backend.Store, run, dead string) (storage.Run, error) {
	row, err := store.Run(ctx, run)
	if row.Owner == dead {
		row.Owner = ""
	}
	return row, err
}

func lives(ctx context.Context, store backend.Store, owner string) (bool, error) {
	owners, err := store.Owners(ctx)
	for i := range owners {
		if owners[i].ID == owner {
			return owners[i].Alive, nil
		}
	}
	return false, err
}

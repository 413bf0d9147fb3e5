package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// Suspend lets a run come to rest, whoever owns it, and returns its row as it is
// then. What a live owner executes may end, and nothing more is started. A run
// that nobody owns is at rest at once: what its dead owner was in the middle of
// is left as it is, and gone on with when the run is run again. No engine is
// needed, so runs of any program can be suspended.
//
// It returns an error that wraps [ErrRefused] when the run has ended, and
// [ErrStopped] when ctx ended while it waited for the owner, who was told.
func Suspend(ctx context.Context, store storage.Store, run string) (storage.Run, error) {
	for told := false; ; told = true {
		err := holdUnowned(ctx, store, run, nil)
		if _, owned := errors.AsType[*storage.OwnedError](err); !owned {
			if err != nil {
				return storage.Run{}, err
			}
			row, err := store.Run(ctx, run)
			return row, wrapStore(run, err)
		}
		if !told {
			if err := Send(ctx, store, run, Hold()); err != nil {
				return storage.Run{}, wrapStore(run, err)
			}
		}
		row, err := WhileOwned(ctx, store, run)
		if err != nil || rests(&row) {
			return row, err
		}
	}
}

// Lift lets Run go on with a run even though a wish to suspend it waits in its
// box, which its former owner died before it saw. Otherwise the run is suspended
// then, and nothing is started.
func IgnoreSuspend() RunOption { return ignoreSuspend{} }

type ignoreSuspend struct{}

func (ignoreSuspend) begin(*beginning) error { return nil }

// rests reports whether a run does nothing more until somebody wants it to.
func rests(run *storage.Run) bool {
	return run.State.Ended() || run.State == states.FlowSuspended && run.Hold
}

// holdUnowned marks a run that nobody owns as suspended. With a reason somebody is
// to decide what becomes of it.
func holdUnowned(ctx context.Context, store storage.Store, id string, why *atom.Failure) error {
	err := store.Step(ctx, id, func(snap *storage.Snapshot) (*storage.Checkpoint, error) {
		run := &snap.Run
		if run.State.Ended() {
			return nil, fmt.Errorf("%w: run %q is %v and has nothing left to suspend", ErrRefused, id, run.State)
		}
		now := time.Now()
		cp := &storage.Checkpoint{Head: storage.Head{
			Seq: run.Seq, State: run.State, Outcome: run.Outcome, Undo: run.Undo, Hold: true, Output: run.Output, Failure: run.Failure,
			Started: run.Started, Entries: run.Entries, Events: run.Events, Refs: run.Refs, Growth: run.Growth, Time: now,
		}}
		if states.Check(run.State, states.FlowSuspended) == nil { // else it is already, or was never run
			cp.Head.State = states.FlowSuspended
			cp.Head.Entries++
			cp.History = []storage.Entry{{
				Seq: cp.Head.Entries, Kind: storage.EntryFlow, Time: now, From: uint8(run.State), To: uint8(states.FlowSuspended),
			}}
		}
		if why != nil {
			cp.Head.Failure, cp.Head.Absolve = why, true // whoever wants it to go on decided so
			if run.Job != "" {
				cp.Job = &storage.JobEnd{Job: run.Job, State: states.JobParked, Failure: why}
			}
		}
		cp.Taken = holds(snap.Messages)
		if run.Hold && run.State == cp.Head.State && len(cp.Taken) == 0 {
			return nil, nil //nolint:nilnil // nothing is to be written
		}
		return cp, nil
	})
	if errors.Is(err, ErrRefused) || err == nil {
		return err
	}
	if _, owned := errors.AsType[*storage.OwnedError](err); owned {
		return err
	}
	return wrapStore(id, err)
}

// holds returns the numbers of the messages that want the run to be suspended.
func holds(messages []storage.Message) []int64 {
	var ns []int64
	for i := range messages {
		if messages[i].Kind == messageSuspend {
			ns = append(ns, messages[i].N)
		}
	}
	return ns
}

// WhileOwned waits as long as a live process owns the run, and returns the run's
// row as it is then. It returns [ErrStopped] when ctx ended first.
func WhileOwned(ctx context.Context, store storage.Store, run string) (storage.Run, error) {
	const look, lookAlive = 100 * time.Millisecond, time.Second
	t := time.NewTicker(look)
	defer t.Stop()
	var asked time.Time // when it was last asked who lives
	for {
		changed := store.Changed()
		row, err := store.Run(ctx, run)
		if err == nil && row.Owner != "" && time.Since(asked) >= lookAlive {
			asked = time.Now()
			var alive bool
			if alive, err = lives(ctx, store, row.Owner); !alive {
				row.Owner = ""
			}
		}
		switch {
		case ctx.Err() != nil:
			return row, ErrStopped
		case err != nil:
			return row, wrapStore(run, err)
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

func lives(ctx context.Context, store storage.Store, owner string) (bool, error) {
	owners, err := store.Owners(ctx)
	for i := range owners {
		if owners[i].ID == owner {
			return owners[i].Alive, nil
		}
	}
	return false, err
}

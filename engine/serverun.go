package engine

import (
	"context"
	"errors"
	"time"

	"github.com/ebbflow/ebb/engine/internal/driver"
	"github.com/ebbflow/ebb/engine/internal/session"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/guard"
	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/storage"
	"github.com/hashicorp/go-hclog"
)

// begin drives a run that was found.
func (s *serving) begin(one *NewRun) {
	turn := s.slots.take()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy[one.Run] = s.version
	s.runs.Go(func() { s.drive(one, turn) })
}

// leave makes a run available to the next query. If it may be due because of an event during its drive, leave
// requests a query.
func (s *serving) leave(one *NewRun) {
	s.mu.Lock()
	version := s.busy[one.Run]
	delete(s.busy, one.Run)
	s.mu.Unlock()
	if s.e.env.Store.Version() != version {
		s.left.Store(true)
		s.pollSoon()
	} else if one.tried > 0 {
		s.pollSoon()
	}
}

// drive drives a run in a slot, which the run has when turn is closed; nil means now.
func (s *serving) drive(due *NewRun, turn <-chan struct{}) {
	defer s.leave(due)
	if turn != nil {
		<-turn
	}
	begun, err := s.goOn(due)
	if !begun && due.Refused != nil && due.first == nil {
		err = due.Refused(s.driving, err)
	}
	s.slots.leave()
	if due.first != nil && due.first.end(err) {
		return
	}
	if err == nil || isRest(err) || errors.Is(err, storage.ErrFenced) || errors.Is(err, storage.ErrLimited) ||
		errors.Is(err, storage.ErrKeyTaken) {
		return // not an error: another process took the run or a key, a message arrived, or a limit is reached
	}
	pause := lookForOthers
	if _, ok := errors.AsType[*StoreError](err); ok && !errors.Is(err, storage.ErrCorrupt) {
		pause = pollInterval
	}
	s.e.env.Log.Log(backend.LevelOf(err, hclog.Error), logevent.RunDriveFailed, "run", due.Run, "error", err)
	if run, failure := s.e.env.Store.Run(s.driving, due.Run); failure == nil {
		_ = s.e.refuse(s.driving, &run, err)
	}
	t := time.NewTimer(pause) // the run is still due, and takes no slot meanwhile
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.quiet:
	}
}

// isRest reports whether err is a normal end of driving a run.
func isRest(err error) bool {
	var owned *storage.OwnedError
	var reverted *RevertedError
	var failed *FailedError
	return errors.As(err, &owned) || errors.As(err, &reverted) || errors.As(err, &failed) ||
		errors.Is(err, ErrStopped) || errors.Is(err, ErrWaiting) || errors.Is(err, ErrSuspended)
}

// goOn drives a run. If the engine panics, only this run stops, and goOn releases it.
func (s *serving) goOn(due *NewRun) (begun bool, err error) {
	if broke := guard.Call(func() { begun, err = s.goOnUnguarded(due) }); broke != nil {
		return true, &StoreError{Run: due.Run, Err: broke}
	}
	return begun, err
}

func (s *serving) goOnUnguarded(due *NewRun) (begun bool, err error) {
	switch {
	case due.tried > 0:
		return true, s.try(s.driving, due.Run, due.tried)
	case due.taken && due.Err == nil && !due.isOwned() && !due.Snapshot.Run.State.Ended():
		return true, s.takeOver(s.driving, due.Run) // a limit counts the run, or it passed its isolated start
	default:
		return s.goOnWith(s.driving, due)
	}
}

// goOnWith drives a due run from its snapshot. It reports whether it committed anything.
func (s *serving) goOnWith(ctx context.Context, due *NewRun) (begun bool, err error) {
	if due.Err != nil {
		return false, session.Wrap(due.Run, due.Err)
	}
	run := &due.Snapshot.Run
	if run.State.Ended() && !due.isOwned() { // a command, or a late message, waits in its inbox
		_, err := s.e.Run(ctx, run.ID, Unload(), Existing())
		if errors.Is(err, storage.ErrNotFound) { // the run was purged
			err = nil
		}
		return false, err
	}
	plan, _, err := s.e.planFor(ctx, run, nil)
	if err != nil {
		err = s.e.changed(ctx, s.e.env.Store, err, run, due.Snapshot.Atoms)
		return false, errors.Join(err, s.e.claims.releaseUndriven(ctx, due.Claim, due.Snapshot))
	}
	d, err := s.e.driver(ctx, plan, due.Claim, due.Snapshot)
	if err != nil {
		return false, errors.Join(err, s.e.claims.releaseUndriven(ctx, due.Claim, due.Snapshot))
	}
	if due.Claim.Begins == 0 {
		d.Mode.Since = due.since
	}
	if due.first != nil {
		d.Mode.Begun = due.first.durable
	}
	err = s.finish(ctx, d, due.Snapshot)
	return d.Owns(), err
}

// finish drives a run until it rests or only waits. Only a command lets it drive a suspended run.
func (s *serving) finish(ctx context.Context, d *driver.Driver, snap *backend.Snapshot) error {
	d.Mode.Unload, d.Mode.Quiet, d.Mode.Places = true, s.quiet, s.server.childSlots
	_, err := s.e.finish(ctx, d, snap, found(snap), nil)
	return err
}

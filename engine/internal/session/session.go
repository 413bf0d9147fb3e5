// Package session is the hold of a process on a run: the claim with its fence, and the draft of the next checkpoint,
// which it commits. It takes no decision about the run.
package session

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/engine/internal/checkpoint"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/storage"
)

// A Session holds a run for a process.
type Session struct {
	Claim backend.Claim
	Draft checkpoint.Draft // the pending checkpoint, with the current time

	store  backend.Store
	log    hclog.Logger
	stale  bool // time has passed since then, in a wait or a call
	unsure bool // the store does not know whether it has committed the draft
}

// Init prepares a session.
func (s *Session) Init(store backend.Store, log hclog.Logger, claim backend.Claim) {
	s.store, s.log, s.Claim = store, log, claim
	s.Draft.Now = store.Now()
}

// Owns reports whether the process has taken the run over: a claim of [backend.Store.Due] or [backend.ClaimNew] begins
// with the first commit.
func (s *Session) Owns() bool { return s.Claim.Begins <= s.Draft.Head.Seq }

// TimePasses says that time has passed, in a wait or a call.
func (s *Session) TimePasses() { s.stale = true }

// Tick updates the current time, if time may have passed. Decisions that share a commit have the same time.
func (s *Session) Tick() {
	if s.stale {
		s.Draft.Now, s.stale = s.store.Now(), false
	}
}

// Unsure reports whether the store does not know if it has committed the draft.
func (s *Session) Unsure() bool { return s.unsure }

// tries is how often a session tries to commit a checkpoint while the store fails temporarily. The pause between
// attempts grows.
const tries = 4

// final lists the errors that another attempt to commit cannot fix.
var final = []error{
	storage.ErrFenced, storage.ErrClosed, storage.ErrCorrupt, storage.ErrInvalid, storage.ErrExists,
	storage.ErrNotFound, storage.ErrLimited, storage.ErrConflict, storage.ErrKeyTaken, storage.ErrBroken,
	storage.ErrTaken,
}

// Commit commits the draft, which the caller then renews. If the store fails, Commit tries again, until the store
// commits or refuses the draft, the attempts are used up, or stop is closed. That is safe even if the store has
// committed the draft, because it recognizes a committed checkpoint.
func (s *Session) Commit(ctx context.Context, stop <-chan struct{}) error {
	s.Draft.Head.Time, s.stale = s.Draft.Now, true
	wait := 20 * time.Millisecond
	for try := 1; ; try++ {
		err := s.store.Commit(ctx, s.Claim, &s.Draft.Checkpoint)
		if err == nil {
			s.unsure = false
			return nil
		}
		s.unsure = s.unsure || errors.Is(err, storage.ErrUnsure)
		if try == tries || slices.ContainsFunc(final, func(f error) bool { return errors.Is(err, f) }) {
			return s.Wrap(err)
		}
		s.log.Log(backend.LevelOf(err, hclog.Warn), logevent.CheckpointRetrying,
			"run", s.Claim.Run, "attempt", try, "error", err)
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-stop:
			t.Stop()
			return s.Wrap(err)
		}
		wait *= 5
	}
}

// CheckUnchanged returns a [*StoreError] that wraps [storage.ErrFenced] if the run has changed since it was loaded.
// What is committed needs no such check, and the run of a session that owns it changes only with that session.
func (s *Session) CheckUnchanged(ctx context.Context) error {
	if s.Owns() || s.Claim.New != nil {
		return nil
	}
	run, err := s.store.Run(ctx, s.Claim.Run)
	if err == nil && (run.Fence != s.Claim.Fence-1 || run.Owner != "" || run.Seq != s.Draft.Head.Seq ||
		run.Wakeups != s.Claim.Wakeups) {
		err = storage.ErrFenced
	}
	return s.Wrap(err)
}

// CheckOwned returns an error if another process has taken over a run that the session owned, or if the store does not
// answer until ctx ends.
func (s *Session) CheckOwned(ctx context.Context) error {
	if !s.Owns() {
		return nil
	}
	run, err := s.store.Run(ctx, s.Claim.Run)
	if err == nil && (run.ClaimID != s.Claim.ID || run.Owner == "") {
		err = storage.ErrFenced
	}
	return s.Wrap(err)
}

// Wrap returns an error of the store as a *[StoreError] of the run, and nil for nil.
func (s *Session) Wrap(err error) error { return Wrap(s.Claim.Run, err) }

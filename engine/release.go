package engine

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/engine/internal/driver"
	"github.com/ebbflow/ebb/storage"
)

// Claims releases claims, and keeps those of runs that the process no longer drives and could
// not release.
type claims struct {
	store storage.Store
	log   hclog.Logger

	mu   sync.Mutex
	left map[string]storage.Claim // by run
}

func (l *claims) put(c storage.Claim) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left == nil {
		l.left = map[string]storage.Claim{}
	}
	l.left[c.Run] = c
}

// take takes out the claim of a run, or with "" of any.
func (l *claims) take(run string) (storage.Claim, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, c := range l.left {
		if run == "" || id == run {
			delete(l.left, id)
			return c, true
		}
	}
	return storage.Claim{}, false
}

// give releases a claim. The run is then due at once. Releasing a void claim
// is not an error.
func (l *claims) give(ctx context.Context, claim storage.Claim) error {
	wakeups, _, err := l.store.Messages(ctx, claim.Run, math.MaxInt64)
	if err == nil {
		err = l.release(ctx, claim, wakeups, time.Now())
	}
	if errors.Is(err, storage.ErrFenced) || errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	return err
}

// release releases a run until it is due. If a message has arrived since the wakeup
// counter was read, the run is due at once.
func (l *claims) release(ctx context.Context, claim storage.Claim, wakeups int64, due time.Time) error {
	err := l.store.Release(ctx, claim, wakeups, due)
	for errors.Is(err, storage.ErrNewMessages) {
		if wakeups, _, err = l.store.Messages(ctx, claim.Run, math.MaxInt64); err == nil {
			err = l.store.Release(ctx, claim, wakeups, time.Now())
		}
	}
	return err
}

// releaseLeft releases runs that could not be released before: the run with that
// id, or with "" all of them.
func (l *claims) releaseLeft(ctx context.Context, run string) error {
	for {
		c, ok := l.take(run)
		if !ok {
			return nil
		}
		if err := l.give(ctx, c); err != nil {
			l.put(c)
			return wrapStore(c.Run, err)
		}
	}
}

// releaseUndriven releases a run that was not driven. If a message arrived meanwhile, the
// run is due at once.
func (l *claims) releaseUndriven(ctx context.Context, claim storage.Claim, snap *storage.Snapshot) error {
	if claim.Begins > 0 { // it has not begun
		return nil
	}
	return wrapStore(claim.Run, l.release(context.WithoutCancel(ctx), claim, snap.Run.Wakeups, time.Time{}))
}

// releaseAfter releases a run after err stopped its driver, so that the next owner does
// not have to wait.
func (l *claims) releaseAfter(ctx context.Context, d *driver.Driver, err error) {
	if !d.Owns() && (errors.Is(err, storage.ErrFenced) || errors.Is(err, storage.ErrExists) || errors.Is(err, storage.ErrLimited)) {
		return // another process owns the run, a message arrived before it began, or a limit is reached
	}
	l.Release(context.WithoutCancel(ctx), d.Claim())
}

// Release releases a claim. If the store does not answer, the process releases the run
// later: otherwise it would own the run for as long as it lives.
func (l *claims) Release(ctx context.Context, claim storage.Claim) {
	if err := l.give(ctx, claim); err != nil {
		l.log.Debug("the run is released later", "run", claim.Run, "error", err)
		l.put(claim)
	}
}

package engine

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/ebbflow/ebb/engine/internal/driver"
	"github.com/ebbflow/ebb/storage"
)

// releaseAfter releases a run after err stopped its driver, so that the next owner does
// not have to wait.
func (e *Engine) releaseAfter(ctx context.Context, d *driver.Driver, err error) {
	if !d.Owns() && (errors.Is(err, storage.ErrFenced) || errors.Is(err, storage.ErrExists) || errors.Is(err, storage.ErrLimited)) {
		return // another process owns the run, a message arrived before it began, or a limit is reached
	}
	host{e}.Release(context.WithoutCancel(ctx), d.Claim())
}

// releaseClaim releases a claim. The run is then due at once. Releasing a void claim
// is not an error.
func (e *Engine) releaseClaim(ctx context.Context, claim storage.Claim) error {
	wakeups, _, err := e.env.Store.Messages(ctx, claim.Run, math.MaxInt64)
	if err == nil {
		err = e.release(ctx, claim, wakeups, e.now())
	}
	if errors.Is(err, storage.ErrFenced) || errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	return err
}

// release releases a run until it is due. If a message has arrived since the wakeup
// counter was read, the run is due at once.
func (e *Engine) release(ctx context.Context, claim storage.Claim, wakeups int64, due time.Time) error {
	err := e.env.Store.Release(ctx, claim, wakeups, due)
	for errors.Is(err, storage.ErrNewMessages) {
		if wakeups, _, err = e.env.Store.Messages(ctx, claim.Run, math.MaxInt64); err == nil {
			err = e.env.Store.Release(ctx, claim, wakeups, e.now())
		}
	}
	return err
}

// unreleasedClaims are the claims of runs that the process no longer drives and could not
// release.
type unreleasedClaims struct {
	mu     sync.Mutex
	claims map[string]storage.Claim // by run
}

func (l *unreleasedClaims) put(c storage.Claim) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.claims == nil {
		l.claims = map[string]storage.Claim{}
	}
	l.claims[c.Run] = c
}

// take takes out the claim of a run, or with "" of any.
func (l *unreleasedClaims) take(run string) (storage.Claim, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, c := range l.claims {
		if run == "" || id == run {
			delete(l.claims, id)
			return c, true
		}
	}
	return storage.Claim{}, false
}

// releaseLeftClaims releases runs that could not be released before: the run with that
// id, or with "" all of them.
func (e *Engine) releaseLeftClaims(ctx context.Context, run string) error {
	for {
		c, ok := e.left.take(run)
		if !ok {
			return nil
		}
		if err := e.releaseClaim(ctx, c); err != nil {
			e.left.put(c)
			return wrapStore(c.Run, err)
		}
	}
}

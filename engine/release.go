package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/ebbflow/ebb/storage"
)

// releaseAfter releases the run after err stopped it, so that the next owner does
// not have to wait. If the store does not answer, the process releases the run
// later: otherwise it would own the run for as long as it lives.
func (d *driver) releaseAfter(err error) {
	if !d.owns() && (errors.Is(err, storage.ErrFenced) || errors.Is(err, storage.ErrExists) || errors.Is(err, storage.ErrLimited)) {
		return // another process owns the run, a message arrived before it began, or a limit is reached
	}
	if err := d.e.releaseClaim(d.storing, d.claim); err != nil {
		d.e.log.Debug("the run is released later", "run", d.claim.Run, "error", err)
		d.e.left.put(d.claim)
	}
}

// releaseClaim releases a claim. The run is then due at once. Releasing a void claim
// is not an error.
func (e *Engine) releaseClaim(ctx context.Context, claim storage.Claim) error {
	wakeups, _, err := e.store.Messages(ctx, claim.Run)
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
	err := e.store.Release(ctx, claim, wakeups, due)
	for errors.Is(err, storage.ErrNewMessages) {
		if wakeups, _, err = e.store.Messages(ctx, claim.Run); err == nil {
			err = e.store.Release(ctx, claim, wakeups, e.now())
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

package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/ebbflow/ebb/storage"
)

// letGo gives the run back after it was stopped by err, so that whoever comes next
// need not wait. When the store does not answer that is made up for later: this
// process lives, and would own the run as long as it does.
func (d *driver) letGo(err error) {
	if !d.owns() && (errors.Is(err, storage.ErrFenced) || errors.Is(err, storage.ErrExists) || errors.Is(err, storage.ErrLimited)) {
		return // it is somebody else's, was told something before it was begun, or has no place
	}
	if err := d.e.releaseClaim(d.storing, d.claim); err != nil {
		d.e.log.Debug("the run is given back later", "run", d.claim.Run, "error", err)
		d.e.left.put(d.claim)
	}
}

// surrender lets go of a claim: the run is due at once. A claim that is void is no
// more.
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

// release lets go of a run, to be taken up when due; one that was rung since the
// bell was looked at is due at once.
func (e *Engine) release(ctx context.Context, claim storage.Claim, wakeups int64, due time.Time) error {
	err := e.store.Release(ctx, claim, wakeups, due)
	for errors.Is(err, storage.ErrNewMessages) {
		if wakeups, _, err = e.store.Messages(ctx, claim.Run); err == nil {
			err = e.store.Release(ctx, claim, wakeups, e.now())
		}
	}
	return err
}

// leftovers are the claims of runs that are driven no more and could not be given
// back.
type leftovers struct {
	mu     sync.Mutex
	claims map[string]storage.Claim // by run
}

func (l *leftovers) put(c storage.Claim) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.claims == nil {
		l.claims = map[string]storage.Claim{}
	}
	l.claims[c.Run] = c
}

// take takes out the claim of a run, or with "" of any.
func (l *leftovers) take(run string) (storage.Claim, bool) {
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

// giveBackLeft gives back what could not be given back before: the run of that id,
// or with "" all.
func (e *Engine) giveBackLeft(ctx context.Context, run string) error {
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

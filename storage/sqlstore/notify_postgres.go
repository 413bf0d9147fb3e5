package sqlstore

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ebbflow/ebb/storage/sqlstore/internal/wakeup"
)

// A notification contains the id of the owner, and one of these suffixes. Without a suffix it is about any change.
const (
	ofJobs  = " jobs"  // a job was posted
	ofEnds  = " ends"  // runs have ended, or work was queued for workers
	listens = " waits" // callers of the process wait for such a notification
)

const (
	// listenEvery is how often a process repeats that its callers wait, and listened is how long that counts.
	listenEvery = 500 * time.Millisecond
	listened    = 3 * time.Second
)

// tell schedules a notification of other processes. Ends of runs and work are told only while another process waits
// for them.
func (k *leaseRenewer) tell(what wakeup.Change) {
	if what < wakeup.Posts && time.Now().UnixMicro() > k.awaited.Load() {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.untold == wakeup.Nothing && k.disturb != nil {
		k.disturb()
	}
	k.untold = max(k.untold, what)
}

// listens schedules a notification that callers of this process wait for ends of runs or for work.
func (k *leaseRenewer) listens() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if now := time.Now(); now.Sub(k.listened) >= listenEvery {
		k.listened, k.waiting = now, true
		if k.disturb != nil {
			k.disturb()
		}
	}
}

// text returns the text of a notification about a change.
func (k *leaseRenewer) text(what wakeup.Change) string {
	switch what {
	case wakeup.Posts:
		return k.owner.ID + ofJobs
	case wakeup.Ends, wakeup.Works:
		return k.owner.ID + ofEnds
	case wakeup.Nothing, wakeup.Moves:
	}
	return k.owner.ID
}

// waits returns the text of a notification that is due. If none is due, it returns a context that ends when the
// lease renewer has work, or nil if the lease renewer must stop. It moves wake forward to the time of the next
// notification.
func (k *leaseRenewer) waits(ctx context.Context, wake *time.Time,
	told time.Time,
) (disturbed context.Context, tells string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stopped() {
		return nil, ""
	}
	if k.waiting {
		k.waiting = false
		return nil, k.owner.ID + listens
	}
	if k.untold != wakeup.Nothing {
		at := told.Add(tellEvery)
		if !time.Now().Before(at) {
			tells = k.text(k.untold)
			k.untold = wakeup.Nothing
			return nil, tells
		}
		*wake = earliest(*wake, at)
	}
	disturbed, k.disturb = context.WithCancel(ctx)
	return disturbed, ""
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// listen waits until the given time for a notification of another process, and forwards it.
func (k *leaseRenewer) listen(ctx context.Context, conn *pgx.Conn, until time.Time) error {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	n, err := conn.WaitForNotification(ctx)
	from, what := "", wakeup.Moves
	if err == nil {
		var kind string
		from, kind, _ = strings.Cut(n.Payload, " ")
		switch kind {
		case ofJobs[1:]:
			what = wakeup.Posts
		case ofEnds[1:]:
			what = wakeup.Ends
		case listens[1:]:
			what = wakeup.Nothing
		}
	}
	k.mu.Lock()
	k.disturb()
	k.mu.Unlock()
	switch {
	case err == nil && from != k.owner.ID && what == wakeup.Nothing:
		k.awaited.Store(time.Now().Add(listened).UnixMicro())
	case err == nil && from != k.owner.ID:
		k.notifier.Heard(what)
	case err != nil && ctx.Err() == nil:
		return err
	case conn.IsClosed():
		return errors.New("the connection was lost")
	}
	return nil
}

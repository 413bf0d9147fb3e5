package driver

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/executor"
	"github.com/ebbflow/ebb/engine/internal/session"
)

// An attention contains the requests of other goroutines to the driving goroutine.
type attention struct {
	run     *run
	mode    *Mode
	look    atomic.Bool                        // a request is pending
	mail    atomic.Bool                        // messages have arrived
	doubted atomic.Bool                        // another process may have taken the run over
	broken  atomic.Pointer[session.StoreError] // the store's error that failed an atom
	here    atomic.Pointer[executor.Call]      // the call that the driving goroutine is making
	answer  pendingAnswer                      // of user code
	gone    *bool                              // set by a goroutine that no longer drives the run when it ends
	steps   steps                              // from phase to phase
	wake    chan struct{}                      // wakes the driving goroutine
	handoff chan struct{}                      // wakes the goroutine that watches
	rest    chan stopped                       // how the driving goroutine ended
	due     atomic.Int64                       // the run's deadline, in Unix microseconds; 0 for none
	expiry  *time.Timer                        // wakes both goroutines at the deadline
	suspend <-chan struct{}                    // closed when the run must come to rest; nil after that was seen
	quit    bool                               // the run must come to rest
	aside   *atom.Failure                      // why only an operator may resume the run; may be nil
	unwatch func() bool                        // stop waiting for ctx to end
}

// called reports whether another goroutine has a request for the driving goroutine. It reads
// only fields that both may read, because the run may be taken over meanwhile.
func (a *attention) called() bool { return a.look.Load() || a.run.ctx.Err() != nil || a.quiets() }

// Notify tells the run that messages have arrived.
func (a *attention) Notify() {
	a.mail.Store(true)
	a.Wake()
}

// Doubt makes the run check whether this engine still owns it, because another process declared the store's owner
// dead.
func (a *attention) Doubt() {
	a.doubted.Store(true)
	a.Wake()
}

// assure returns an error if another process has taken the run over, or if the store does not answer. The driver
// then cancels running calls, as when the process must stop. It writes nothing and undoes nothing: the new owner
// does that.
func (a *attention) assure() error {
	if !a.doubted.Swap(false) {
		return nil
	}
	ctx, cancel := context.WithTimeout(a.run.storing, assurance)
	defer cancel()
	return a.run.CheckOwned(ctx)
}

// Wake makes the driving goroutine check for requests. If that goroutine is making a call, another goroutine takes
// the run from it. Wake never blocks.
func (a *attention) Wake() {
	a.look.Store(true)
	for _, c := range []chan struct{}{a.wake, a.handoff} {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// Broken stops the run at its last checkpoint, because the store failed an atom. If the atom returns an error from
// now on, the error is not the atom's failure.
func (a *attention) Broken(err error) {
	a.broken.CompareAndSwap(nil, &session.StoreError{Run: a.run.Claim.Run, Err: err})
	a.Wake()
}

// quiets reports whether the process must not start anything.
func (a *attention) quiets() bool { return isClosed(a.mode.Quiet) }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

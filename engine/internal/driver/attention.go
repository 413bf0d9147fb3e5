package driver

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/executor"
	"github.com/ebbflow/ebb/storage"
)

// Attention is how other goroutines reach the one that drives, and what is wanted of the run.
type attention struct {
	run     *run
	mode    *Mode
	look    atomic.Bool                   // something wants to be looked at
	mail    atomic.Bool                   // messages have come
	doubted atomic.Bool                   // another process may have taken the run over
	broken  atomic.Pointer[StoreError]    // what the store said when it failed an atom
	here    atomic.Pointer[executor.Call] // what the goroutine that drives is in the middle of
	answers answers                       // of user code
	steps   steps                         // from phase to phase
	wake    chan struct{}                 // calls who drives
	handoff chan struct{}                 // calls who watches
	rest    chan stopped                  // how the driving ended
	due     atomic.Int64                  // when the run is to be over, in Unix nanoseconds; 0 for never
	expiry  *time.Timer                   // calls who drives, and who watches, then
	suspend <-chan struct{}               // closed when the run is to come to rest; nil once that was seen
	quit    bool                          // the run is to come to rest
	aside   *atom.Failure                 // why no process may resume the run before an operator decides; may be nil
	unwatch func() bool                   // stop waiting for ctx to end
}

// called reports whether another goroutine wants something to be looked at by the one
// that drives. It reads only what both may: the run may be taken over meanwhile.
func (a *attention) called() bool { return a.look.Load() || a.run.ctx.Err() != nil || a.quiets() }

// Notify tells the run that messages have arrived.
func (a *attention) Notify() {
	a.mail.Store(true)
	a.Wake()
}

// Doubt lets the run look whether it is still this engine's: the store's owner was
// taken for dead.
func (a *attention) Doubt() {
	a.doubted.Store(true)
	a.Wake()
}

// assure returns an error if another process has taken the run over, or if the store
// does not say whether. What executes is then told to stop, as when the process is to
// stop. The driver writes nothing and undoes nothing: the new owner does that.
func (a *attention) assure() error {
	if !a.doubted.Swap(false) || !a.run.Owns() {
		return nil
	}
	ctx, cancel := context.WithTimeout(a.run.storing, assurance)
	defer cancel()
	run, err := a.run.env.Store.Run(ctx, a.run.claim.Run)
	if err == nil && (run.ClaimID != a.run.claim.ID || run.Owner == "") {
		err = storage.ErrFenced
	}
	if err != nil {
		return storeError(a.run.claim.Run, err)
	}
	return nil
}

// Wake lets the goroutine that drives look around, if need be by taking the run
// from the one that is in the middle of a call. It never waits.
func (a *attention) Wake() {
	a.look.Store(true)
	for _, c := range []chan struct{}{a.wake, a.handoff} {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// Broken stops the run at its last checkpoint, because the store failed an
// atom: whatever that atom returns now is no failure of its own.
func (a *attention) Broken(err error) {
	a.broken.CompareAndSwap(nil, &StoreError{Run: a.run.claim.Run, Err: err})
	a.Wake()
}

// quiets reports whether nothing more is to be begun.
func (a *attention) quiets() bool { return isClosed(a.mode.Quiet) }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

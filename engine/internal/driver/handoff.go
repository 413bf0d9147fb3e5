package driver

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/storage"
)

// errTaken is what a goroutine is told that no longer drives the run.
var errTaken = errors.New("engine: another goroutine drives the run")

// Live drives the run to rest. The goroutine that called Run watches meanwhile:
// a lone call is made on the goroutine that drives, which spares the handing
// over, and when that call lasts while something else happens, the run is taken
// from it and driven by another. An answer that ignores what is wanted of the run is
// given up.
func (d *Driver) Live(first *scheduler.OperatorCommand, rest []storage.Message) error {
	d.env.Inbox.Join(d.claim.Run, d, d.Mode.Since)
	defer d.env.Inbox.Leave(d.claim.Run)
	start := func() error { return d.start(first, rest) }
	if d.Mode.Yield != nil { // Steps wants all of it here
		d.drive(start)
		return d.outcome(<-d.rest)
	}
	go d.drive(start)
	stop, suspend := d.ctx.Done(), (<-chan struct{})(d.env.Suspend)
	var w watch
	defer w.end()
	for {
		select {
		case s := <-d.rest:
			return d.outcome(s)
		case <-w.due:
			if err := d.giveUpAnswer(&w); err != nil {
				return d.abandon(err)
			}
			continue
		case <-suspend:
			suspend = nil
			w.begin()
			continue
		case <-stop:
			stop = nil
		case <-d.handoff:
		}
		d.takeOver()
		w.begin()
	}
}

// outcome returns how the driving ended, or panics as the driving did. It releases
// the run first: the run resumes from its last commit when it is run again.
func (d *Driver) outcome(s stopped) error {
	if s.panics != nil {
		d.env.Runs.Release(d.storing, d.claim)
		panic(s.panics)
	}
	return s.err
}

// called reports whether another goroutine wants something to be looked at by the one
// that drives. It reads only what both may: the run may be taken over meanwhile.
func (d *Driver) called() bool { return d.look.Load() || d.ctx.Err() != nil || d.quiets() }

// Notify tells the run that messages have arrived.
func (d *Driver) Notify() {
	d.mail.Store(true)
	d.Wake()
}

// Doubt lets the run look whether it is still this engine's: the store's owner was
// taken for dead.
func (d *Driver) Doubt() {
	d.doubted.Store(true)
	d.Wake()
}

// assurance is how long a store may take to say whose a run is: with a lease of ten
// seconds, the owner of one that says nothing has stopped before others may think
// so.
const assurance = 3 * time.Second

// assure returns an error if another process has taken the run over, or if the store
// does not say whether. What executes is then told to stop, as when the process is to
// stop. The driver writes nothing and undoes nothing: the new owner does that.
func (d *Driver) assure() error {
	if !d.doubted.Swap(false) || !d.Owns() {
		return nil
	}
	ctx, cancel := context.WithTimeout(d.storing, assurance)
	defer cancel()
	run, err := d.env.Store.Run(ctx, d.claim.Run)
	if err == nil && (run.ClaimID != d.claim.ID || run.Owner == "") {
		err = storage.ErrFenced
	}
	if err != nil {
		return storeError(d.claim.Run, err)
	}
	return nil
}

// Wake lets the goroutine that drives look around, if need be by taking the run
// from the one that is in the middle of a call. It never waits.
func (d *Driver) Wake() {
	d.look.Store(true)
	for _, c := range []chan struct{}{d.wake, d.handoff} {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// takeOver takes the run from a goroutine that is in the middle of a call. What
// that goroutine was driving is then like any call made elsewhere.
func (d *Driver) takeOver() {
	c := d.here.Load()
	if c == nil || !d.here.CompareAndSwap(c, nil) {
		return
	}
	d.calls.Adopt(c)
	go d.drive(d.loop)
}

// stopped is how a goroutine ended that drove the run: with an error, or with a
// panic of an observer, which is passed on to who called Run.
type stopped struct {
	err    error
	panics any
}

// drive is the life of a goroutine that drives the run.
func (d *Driver) drive(work func() error) {
	var s stopped
	s.err = d.guarded(work, &s.panics)
	if errors.Is(s.err, errTaken) {
		return
	}
	d.stopAtoms()
	d.env.Buffers.Return(&d.next)
	d.s.Rest()
	d.rest <- s
}

func (d *Driver) guarded(work func() error, panics *any) error {
	defer func() {
		if *panics = recover(); *panics != nil {
			d.env.Log.Error("the run stops: a panic", "run", d.claim.Run, "panic", *panics, "stack", string(debug.Stack()))
		}
	}()
	return work()
}

// Broken stops the run at its last checkpoint, because the store failed an
// atom: whatever that atom returns now is no failure of its own.
func (d *Driver) Broken(err error) {
	d.broken.CompareAndSwap(nil, &StoreError{Run: d.claim.Run, Err: err})
	d.Wake()
}

// stopAtoms cancels what still executes, and waits for it as long as its grace
// lasts.
func (d *Driver) stopAtoms() {
	select {
	case <-d.env.Suspend: // what it drives beside itself comes to rest by itself, too
		d.childSlots.Wait()
	default:
	}
	d.Close()
	d.calls.Stop()
	d.childSlots.Wait()
}

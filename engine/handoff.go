package engine

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

// live drives the run to rest. The goroutine that called Run watches meanwhile:
// a lone call is made on the goroutine that drives, which spares the handing
// over, and when that call lasts while something else happens, the run is taken
// from it and driven by another. An answer that ignores what is wanted of the run is
// given up.
func (d *driver) live(first *scheduler.OperatorCommand, rest []storage.Message) error {
	d.e.deliverTo(d)
	defer d.e.deliverNoMore(d)
	start := func() error { return d.start(first, rest) }
	if d.yield != nil { // Steps wants all of it here
		d.drive(start)
		return d.outcome(<-d.rest)
	}
	go d.drive(start)
	stop, suspend := d.ctx.Done(), (<-chan struct{})(d.e.suspend)
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
func (d *driver) outcome(s stopped) error {
	if s.panics != nil {
		d.releaseAfter(nil)
		panic(s.panics)
	}
	return s.err
}

// called reports whether another goroutine wants something to be looked at by the one
// that drives. It reads only what both may: the run may be taken over meanwhile.
func (d *driver) called() bool { return d.look.Load() || d.ctx.Err() != nil || d.quiets() }

// notify tells the run that messages have arrived.
func (d *driver) notify() {
	d.mail.Store(true)
	d.Wake()
}

// doubt lets the run look whether it is still this engine's: the store's owner was
// taken for dead.
func (d *driver) doubt() {
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
func (d *driver) assure() error {
	if !d.doubted.Swap(false) || !d.owns() {
		return nil
	}
	ctx, cancel := context.WithTimeout(d.storing, assurance)
	defer cancel()
	run, err := d.e.store.Run(ctx, d.claim.Run)
	if err == nil && (run.ClaimID != d.claim.ID || run.Owner == "") {
		err = storage.ErrFenced
	}
	if err != nil {
		return d.storeError(err)
	}
	return nil
}

// Wake lets the goroutine that drives look around, if need be by taking the run
// from the one that is in the middle of a call. It never waits.
func (d *driver) Wake() {
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
func (d *driver) takeOver() {
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
func (d *driver) drive(work func() error) {
	var s stopped
	s.err = d.guarded(work, &s.panics)
	if errors.Is(s.err, errTaken) {
		return
	}
	d.stopAtoms()
	d.e.buffers.Return(&d.next)
	d.s.Rest()
	d.rest <- s
}

func (d *driver) guarded(work func() error, panics *any) error {
	defer func() {
		if *panics = recover(); *panics != nil {
			d.e.log.Error("the run stops: a panic", "run", d.claim.Run, "panic", *panics, "stack", string(debug.Stack()))
		}
	}()
	return work()
}

// Broken stops the run at its last checkpoint, because the store failed an
// atom: whatever that atom returns now is no failure of its own.
func (d *driver) Broken(err error) {
	d.broken.CompareAndSwap(nil, &StoreError{Run: d.claim.Run, Err: err})
	d.Wake()
}

// stopAtoms cancels what still executes, and waits for it as long as its grace
// lasts.
func (d *driver) stopAtoms() {
	select {
	case <-d.e.suspend: // what it drives beside itself comes to rest by itself, too
		d.childSlots.Wait()
	default:
	}
	d.release()
	d.calls.Stop()
	d.childSlots.Wait()
}

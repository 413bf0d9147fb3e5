// Package wakeup notifies goroutines that wait for a change in a database.
package wakeup

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// The pauses between polls for writes of other processes: short at first, then longer, and only while a goroutine
// waits.
const (
	firstLook = 2 * time.Millisecond
	lastLook  = 50 * time.Millisecond
	slowLook  = time.Second      // pause after no change for the time quiet
	quiet     = 10 * time.Minute // see slowLook
)

// A Change is the kind of a change. It determines which waiting callers the change concerns.
type Change uint8

// A Change concerns the callers that wait for it, and those that wait for a smaller Change.
const (
	Nothing Change = iota
	Ends           // a run ended: of other processes, only callers of Foreign are notified
	Works          // work was queued for workers: of other processes, only callers of Foreign are notified
	Posts          // a job was posted
	Moves          // a message, a due run, or any other change
)

// A Notifier wakes waiting goroutines when the database may have changed. A write of this process notifies them
// directly. For writes of other processes, the Notifier polls the database while a goroutine waits. The poll reads
// a counter in shared memory and does not touch the disk.
type Notifier struct {
	// look returns a number that changes with each write of another process.
	look   func(context.Context) (int64, error)
	Tell   func(Change) // notifies other processes; nil if they poll
	Others atomic.Bool  // true if another process has written since the last RunsWithMessages

	Count atomic.Int64 // see Store.Version
	Told  atomic.Int64 // number of notifications from other processes
	Last  atomic.Int64 // when the last change came, in microseconds

	mu      sync.Mutex
	waiting chan struct{} // nil if no goroutine waits
	foreign chan struct{} // closed only for writes of other processes; nil if no goroutine waits
	version int64         // version of the database at the last look
	stop    chan struct{}
	done    sync.WaitGroup
}

// New returns a Notifier that polls with look for writes of other processes; if look is nil, it does not poll.
func New(look func(context.Context) (int64, error)) *Notifier {
	return &Notifier{look: look, stop: make(chan struct{})}
}

// Changes returns the channel on which callers wait.
func (b *Notifier) Changes() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting == nil {
		b.waiting = b.watched(slowLook)
	}
	return b.waiting
}

// Foreign is Changes for writes of other processes only. The Notifier polls for them as often after a long time
// without writes.
func (b *Notifier) Foreign() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.foreign == nil {
		b.foreign = b.watched(lastLook)
	}
	return b.foreign
}

// Rest wakes the callers of Foreign. The Notifier polls for them no more until one of them calls Foreign again.
func (b *Notifier) Rest() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.foreign != nil {
		close(b.foreign)
		b.foreign = nil
	}
}

// watched returns a channel, and polls until it is closed. slow is the pause after no change for a long time.
func (b *Notifier) watched(slow time.Duration) chan struct{} {
	waiting := make(chan struct{})
	select {
	case <-b.stop:
	default:
		if b.look != nil {
			b.done.Go(func() { b.watch(waiting, slow) })
		}
	}
	return waiting
}

// Notify wakes goroutines and processes that may wait for this change of this process.
func (b *Notifier) Notify(what Change) {
	b.Last.Store(time.Now().UnixMicro())
	b.pass(what)
	if b.Tell != nil && what > Nothing {
		b.Tell(what)
	}
}

// Heard wakes goroutines that may wait for this change of another process.
func (b *Notifier) Heard(what Change) {
	b.Rest()
	if what < Posts {
		return
	}
	b.Told.Add(1)
	b.Last.Store(time.Now().UnixMicro())
	b.pass(what)
}

// Wake wakes all waiting goroutines of this process.
func (b *Notifier) Wake() { b.pass(Moves) }

// pass wakes the waiting goroutines of this process.
func (b *Notifier) pass(what Change) {
	if what == Moves {
		b.Count.Add(1)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting != nil {
		close(b.waiting)
		b.waiting = nil
	}
}

// watch polls the database until it has changed, or waiting is closed.
func (b *Notifier) watch(waiting <-chan struct{}, slow time.Duration) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	begun := time.Now()
	for next := firstLook; ; next = min(next*3/2, lastLook) {
		select {
		case <-b.stop:
			return
		case <-waiting:
			return
		case <-pause.C:
		}
		if b.Look(context.Background()) {
			b.Heard(Moves)
			return
		}
		if time.Since(begun) > quiet {
			next = slow
		}
		pause.Reset(next)
	}
}

// Look reports whether another process has written since the last look, or whether the database cannot tell.
func (b *Notifier) Look(ctx context.Context) bool {
	version, err := b.look(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	was := b.version
	b.version = version
	if err == nil && version == was {
		return false
	}
	b.Others.Store(true)
	return true
}

// Close stops all polling, and wakes the waiting goroutines.
func (b *Notifier) Close() {
	b.mu.Lock()
	close(b.stop)
	b.mu.Unlock()
	b.done.Wait()
	b.Rest()
	b.Wake()
}

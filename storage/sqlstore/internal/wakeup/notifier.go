// Package wakeup tells the goroutines that wait for a database that something may have come.
package wakeup

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// The pauses between looks at whether another process has written: short at
// first, then longer, only while a goroutine waits.
const (
	firstLook = 2 * time.Millisecond
	lastLook  = 50 * time.Millisecond
	slowLook  = time.Second      // once nothing has come for as long as
	quiet     = 10 * time.Minute // this
)

// A Change is the kind of what has come. It determines which waiting calls it concerns.
type Change uint8

// Each Change also concerns those that wait for the ones before.
const (
	Nobody Change = iota
	Ends          // a run ended: only this process is told, other processes that wait for it poll
	Posts         // a job is there
	Moves         // a message, a run that is due, or anything else
)

// A Notifier tells waiting goroutines that something may have come. A write of this
// process notifies them directly. For writes of other processes the Notifier polls the
// database for a change while a goroutine waits. The poll reads a counter in shared
// memory and does not touch the disk.
type Notifier struct {
	// look returns a number that changes with each write of another process.
	look   func(context.Context) (int64, error)
	Tell   func(Change) // tells other processes; nil where they look themselves
	Others atomic.Bool  // another process has written since RunsWithMessages last looked

	Count atomic.Int64 // see Store.Version
	Told  atomic.Int64 // how often others have told that something came
	Last  atomic.Int64 // when something last came, in microseconds

	mu      sync.Mutex
	waiting chan struct{} // nil when no goroutine waits
	version int64         // of the database, as last seen
	stop    chan struct{}
	done    sync.WaitGroup
}

// New returns a Notifier that looks so for the writes of others; nil does not.
func New(look func(context.Context) (int64, error)) *Notifier {
	return &Notifier{look: look, stop: make(chan struct{})}
}

// Changes returns the channel to wait on.
func (b *Notifier) Changes() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting != nil {
		return b.waiting
	}
	b.waiting = make(chan struct{})
	select {
	case <-b.stop:
	default:
		if waiting := b.waiting; b.look != nil {
			b.done.Go(func() { b.watch(waiting) })
		}
	}
	return b.waiting
}

// Notify says that this process has written what a goroutine or process may wait for.
func (b *Notifier) Notify(what Change) {
	b.Last.Store(time.Now().UnixMicro())
	b.pass(what)
	if b.Tell != nil && what > Ends {
		b.Tell(what)
	}
}

// Heard passes on what another process has told.
func (b *Notifier) Heard(what Change) {
	b.Told.Add(1)
	b.Last.Store(time.Now().UnixMicro())
	b.pass(what)
}

// Wake makes all waiting goroutines of this process look.
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
func (b *Notifier) watch(waiting <-chan struct{}) {
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
			next = slowLook
		}
		pause.Reset(next)
	}
}

// Look reports whether another process has written since the last look, or
// whether that cannot be told.
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

// Close ends all polling, and wakes the waiting goroutines.
func (b *Notifier) Close() {
	b.mu.Lock()
	close(b.stop)
	b.mu.Unlock()
	b.done.Wait()
	b.Wake()
}

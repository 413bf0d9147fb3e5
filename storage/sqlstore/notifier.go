package sqlstore

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

// A change is the kind of what has come. It determines which waiting calls it concerns.
type change uint8

// Each change also concerns those that wait for the ones before.
const (
	nobody change = iota
	ends          // a run ended: only this process is told, others who wait for that look often
	posts         // a job is there
	moves         // a message, a run that is due, or anything else
)

// A notifier tells waiting goroutines that something may have come. A write of this
// process notifies them directly. For writes of other processes the notifier polls the
// database for a change while a goroutine waits. The poll reads a counter in shared
// memory and does not touch the disk. It uses the writer's connection, so commits of
// this process do not count.
type notifier struct {
	writer *writer      // nil when the store only reads, and on a server: then others are not looked for
	tell   func(change) // tells other processes; nil where they look themselves
	others atomic.Bool  // another process has written since RunsWithMessages last looked

	count atomic.Int64 // see Store.Version
	told  atomic.Int64 // how often others have told that something came
	last  atomic.Int64 // when something last came, in microseconds

	mu      sync.Mutex
	waiting chan struct{} // nil when no goroutine waits
	version int64         // of the database, as last seen
	stop    chan struct{}
	done    sync.WaitGroup
}

func newNotifier(w *writer) *notifier { return &notifier{writer: w, stop: make(chan struct{})} }

// changes returns the channel to wait on.
func (b *notifier) changes() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting != nil {
		return b.waiting
	}
	b.waiting = make(chan struct{})
	select {
	case <-b.stop:
	default:
		if waiting := b.waiting; b.writer != nil {
			b.done.Go(func() { b.watch(waiting) })
		}
	}
	return b.waiting
}

// notify says that this process has written what a goroutine or process may wait for.
func (b *notifier) notify(what change) {
	b.last.Store(time.Now().UnixMicro())
	b.pass(what)
	if b.tell != nil && what > ends {
		b.tell(what)
	}
}

// heard passes on what another process has told.
func (b *notifier) heard(what change) {
	b.told.Add(1)
	b.last.Store(time.Now().UnixMicro())
	b.pass(what)
}

// sound makes all waiting goroutines of this process look.
func (b *notifier) sound() { b.pass(moves) }

// pass wakes the waiting goroutines of this process.
func (b *notifier) pass(what change) {
	if what == moves {
		b.count.Add(1)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting != nil {
		close(b.waiting)
		b.waiting = nil
	}
}

// watch polls the database until it has changed, or waiting is closed.
func (b *notifier) watch(waiting <-chan struct{}) {
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
		if b.changed(context.Background()) {
			b.heard(moves)
			return
		}
		if time.Since(begun) > quiet {
			next = slowLook
		}
		pause.Reset(next)
	}
}

// changed reports whether another process has written since the last look, or
// whether that cannot be told.
func (b *notifier) changed(ctx context.Context) bool {
	var version int64
	err := b.writer.run(ctx, &write{bare: true, do: func(ctx context.Context, w *session) error {
		return w.get(ctx, &version, "PRAGMA data_version")
	}})
	b.mu.Lock()
	defer b.mu.Unlock()
	was := b.version
	b.version = version
	if err == nil && version == was {
		return false
	}
	b.others.Store(true)
	return true
}

func (b *notifier) close() {
	b.mu.Lock()
	close(b.stop)
	b.mu.Unlock()
	b.done.Wait()
	b.sound()
}

// Changed returns a channel that is closed when something may have come: at once
// for what this process writes, within 50 ms for what another does; within 1 s
// when nothing has come for ten minutes. On a server, other processes notify of
// what they write; should that be lost, the channel is closed within about 1 s all
// the same, and closed without cause about once in a second.
func (s *Store) Changed() <-chan struct{} { return s.notifier.changes() }

// Version returns how often messages may have come, or runs may have become due. On a server
// it rises about once in a second whatever came. A message that comes to a run that is
// just being ended may be noticed only then.
func (s *Store) Version() int64 { return s.notifier.count.Load() }

package inbox

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/storage"
)

// A Run is a run that this process drives. Its methods never block.
type Run interface {
	// Notify tells the run that messages have arrived.
	Notify()
	// Doubt makes the run check whether this process still owns it, because another process declared the store's
	// owner dead.
	Doubt()
	// Wake makes the run look for what callers ask of it.
	Wake()
}

// A Watcher notifies the runs that an engine drives when messages have arrived for them. It works as long as the
// engine drives runs.
type Watcher struct {
	Store backend.Store
	Log   hclog.Logger

	mu   sync.Mutex
	runs map[string][]Run // by id: those that joined under it, mostly one
	idle chan struct{}    // closed when the last run has left
	gone chan struct{}    // closed when the watcher's goroutine has returned

	// since is the number up to which messages were delivered. It outlives the watcher's goroutine: runs that start
	// later were loaded with the messages from before, which may be very many.
	since   int64
	version int64 // 1 + [backend.Inbox.Version] before the last query; 0 before the first

	rounds atomic.Int64 // number of rounds that may have delivered messages
}

// A Mark is a moment in the work of a watcher.
type Mark struct{ rounds, evictions int64 }

// Mark returns the current moment. Call it before a run is loaded.
func (w *Watcher) Mark() Mark { return Mark{w.rounds.Load(), w.Store.Evictions()} }

// Join lets messages reach a run. If another driver of the run joined earlier and has not left yet, messages reach
// both: only one of them has the run, and the other leaves when it learns that. If the watcher has delivered messages
// since the mark, one of them may have been for this run, so Join notifies the run.
func (w *Watcher) Join(id string, r Run, since Mark) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.runs) == 0 {
		w.runs = map[string][]Run{}
		w.idle, w.gone = make(chan struct{}), make(chan struct{})
		go w.work(w.idle, w.gone)
	}
	w.runs[id] = append(w.runs[id], r)
	if w.rounds.Load() != since.rounds {
		r.Notify()
	}
	if w.Store.Evictions() != since.evictions {
		r.Doubt()
	}
}

// Leave is called once for each Join. If no run is left, it waits until the watcher's goroutine has returned.
//
// Two drivers of this process may have joined for one run: a driver releases its run with its last commit, and leaves a
// moment later. The driver of a run that its parent created joins before its first commit, which the store refuses if
// the server was faster. Whichever leaves first, the other must hear on.
func (w *Watcher) Leave(id string, r Run) {
	w.mu.Lock()
	last := false
	if rest := slices.DeleteFunc(w.runs[id], func(had Run) bool { return had == r }); len(rest) > 0 {
		w.runs[id] = rest
	} else {
		delete(w.runs, id)
		last = len(w.runs) == 0
	}
	gone := w.gone
	if last {
		close(w.idle)
	}
	w.mu.Unlock()
	if last {
		<-gone
	}
}

// work asks the store which runs have new messages each time the store reports a
// change. If the query fails, work retries it a little later.
func (w *Watcher) work(idle <-chan struct{}, gone chan<- struct{}) {
	defer close(gone)
	var evictionWatcher sync.WaitGroup
	evictionWatcher.Go(func() { w.watchEvictions(idle) })
	defer evictionWatcher.Wait()
	const pause = 100 * time.Millisecond
	failing := false
	for {
		changed, version := w.Store.Changed(), w.Store.Version()
		var again <-chan time.Time
		if since, due := w.asks(version); due {
			arrivals, now, err := w.Store.RunsWithMessages(context.Background(), since)
			switch {
			case err == nil:
				w.deliver(arrivals, now, version)
			case errors.Is(err, storage.ErrClosed):
				// The store is closed and reports no changes any more. Each run finds that out when it reads.
				w.each(Run.Notify)
			case !failing: // else the log has the first failure
				w.Log.Log(backend.LevelOf(err, hclog.Warn), logevent.InboxFailed, "error", err)
			}
			if failing = err != nil; failing {
				again = time.After(pause)
			}
		}
		select {
		case <-changed:
		case <-again:
		case <-idle:
			return
		}
	}
}

// watchEvictions makes the runs check their ownership whenever another process may have declared the store's owner
// dead. It does not query the database, which may not answer at that time.
func (w *Watcher) watchEvictions(idle <-chan struct{}) {
	evictions := int64(0)
	for {
		changed := w.Store.Changed()
		if n := w.Store.Evictions(); n != evictions {
			evictions = n
			w.each(Run.Doubt)
		}
		select {
		case <-changed:
		case <-idle:
			return
		}
	}
}

// Wake wakes the driver of a run. It reports whether this process drives the run.
func (w *Watcher) Wake(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.runs[id] {
		r.Wake()
	}
	return len(w.runs[id]) > 0
}

// each calls f with all runs.
func (w *Watcher) each(f func(Run)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, drivers := range w.runs {
		for _, r := range drivers {
			f(r)
		}
	}
}

// asks returns the number up to which messages were delivered, and whether there may be more.
func (w *Watcher) asks(version int64) (since int64, due bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.since, w.version != version+1
}

// deliver notifies runs of messages, which are all messages up to a number.
func (w *Watcher) deliver(arrivals []backend.Arrival, upTo, version int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.since, w.version = max(w.since, upTo), max(w.version, version+1) // two goroutines of a watcher may overlap
	if len(arrivals) == 0 {
		return
	}
	w.rounds.Add(1)
	for i := range arrivals {
		for _, r := range w.runs[arrivals[i].Run] {
			r.Notify()
		}
	}
}

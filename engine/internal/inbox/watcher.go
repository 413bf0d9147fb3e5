package inbox

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/storage"
)

// A Run is driven by this process. Its methods never wait.
type Run interface {
	// Notify tells the run that messages have arrived.
	Notify()
	// Doubt lets the run look whether it is still this process's: the store's owner was
	// taken for dead.
	Doubt()
}

// A Watcher notifies the runs that an engine drives when messages have arrived
// for them. It works as long as the engine drives runs.
type Watcher struct {
	Store storage.Store
	Log   hclog.Logger

	mu   sync.Mutex
	runs map[string]Run
	idle chan struct{} // closed when the last run is gone
	gone chan struct{} // closed when the watcher's goroutine has returned

	// since is up to where messages were delivered. It outlives the watcher's goroutine:
	// runs that began later were loaded with the messages from before, which may be very
	// many.
	since   int64
	version int64 // [storage.Inbox.Version] before the store was asked for them, and 1; 0 when it never was

	rounds atomic.Int64 // on which something was to be delivered
}

// A Mark is a moment of a watcher.
type Mark struct{ rounds, evictions int64 }

// Mark returns the present moment. Take it before a run is loaded.
func (w *Watcher) Mark() Mark { return Mark{w.rounds.Load(), w.Store.Evictions()} }

// Join lets messages reach a run. If the watcher has delivered messages since the mark, one of
// them may have been for this run, so Join notifies it.
func (w *Watcher) Join(id string, r Run, since Mark) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.runs) == 0 {
		w.runs = map[string]Run{}
		w.idle, w.gone = make(chan struct{}), make(chan struct{})
		go w.work(w.idle, w.gone)
	}
	w.runs[id] = r
	if w.rounds.Load() != since.rounds {
		r.Notify()
	}
	if w.Store.Evictions() != since.evictions {
		r.Doubt()
	}
}

// Leave is called once for each Join. If no run is left, it waits until the watcher's
// goroutine has returned.
func (w *Watcher) Leave(id string) {
	w.mu.Lock()
	delete(w.runs, id)
	gone := w.gone
	last := len(w.runs) == 0
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
	for {
		changed, version := w.Store.Changed(), w.Store.Version()
		var again <-chan time.Time
		if since, due := w.asks(version); due {
			arrivals, now, err := w.Store.RunsWithMessages(context.Background(), since)
			if errors.Is(err, storage.ErrClosed) { // the store will not report changes any more: each run finds that out when it reads
				w.each(Run.Notify)
			}
			if err != nil {
				w.Log.Debug("cannot read which runs have new messages; retrying", "error", err)
				again = time.After(pause)
			} else {
				w.deliver(arrivals, now, version)
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

// watchEvictions lets the runs look whether they are still this engine's whenever the
// store's owner may have been taken for dead. It asks nothing of a database, which
// may not answer just then.
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

// each calls f with all runs.
func (w *Watcher) each(f func(Run)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.runs {
		f(r)
	}
}

// asks returns up to where messages were delivered, and whether more may have come.
func (w *Watcher) asks(version int64) (since int64, due bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.since, w.version != version+1
}

// deliver tells runs that messages have come, which is all up to a number.
func (w *Watcher) deliver(arrivals []storage.Arrival, upTo, version int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.since, w.version = max(w.since, upTo), max(w.version, version+1) // two goroutines of a watcher may overlap
	if len(arrivals) == 0 {
		return
	}
	w.rounds.Add(1)
	for i := range arrivals {
		if r := w.runs[arrivals[i].Run]; r != nil {
			r.Notify()
		}
	}
}

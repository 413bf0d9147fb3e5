package engine

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ebbflow/ebb/storage"
)

// An inboxWatcher notifies the runs that an engine drives when messages have arrived
// for them. It works as long as the engine drives runs.
type inboxWatcher struct {
	mu   sync.Mutex
	runs map[string]*driver
	idle chan struct{} // closed when the last run is gone
	gone chan struct{} // closed when the watcher's goroutine has returned

	// since is up to where messages were delivered. It outlives the watcher's goroutine:
	// runs that began later were loaded with the messages from before, which may be very
	// many.
	since   int64
	version int64 // [storage.Inbox.Version] before the store was asked for them, and 1; 0 when it never was

	rounds atomic.Int64 // on which something was to be delivered
}

// deliverTo lets messages reach a run. If the watcher has delivered messages since
// the run began, one of them may have been for this run, so deliverTo notifies it.
func (e *Engine) deliverTo(d *driver) {
	p := &e.post
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.runs) == 0 {
		p.runs = map[string]*driver{}
		p.idle, p.gone = make(chan struct{}), make(chan struct{})
		go e.work(p.idle, p.gone)
	}
	p.runs[d.claim.Run] = d
	if p.rounds.Load() != d.rounds {
		d.notify()
	}
	if e.store.Evictions() != d.evictions {
		d.doubt()
	}
}

// deliverNoMore is called once for each deliverTo. If no run is left, it waits until
// the watcher's goroutine has returned.
func (e *Engine) deliverNoMore(d *driver) {
	p := &e.post
	p.mu.Lock()
	delete(p.runs, d.claim.Run)
	gone := p.gone
	last := len(p.runs) == 0
	if last {
		close(p.idle)
	}
	p.mu.Unlock()
	if last {
		<-gone
	}
}

// work asks the store which runs have new messages each time the store reports a
// change. If the query fails, work retries it a little later.
func (e *Engine) work(idle <-chan struct{}, gone chan<- struct{}) {
	defer close(gone)
	var evictionWatcher sync.WaitGroup
	evictionWatcher.Go(func() { e.watchEvictions(idle) })
	defer evictionWatcher.Wait()
	const pause = 100 * time.Millisecond
	for {
		changed, version := e.store.Changed(), e.store.Version()
		var again <-chan time.Time
		if since, due := e.post.asks(version); due {
			arrivals, now, err := e.store.RunsWithMessages(context.Background(), since)
			if errors.Is(err, storage.ErrClosed) { // the store will not report changes any more: each run finds that out when it reads
				e.post.wakeAll()
			}
			if err != nil {
				e.log.Debug("cannot read which runs have new messages; retrying", "error", err)
				again = time.After(pause)
			} else {
				e.post.deliver(arrivals, now, version)
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
func (e *Engine) watchEvictions(idle <-chan struct{}) {
	evictions := int64(0)
	for {
		changed := e.store.Changed()
		if n := e.store.Evictions(); n != evictions {
			evictions = n
			e.post.doubtAll()
		}
		select {
		case <-changed:
		case <-idle:
			return
		}
	}
}

// doubtAll lets all runs look whether they are still this engine's.
func (p *inboxWatcher) doubtAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range p.runs {
		d.doubt()
	}
}

func (p *inboxWatcher) wakeAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range p.runs {
		d.notify()
	}
}

// asks returns up to where messages were delivered, and whether more may have come.
func (p *inboxWatcher) asks(version int64) (since int64, due bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.since, p.version != version+1
}

// deliver tells runs that messages have come, which is all up to a number.
func (p *inboxWatcher) deliver(arrivals []storage.Arrival, upTo, version int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.since, p.version = max(p.since, upTo), max(p.version, version+1) // one who goes and one who comes may meet
	if len(arrivals) == 0 {
		return
	}
	p.rounds.Add(1)
	for i := range arrivals {
		if d := p.runs[arrivals[i].Run]; d != nil {
			d.notify()
		}
	}
}

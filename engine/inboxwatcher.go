package engine

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ebbflow/ebb/storage"
)

// A inbox watcher tells the runs that an engine drives when messages have come for
// them. It works as long as there are any.
type inboxWatcher struct {
	mu   sync.Mutex
	runs map[string]*driver
	idle chan struct{} // closed when the last run is gone
	gone chan struct{} // closed when the inbox watcher is, too

	// since is up to where messages were delivered. It outlives the inbox watcher: those who
	// began later were loaded with the messages from before, which may be very many.
	since   int64
	version int64 // [storage.Inbox.Version] before the store was asked for them, and 1; 0 when it never was

	rounds atomic.Int64 // on which something was to be delivered
}

// deliverTo lets messages reach a run. When the inbox watcher was on his way since the
// run was begun, he may have had one for it.
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

// deliverNoMore is called once for each deliverTo. When no run is left it waits
// for the inbox watcher to have gone.
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

// work asks which runs were rung each time some may have been. A question that
// fails is asked again a little later.
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
			if errors.Is(err, storage.ErrClosed) { // it will never ring again: whoever looks will see that
				e.post.wakeAll()
			}
			if err != nil {
				e.log.Debug("the store was asked in vain for whom letters have come", "error", err)
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

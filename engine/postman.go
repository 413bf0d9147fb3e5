package engine

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ebbflow/ebb/storage"
)

// A postman tells the runs that an engine drives when letters have come for
// them. It works as long as there are any.
type postman struct {
	mu   sync.Mutex
	runs map[string]*driver
	idle chan struct{} // closed when the last run is gone
	gone chan struct{} // closed when the postman is, too

	// since is up to where letters were delivered. It outlives the postman: those who
	// began later were loaded with the letters from before, which may be very many.
	since int64
	moved int64 // [storage.Letterbox.Moved] before the store was asked for them, and 1; 0 when it never was

	rounds atomic.Int64 // on which something was to be delivered
}

// deliverTo lets letters reach a run. When the postman was on his way since the
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
		d.ring()
	}
	if e.store.Buried() != d.buried {
		d.doubt()
	}
}

// deliverNoMore is called once for each deliverTo. When no run is left it waits
// for the postman to have gone.
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
	var undertaker sync.WaitGroup
	undertaker.Go(func() { e.watchBurials(idle) })
	defer undertaker.Wait()
	const pause = 100 * time.Millisecond
	for {
		rung, moved := e.store.Rung(), e.store.Moved()
		var again <-chan time.Time
		if since, due := e.post.asks(moved); due {
			rings, now, err := e.store.Rang(context.Background(), since)
			if errors.Is(err, storage.ErrClosed) { // it will never ring again: whoever looks will see that
				e.post.ringAll()
			}
			if err != nil {
				e.log.Debug("the store was asked in vain for whom letters have come", "error", err)
				again = time.After(pause)
			} else {
				e.post.deliver(rings, now, moved)
			}
		}
		select {
		case <-rung:
		case <-again:
		case <-idle:
			return
		}
	}
}

// watchBurials lets the runs look whether they are still this engine's whenever the
// store's owner may have been taken for dead. It asks nothing of a database, which
// may not answer just then.
func (e *Engine) watchBurials(idle <-chan struct{}) {
	buried := int64(0)
	for {
		rung := e.store.Rung()
		if n := e.store.Buried(); n != buried {
			buried = n
			e.post.doubtAll()
		}
		select {
		case <-rung:
		case <-idle:
			return
		}
	}
}

// doubtAll lets all runs look whether they are still this engine's.
func (p *postman) doubtAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range p.runs {
		d.doubt()
	}
}

func (p *postman) ringAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range p.runs {
		d.ring()
	}
}

// asks returns up to where letters were delivered, and whether more may have come.
func (p *postman) asks(moved int64) (since int64, due bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.since, p.moved != moved+1
}

// deliver tells runs that letters have come, which is all up to a number.
func (p *postman) deliver(rings []storage.Ring, upTo, moved int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.since, p.moved = max(p.since, upTo), max(p.moved, moved+1) // one who goes and one who comes may meet
	if len(rings) == 0 {
		return
	}
	p.rounds.Add(1)
	for i := range rings {
		if d := p.runs[rings[i].Run]; d != nil {
			d.ring()
		}
	}
}

package waiting

import (
	"container/list"
	"context"
	"errors"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// A poller is a caller that waits for work. It stands in the line of each of its queues. Work wakes the first poller
// of a line that is not awake. When that poller has taken work, or gives up, it wakes the next one, because there may
// be more work.
type poller struct {
	worker string        // name of the worker for which it waits
	signal chan struct{} // receives when the poller is to look for work
	places map[string]*list.Element
	awake  bool     // the poller looks for work, or is about to
	again  bool     // work has arrived since the poller began to look
	called []string // the queues because of which it is awake
}

func pollerAt(at *list.Element) *poller {
	p, is := at.Value.(*poller)
	if !is {
		panic("waiting: a line has something else than a poller") // a defect of this file
	}
	return p
}

// wake makes the poller look for work, also if it is looking now.
func (p *poller) wake() {
	p.again = p.awake
	p.awake = true
	select {
	case p.signal <- struct{}{}:
	default:
	}
}

// AwaitToken implements [backend.Waiting.AwaitToken]; take is [backend.Inbox.TakeToken].
func (h *Hub) AwaitToken(ctx context.Context, t storage.WorkRequest, wait time.Duration, enough <-chan struct{},
	take func(context.Context, storage.WorkRequest) (storage.Token, error),
) (storage.Token, error) {
	var token storage.Token
	err := h.AwaitWork(ctx, t, wait, enough, func(ctx context.Context) (err error) {
		token, err = take(ctx, t)
		return err
	})
	return token, err
}

// AwaitWork implements [backend.Waiting.AwaitWork].
func (h *Hub) AwaitWork(ctx context.Context, t storage.WorkRequest, wait time.Duration, enough <-chan struct{},
	take func(context.Context) error,
) error {
	if err := backend.CheckWorkRequest(&t); err != nil {
		return err
	}
	p := &poller{worker: t.Worker, signal: make(chan struct{}, 1), places: map[string]*list.Element{}, awake: true}
	if !h.enterLines(p, t.Queues) { //nolint:contextcheck // the watch outlives this caller
		return storage.ErrClosed
	}
	defer h.leaveLines(p)
	over := time.NewTimer(wait)
	defer over.Stop()
	for {
		err := take(ctx)
		if !errors.Is(err, storage.ErrNotFound) {
			return err
		}
		if !h.sleeps(p) {
			continue
		}
		select {
		case <-p.signal:
		case <-over.C:
			return err
		case <-enough:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
		if h.isClosed() {
			return storage.ErrClosed
		}
	}
}

func (h *Hub) enterLines(p *poller, queues []string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.enter() {
		return false
	}
	for _, queue := range queues {
		line := h.lines[queue]
		if line == nil {
			line = list.New()
			h.lines[queue] = line
		}
		if p.places[queue] == nil {
			p.places[queue] = line.PushBack(p)
		}
	}
	return true
}

// leaveLines removes the poller from its lines, and wakes the next poller of each line that it was awake for.
func (h *Hub) leaveLines(p *poller) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	for queue, at := range p.places {
		h.asked.remember(queue, p.worker, now)
		line := h.lines[queue]
		if line.Remove(at); line.Len() == 0 {
			delete(h.lines, queue)
		}
	}
	for _, queue := range p.called {
		h.call(queue)
	}
	h.leave()
}

// sleeps ends a look of the poller that found nothing. It returns false if the poller must look again.
func (h *Hub) sleeps(p *poller) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case <-p.signal: // sent during the look
	default:
	}
	if p.again {
		p.again = false
		return false
	}
	p.awake, p.called = false, p.called[:0]
	return true
}

// call wakes the first poller of a line that is not awake. If all are awake, the first one looks once more. The
// caller must hold the lock.
func (h *Hub) call(queue string) {
	line := h.lines[queue]
	if line == nil {
		return
	}
	next := pollerAt(line.Front())
	for at := line.Front(); at != nil; at = at.Next() {
		if p := pollerAt(at); !p.awake {
			next = p
			break
		}
	}
	next.wake()
	next.called = append(next.called, queue)
}

// Package waiting lets callers of a store wait for the end of a run, or for work in a queue, without polling. A commit
// of this process wakes the callers that it concerns. For the commits of other processes, one goroutine asks the
// database for all callers together. It runs only while a caller waits.
package waiting

import (
	"container/list"
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// A Source reports the writes of other processes. Its methods are called only while a caller waits.
type Source interface {
	// Running returns the given runs that exist and have not ended.
	Running(ctx context.Context, runs []string) ([]string, error)
	// Queued returns the given queues that have work which a worker can take now.
	Queued(ctx context.Context, queues []string) ([]string, error)
	// Foreign returns a channel that is closed when another process may have written; nil if no other process can.
	// It is called again after each look, so at least once in lookEvery.
	Foreign() <-chan struct{}
	// Rest is called when no caller waits any more.
	Rest()
}

const (
	// lookEvery is the pause between looks if no other process reports a write. These looks also find leases that
	// expire.
	lookEvery = time.Second
	// leastPause and share bound how often the writes of other processes cause a look: looks take at most one part in
	// share of the time.
	leastPause = 2 * time.Millisecond
	share      = 5
)

// A Hub has the waiting callers. Any number of goroutines may use it.
type Hub struct {
	source Source
	count  atomic.Int64 // number of callers that wait

	mu     sync.Mutex
	ends   map[string]map[chan struct{}]bool // callers that wait for the end of a run, by its id
	lines  map[string]*list.List             // of *poller: callers that wait for work, by queue, first come first
	stop   chan struct{}                     // closed when no caller waits any more
	asked  memory                            // callers that have left
	closed bool
	looks  sync.WaitGroup
}

// New returns a hub that asks the source about other processes.
func New(source Source) *Hub {
	return &Hub{source: source, ends: map[string]map[chan struct{}]bool{}, lines: map[string]*list.List{}}
}

// Committed wakes the callers that a commit of this process concerns. It is cheap if no caller waits.
func (h *Hub) Committed(run string, cp *backend.Checkpoint) {
	if h.count.Load() == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if cp.Head.State.Ended() {
		h.ended(run)
	}
	for i := range cp.Tokens {
		if queues(&cp.Tokens[i]) {
			h.call(cp.Tokens[i].Queue)
		}
	}
}

// queues reports whether a token of a checkpoint is work that a worker can take.
func queues(t *storage.Token) bool {
	return t.State == storage.TokenOpen && t.Queue != "" && t.Worker == ""
}

// Queues reports whether a checkpoint puts work into a queue.
func Queues(cp *backend.Checkpoint) bool {
	return slices.ContainsFunc(cp.Tokens, func(t storage.Token) bool { return queues(&t) })
}

// WakeAll makes all callers look again, such as when one of several stores on the same records was closed.
func (h *Hub) WakeAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wakeAll()
}

func (h *Hub) wakeAll() {
	for run := range h.ends {
		h.ended(run)
	}
	for _, line := range h.lines {
		for at := line.Front(); at != nil; at = at.Next() {
			pollerAt(at).wake()
		}
	}
}

// Close ends all waits with [storage.ErrClosed], and waits until the hub asks its source nothing more.
func (h *Hub) Close() {
	h.mu.Lock()
	h.closed = true
	h.wakeAll()
	h.end()
	h.mu.Unlock()
	h.looks.Wait()
}

// enter counts a caller. It returns false if the hub is closed. The caller must hold the lock.
func (h *Hub) enter() bool {
	if h.closed {
		return false
	}
	if h.count.Add(1) == 1 {
		stop, foreign := make(chan struct{}), h.source.Foreign() // before the caller reads what it waits for
		h.stop = stop
		h.looks.Go(func() { h.watch(stop, foreign) })
	}
	return true
}

// leave uncounts a caller. The caller must hold the lock.
func (h *Hub) leave() {
	if h.count.Add(-1) == 0 {
		h.end()
	}
}

// end stops the looks. The caller must hold the lock.
func (h *Hub) end() {
	if h.stop != nil {
		close(h.stop)
		h.stop = nil
	}
}

// rest tells the source that no caller waits, unless one has come since the looks were stopped.
func (h *Hub) rest() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stop == nil {
		h.source.Rest()
	}
}

// watch looks for what other processes have done, until stop is closed.
func (h *Hub) watch(stop <-chan struct{}, foreign <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer h.rest()
	h.looks.Go(func() { // so that a database that does not answer does not delay Close
		select {
		case <-stop:
			cancel()
		case <-ctx.Done():
		}
	})
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		pause := time.Duration(0)
		select {
		case <-stop:
			return
		case <-tick.C:
		case <-foreign:
			pause = leastPause
		}
		foreign = h.source.Foreign()
		begun := time.Now()
		h.look(ctx)
		if pause > 0 {
			rest := time.NewTimer(max(pause, (share-1)*time.Since(begun)))
			select {
			case <-rest.C:
			case <-stop:
				rest.Stop()
				return
			}
		}
	}
}

// look wakes the callers that have waited long enough. If the source fails, the next look tries again.
func (h *Hub) look(ctx context.Context) {
	h.mu.Lock()
	runs, queues := slices.Collect(maps.Keys(h.ends)), slices.Collect(maps.Keys(h.lines))
	h.mu.Unlock()
	if len(runs) > 0 {
		if running, err := h.source.Running(ctx, runs); err == nil {
			h.endedExcept(runs, running)
		}
	}
	if len(queues) > 0 {
		if queued, err := h.source.Queued(ctx, queues); err == nil {
			h.mu.Lock()
			defer h.mu.Unlock()
			for _, queue := range queued {
				h.call(queue)
			}
		}
	}
}

// hasEnded reports whether a run has ended.
func hasEnded(run *storage.Run) bool { return run.State.Ended() }

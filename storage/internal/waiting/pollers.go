package waiting

import (
	"maps"
	"slices"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// A memory knows which workers asked for the work of which queue, and when they stopped waiting for it. A worker that
// polls is between two calls now and then. Its size is bounded, because workers choose the names.
type memory map[string]map[string]time.Time

// remember notes that a worker has stopped waiting for a queue.
func (m *memory) remember(queue, worker string, now time.Time) {
	if *m == nil {
		*m = memory{}
	}
	workers := (*m)[queue]
	if workers == nil {
		if len(*m) >= backend.MaxPollers {
			if m.forget(now); len(*m) >= backend.MaxPollers {
				return
			}
		}
		workers = map[string]time.Time{}
		(*m)[queue] = workers
	}
	if _, known := workers[worker]; !known && len(workers) >= 2*backend.MaxPollerNames {
		oldest := worker
		for name, at := range workers {
			if oldest == worker || at.Before(workers[oldest]) {
				oldest = name
			}
		}
		delete(workers, oldest)
	}
	workers[worker] = now
}

// forget drops what is too old.
func (m *memory) forget(now time.Time) {
	for queue, workers := range *m {
		maps.DeleteFunc(workers, func(_ string, at time.Time) bool { return now.Sub(at) > backend.PollerMemory })
		if len(workers) == 0 {
			delete(*m, queue)
		}
	}
}

// Pollers implements [backend.Waiting.Pollers].
func (h *Hub) Pollers(now time.Time) []storage.Poller {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked.forget(now)
	queues := slices.AppendSeq(slices.Collect(maps.Keys(h.lines)), maps.Keys(h.asked))
	slices.Sort(queues)
	queues = slices.Compact(queues)
	pollers := make([]storage.Poller, 0, min(len(queues), backend.MaxPollers))
	for _, queue := range queues[:min(len(queues), backend.MaxPollers)] {
		names := slices.Collect(maps.Keys(h.asked[queue]))
		if line := h.lines[queue]; line != nil {
			for at := line.Front(); at != nil; at = at.Next() {
				names = append(names, pollerAt(at).worker)
			}
		}
		slices.Sort(names)
		names = slices.Compact(names)
		pollers = append(pollers, storage.Poller{Queue: queue, Workers: names[:min(len(names), backend.MaxPollerNames)]})
	}
	return pollers
}

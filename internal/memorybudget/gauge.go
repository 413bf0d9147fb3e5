package memorybudget

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/internal/logevent"
)

// measureEvery is how long a measurement of memory is used.
const measureEvery = 100 * time.Millisecond

// A Gauge measures the process's memory against its budget. Any goroutine may use it.
type Gauge struct {
	Budget int64 // in bytes; 0 when there is none
	Log    hclog.Logger
	Used   func() Use
	Shares Shares

	mu       sync.Mutex
	watch    Watch
	measured time.Time
	last     Level
}

// A Level is how much memory the process uses.
type Level struct {
	Used      int64 // live bytes
	Exhausted bool  // the budget is reached
}

// Look returns the level, measured shortly before at most. It logs when the budget is reached, and when it no longer
// is.
func (g *Gauge) Look(now time.Time) Level {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.measured.IsZero() && now.Sub(g.measured) < measureEvery {
		return g.last
	}
	use := g.Used()
	g.watch.Budget = g.Budget
	exhausted, changed := g.watch.Look(now, use)
	g.measured, g.last = now, Level{Used: use.Live, Exhausted: exhausted}
	switch {
	case changed && exhausted:
		g.Log.Warn(logevent.MemoryExhausted, "used", use.Live, "budget", g.Budget)
	case changed:
		g.Log.Info(logevent.MemoryRecovered, "used", use.Live, "budget", g.Budget)
	}
	return g.last
}

// Exhausted reports whether the budget is reached.
func (g *Gauge) Exhausted(now time.Time) bool { return g.Budget > 0 && g.Look(now).Exhausted }

// Attend measures the memory once a second until ctx ends, so that changes are reported even if no other code measures.
// While the budget is reached, Attend makes the runtime collect garbage.
func (g *Gauge) Attend(ctx context.Context) {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		now := time.Now()
		g.Look(now)
		g.mu.Lock()
		stale := g.watch.Stale(now)
		g.mu.Unlock()
		if stale {
			runtime.GC()
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
	}
}

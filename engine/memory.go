package engine

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/memorybudget"
)

// Memory is how much memory the process has and uses, see [Limits].
type Memory struct {
	Used      int64 // live bytes
	Budget    int64 // 0 when there is none
	Exhausted bool  // the budget is reached, and nothing is taken up
}

// memoryBudget returns the budget that a limit of [Limits.Memory] stands for; 0 is none.
func memoryBudget(limit int64) int64 {
	if limit == 0 {
		return memorybudget.Share(memorybudget.Own().Bytes)
	}
	return max(limit, 0)
}

// Memory returns how much memory the process uses now.
func (e *Engine) Memory() Memory { return e.memory.look(e.now()) }

// measureEvery is how long a measurement of memory counts.
const measureEvery = 100 * time.Millisecond

// memory measures the process's memory against the engine's budget.
type memory struct {
	log  hclog.Logger
	used func() memorybudget.Use

	mu       sync.Mutex
	watch    memorybudget.Watch
	measured time.Time
	last     Memory
}

// look returns how things stand, measured a moment ago at most. It logs when the budget is
// reached, and when it no longer is.
func (m *memory) look(now time.Time) Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.measured.IsZero() && now.Sub(m.measured) < measureEvery {
		return m.last
	}
	use := m.used()
	exhausted, changed := m.watch.Look(now, use)
	m.measured, m.last = now, Memory{Used: use.Live, Budget: m.watch.Budget, Exhausted: exhausted}
	switch {
	case changed && exhausted:
		m.log.Warn("the memory budget is reached; nothing more is taken up", "used", use.Live, "budget", m.watch.Budget)
	case changed:
		m.log.Warn("the memory budget is no longer reached; work is taken up again", "used", use.Live, "budget", m.watch.Budget)
	}
	return m.last
}

// exhausted reports whether the budget is reached.
func (m *memory) exhausted(now time.Time) bool { return m.watch.Budget > 0 && m.look(now).Exhausted }

// attend looks at the memory once a second until ctx ends, so that what changes is told also
// when nothing else looks.
func (m *memory) attend(ctx context.Context) {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		now := time.Now()
		m.look(now)
		m.mu.Lock()
		stale := m.watch.Stale(now)
		m.mu.Unlock()
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

// openSize is less than any open node or child flow takes in memory, beside its values.
const openSize = 512

// exceeds reports whether the run is to be set aside, as an answer of its language would make
// it larger while the process's memory budget is reached, and the run alone needs more than
// a third of that. What it needs is counted low: a process that loads the run needs more.
// So at most two other runs of the process can be as large. A run that is small, or grows no
// more, is never set aside.
func (d *driver) exceeds(asked *scheduler.Command, g *flow.Growth) bool {
	m := &d.e.memory
	if asked.Cause.Kind == flow.Stopped || d.s.IsEnding() || !m.exhausted(d.next.Now) {
		return false
	}
	atoms, values := d.s.After(asked, g)
	needs := atoms*openSize + values
	if needs <= d.s.Alive()*openSize+d.s.Held() || needs <= m.watch.Budget/3 { //nolint:mnd // a third
		return false
	}
	d.quit = true
	d.aside = &atom.Failure{
		Code: atom.CodeLimit,
		Message: fmt.Sprintf("the memory budget of its process, %d bytes, is used up, and the run alone needs more than a third of it: "+
			"it has %d open atoms with %d bytes of values; the setting is Memory of engine.WithLimits and ebb --memory", m.watch.Budget, atoms, values),
	}
	return true
}

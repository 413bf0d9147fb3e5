package lambda

import (
	"context"
	"sync/atomic"
	"time"
)

// memoryPause is the time between two looks at the memory of a process.
//
//limit:lambda memory of a function's processes, on Linux | `MemorySize`, checked every {} | ended
const memoryPause = 200 * time.Millisecond

// A memoryWatch bounds the memory of the processes of a function. Their limits of the system count addresses, of which
// runtimes reserve many times what they use, so it looks at what is in memory.
type memoryWatch struct {
	limit int // MiB
	pid   atomic.Int64
	most  atomic.Int64
	over  atomic.Bool
}

func newMemoryWatch(limit int) *memoryWatch { return &memoryWatch{limit: limit} }

// start watches the descendants of a process until ctx ends. If they use too much, it calls end.
func (m *memoryWatch) start(ctx context.Context, pid int, end func()) {
	m.pid.Store(int64(pid))
	if _, known := residentMB(pid); !known {
		return
	}
	go func() {
		ticks := time.NewTicker(memoryPause)
		defer ticks.Stop()
		for {
			if m.look() > m.limit {
				m.over.Store(true)
				end()
				return
			}
			select {
			case <-ticks.C:
			case <-ctx.Done():
				return
			}
		}
	}()
}

// look returns the memory of the processes, in MiB.
func (m *memoryWatch) look() int {
	used, _ := residentMB(int(m.pid.Load()))
	m.most.Store(max(m.most.Load(), int64(used)))
	return used
}

// exceeded reports whether the processes used too much memory.
func (m *memoryWatch) exceeded() bool { return m.over.Load() }

// used returns the most memory that was seen, in MiB.
func (m *memoryWatch) used() int64 {
	m.look()
	return m.most.Load()
}

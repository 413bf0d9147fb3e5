package executor

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/ebbflow/ebb/atom"
)

// progressDelay is how long what an atom reports of its progress may wait for a
// checkpoint to ride in. Then it gets one of its own.
const progressDelay = time.Second

// reports are what atoms said of their progress and no checkpoint has taken up
// yet: of each call the latest. Atoms leave them here from whatever goroutine
// they are on, and never wait for more than each other.
type reports struct {
	some  atomic.Bool // there are any
	mu    sync.Mutex
	list  []Report
	timer *time.Timer // runs while there are any
}

// A Report is what an atom said of its progress.
type Report struct {
	Call     *Call
	Fraction float64
	Details  atom.Value // nil when it said nothing of it
}

// Progress implements [atom.Host].
func (c *Call) Progress(fraction float64, details atom.Value) {
	r := &c.of.reports
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.list {
		if last := &r.list[i]; last.Call == c {
			last.Fraction = fraction
			if details != nil {
				last.Details = details
			}
			return
		}
	}
	r.list = append(r.list, Report{c, fraction, details})
	r.some.Store(true)
	switch {
	case len(r.list) > 1: // it runs
	case r.timer == nil:
		r.timer = time.AfterFunc(progressDelay, c.of.host.Driver.Wake)
	default:
		r.timer.Reset(progressDelay)
	}
}

// Reports takes out all reports.
func (x *Executor) Reports() []Report {
	r := &x.reports
	if !r.some.Load() {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.list
	r.list = nil
	r.some.Store(false)
	r.timer.Stop()
	return list
}

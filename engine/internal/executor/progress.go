package executor

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/ebbflow/ebb/atom"
)

// progressDelay bounds how long a progress report may wait for a checkpoint that contains it. After that, the
// report gets a checkpoint of its own.
const progressDelay = time.Second

// reports contains the progress reports that no checkpoint contains yet, the latest of each call. Atoms store them
// from any goroutine, and wait only for each other.
type reports struct {
	some  atomic.Bool // the list is not empty
	mu    sync.Mutex
	list  []Report
	timer *time.Timer // runs while the list is not empty
}

// A Report is an atom's report of its progress.
type Report struct {
	Call     *Call
	Fraction float64
	Details  atom.Value // nil if the atom gave none
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
	case len(r.list) > 1: // the timer runs
	case r.timer == nil:
		r.timer = time.AfterFunc(progressDelay, c.of.host.Driver.Wake)
	default:
		r.timer.Reset(progressDelay)
	}
}

// Reports removes and returns all reports.
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

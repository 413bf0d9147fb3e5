package engine

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
	list  []report
	timer *time.Timer // runs while there are any
}

type report struct {
	call *call
	said
}

// Progress implements [atom.Host].
func (c *call) Progress(fraction float64, details atom.Value) {
	r := &c.driver.reports
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.list {
		if last := &r.list[i]; last.call == c {
			last.fraction = fraction
			if details != nil {
				last.details = details
			}
			return
		}
	}
	r.list = append(r.list, report{c, said{fraction, details}})
	r.some.Store(true)
	switch {
	case len(r.list) > 1: // it runs
	case r.timer == nil:
		r.timer = time.AfterFunc(progressDelay, c.driver.call)
	default:
		r.timer.Reset(progressDelay)
	}
}

// take takes out all reports.
func (r *reports) take() []report {
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

// keepReports puts what was reported into the checkpoint that is being gathered.
// The commands of the scheduler must have been carried out, so that its records
// are those that were written last. What comes from a call that is over is
// dropped.
func (d *driver) keepReports() {
	for _, r := range d.reports.take() {
		c := r.call
		at := d.attemptOf(c)
		if at == nil || !executes(at.state) || at.number != c.number || at.state != c.state {
			continue
		}
		if r.details == nil && at.said != nil {
			r.details = at.said.details
		}
		at.said = &said{r.fraction, r.details}
		if n := c.node; n != nil {
			d.nodeRecord(n, &n.Rec)
		} else {
			d.planRecord(c.atom, d.s.Record(c.atom))
		}
		d.dirty = true
		d.note(Event{
			Kind: ProgressMade, Path: c.about.Path, Attempt: c.about.Attempt, Progress: r.fraction, Details: r.details,
		})
	}
}

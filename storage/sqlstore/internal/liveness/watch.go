// Package liveness judges by the clock of this process whether the owner of a lease lives.
package liveness

import (
	"sync"
	"time"
)

// A Lease is one as an owner has prolonged it.
type Lease struct {
	Owner       string // its id
	Until, Seen int64  // when it ends and when it was prolonged, in microseconds by the server's clock; Seen is 0 when it is not known
}

// stepShare is the part of a lease by which the server's clock may differ from what was
// expected of it: an owner has two thirds of its lease left when it renews it.
const stepShare = 4

// A Watch judges leases by this process's own monotonic clock, beside the server's,
// which may be set while it runs, or be another server's after a failover.
type Watch struct {
	Lease time.Duration // this process's own

	mu      sync.Mutex
	owners  map[string]sighting
	heard   time.Time     // when the server told its time last; zero when it has not
	clock   int64         // that time, in microseconds
	stepped time.Time     // when its clock was found to have been set; zero for never
	step    time.Duration // by how much, the last time
}

// A sighting is a lease as an owner prolonged it, and since when it has not changed.
type sighting struct {
	lease int64
	since time.Time
}

// Tells notes the server's time, which was asked for and answered at these times. It
// returns by how much the clock was set since it was noted before; 0 when it was not.
func (w *Watch) Tells(asked, answered time.Time, micros int64) (step time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.heard.IsZero() {
		least := w.clock + asked.Sub(w.heard).Microseconds()
		most := w.clock + answered.Sub(w.heard).Microseconds()
		switch slack := (w.Lease / stepShare).Microseconds(); {
		case micros < least-slack:
			step = time.Duration(micros-least) * time.Microsecond
		case micros > most+slack:
			step = time.Duration(micros-most) * time.Microsecond
		}
	}
	if step != 0 {
		w.stepped, w.step = answered, step
	}
	// Noted as of the answer, or a step back that is found out later would seem smaller by
	// how long the answer took.
	w.heard, w.clock = answered, micros
	return step
}

// Now returns the server's time as far as it is known; zero when it has not told it.
func (w *Watch) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.heard.IsZero() {
		return time.Time{}
	}
	return time.UnixMicro(w.clock + time.Since(w.heard).Microseconds()).UTC()
}

// Silent notes a lease that was asked for and answered at these times, and reports
// whether it has not changed for as long as it lasts.
func (w *Watch) Silent(l Lease, asked, answered time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	last, met := w.owners[l.Owner]
	if !met || last.lease != l.Until {
		if w.owners == nil || len(w.owners) >= maxSightings {
			w.owners = map[string]sighting{}
		}
		w.owners[l.Owner] = sighting{l.Until, answered}
		return false
	}
	return asked.Sub(last.since) >= w.lasts(l)
}

// maxSightings is how many owners are watched at the same time.
const maxSightings = 10_000

// Set reports whether the server's clock was set less than a lease ago: by that clock
// the lease of a process that lives may have run out.
func (w *Watch) Set(l Lease) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.stepped.IsZero() && time.Since(w.stepped) < w.lasts(l)
}

// lasts returns how long an owner's lease is.
func (w *Watch) lasts(l Lease) time.Duration {
	if l.Seen > 0 && l.Until > l.Seen {
		return time.Duration(l.Until-l.Seen) * time.Microsecond
	}
	return w.Lease
}

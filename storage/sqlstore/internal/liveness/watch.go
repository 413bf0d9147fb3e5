// Package liveness decides, by the clock of this process, whether the owner of a lease is alive.
package liveness

import (
	"sync"
	"time"
)

// A Lease is a lease as its owner last renewed it.
type Lease struct {
	Owner string // id of the owner
	// ^Until and Seen are when the lease expires and when it was renewed, in microseconds by the server's clock.
	// Seen is 0 if unknown.
	Until, Seen int64
}

// stepShare is the part of a lease by which the server's clock may differ from its expected time. An owner has two
// thirds of its lease left when it renews the lease.
//
//limit:storage difference of PostgreSQL's clock from the expected time | a quarter of the lease | for a lease,
//limit:and the process's own clock judges leases
const stepShare = 4

// A Watch judges leases by this process's own monotonic clock in addition to the server's clock. The server's clock
// may be set at any time, or belong to another server after a failover.
type Watch struct {
	Lease time.Duration // duration of this process's own lease

	mu      sync.Mutex
	owners  map[string]sighting
	heard   time.Time     // when the server last reported its time; zero if it has not
	clock   int64         // the time that it reported, in microseconds
	slack   time.Duration // how long it took to report it
	ahead   time.Duration // by how much that time is ahead of this process's clock, see Clock
	stepped time.Time     // when the Watch last noticed that the server's clock was set; zero means never
	step    time.Duration // by how much it was set then
}

// A sighting is a lease and since when it has not changed.
type sighting struct {
	lease int64
	since time.Time
}

// Tells records the server's time; asked and answered are the times of the query. It returns by how much the clock
// was set since the last call; 0 if it was not set.
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
	// Record it as of the answer: otherwise a step back would later seem smaller by the duration of this query.
	w.heard, w.clock, w.slack = answered, micros, answered.Sub(asked)
	return step
}

// Tolerance is the difference of two clocks that counts as none.
//
// limit:PostgreSQL's clock
//
//limit:storage difference of a process's clock from PostgreSQL's that counts as none | {} | the process uses
const Tolerance = 100 * time.Millisecond

// Clock returns the time by which the processes of a database judge its times: the server's. While the clock of this
// process differs from it by less than the Tolerance, it is that of this process, which is more exact than an estimate.
// Without a server, it always is.
func (w *Watch) Clock() time.Time {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.heard.IsZero() {
		return now
	}
	ahead := time.UnixMicro(w.clock + now.Sub(w.heard).Microseconds()).Sub(now)
	if (ahead - w.ahead).Abs() > Tolerance+w.slack {
		w.ahead = ahead
	}
	if w.ahead.Abs() <= Tolerance {
		return now
	}
	return now.Round(0).Add(w.ahead) // without the monotonic reading, which tells nothing of the server
}

// Now estimates the server's time; zero if the server has not reported it.
func (w *Watch) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.heard.IsZero() {
		return time.Time{}
	}
	return time.UnixMicro(w.clock + time.Since(w.heard).Microseconds()).UTC()
}

// Silent records a lease; asked and answered are the times of the query. It reports whether the lease has not
// changed for as long as it lasts.
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

// maxSightings bounds the number of owners that a Watch watches.
const maxSightings = 10_000

// Set reports whether the server's clock was set less than a lease ago. By that clock, the lease of a live process
// may then have expired.
func (w *Watch) Set(l Lease) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.stepped.IsZero() && time.Since(w.stepped) < w.lasts(l)
}

// lasts returns the duration of an owner's lease.
func (w *Watch) lasts(l Lease) time.Duration {
	if l.Seen > 0 && l.Until > l.Seen {
		return time.Duration(l.Until-l.Seen) * time.Microsecond
	}
	return w.Lease
}

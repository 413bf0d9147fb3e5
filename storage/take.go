package storage

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// MaxQueues is how many queues work may be taken from at once.
const MaxQueues = 100

// Check returns ErrInvalid when work cannot be taken so. Stores call it first.
func (t *Taking) Check() error {
	if len(t.Queues) == 0 || len(t.Queues) > MaxQueues {
		return fmt.Errorf("%w: work is taken from 1 to %d queues", ErrInvalid, MaxQueues)
	}
	if slices.Contains(t.Queues, "") {
		return fmt.Errorf("%w: a queue that work is taken from has a name", ErrInvalid)
	}
	if t.Worker == "" || len(t.Worker) > MaxID || t.Lease < 0 {
		return fmt.Errorf("%w: work is taken by a worker with a name of up to %d bytes, for a lease that is not negative", ErrInvalid, MaxID)
	}
	return checkTexts(append(slices.Clip(t.Queues), t.Worker)...)
}

// NoWork is the error of TakeToken when there is no work in those queues. For
// those who write stores.
func NoWork(queues []string) error {
	return fmt.Errorf("%w: work in queue %q", ErrNotFound, strings.Join(queues, ", "))
}

// Free reports whether the token's work may be taken, now or when its lease has
// run out.
func (t *Token) Free() bool { return t.Worker == "" || !t.Lease.IsZero() }

// FreeBy reports whether it may be taken by now. For those who write stores.
func (t *Token) FreeBy(now time.Time) bool {
	return t.Worker == "" || !t.Lease.IsZero() && !t.Lease.After(now)
}

// waitsLonger reports whether the token's work is to be taken before other's.
func (t *Token) waitsLonger(other *Token) bool {
	return t.waitsSince().Before(other.waitsSince())
}

func (t *Token) waitsSince() time.Time {
	if t.Lease.IsZero() {
		return t.Beat
	}
	return t.Lease
}

// TakenBy makes the work a worker's. For those who write stores.
func (t *Token) TakenBy(q *Taking, now time.Time) {
	t.Worker, t.Beat, t.Since, t.Lease = q.Worker, now, now, until(now, q.Lease)
	t.Take++
}

// Tells reports whether the run of a token that was just taken is to be told: for
// its language, or as there are limits that count from now on. For those who write
// stores.
func (t *Token) Tells() bool {
	return t.Take == 1 && t.Work == nil || t.StartToClose > 0 || t.Heartbeat > 0
}

// until returns when a lease runs out; zero is never.
func until(now time.Time, lease time.Duration) time.Time {
	if lease == 0 {
		return time.Time{}
	}
	return now.Add(lease)
}

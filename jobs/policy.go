package jobs

import (
	"time"

	"github.com/ebbflow/ebb/atom"
)

// A Policy sets how a board handles failed claims.
type Policy struct {
	Lease    time.Duration // how long a claim holds; 0 means DefaultLease
	Attempts int           // number of claims without a run after which a job is parked; 0 means DefaultAttempts
	// Backoff is the pause after a failed attempt; the zero Backoff means DefaultBackoff.
	Backoff atom.Backoff
}

// The defaults of a Policy.
const (
	DefaultLease    = 30 * time.Second
	DefaultAttempts = 10
)

// DefaultBackoff returns one second, doubled with each attempt, at most five minutes.
func DefaultBackoff() atom.Backoff { return atom.Exponential(time.Second, 5*time.Minute) }

// withDefaults replaces the zero fields of p.
func (p Policy) withDefaults() Policy {
	if p.Lease <= 0 {
		p.Lease = DefaultLease
	}
	if p.Attempts <= 0 {
		p.Attempts = DefaultAttempts
	}
	if p.Backoff == (atom.Backoff{}) {
		p.Backoff = DefaultBackoff()
	}
	return p
}

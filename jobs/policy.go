package jobs

import (
	"time"

	"github.com/ebbflow/ebb/atom"
)

// A Policy says how a board handles failures.
type Policy struct {
	Lease    time.Duration // how long a claim holds; 0 is DefaultLease
	Attempts int           // how often a job is claimed in vain before it is parked; 0 is DefaultAttempts
	Backoff  atom.Backoff  // how long a job waits after an attempt that came to nothing; the zero Backoff is DefaultBackoff
}

// What a zero Policy says.
const (
	DefaultLease    = 30 * time.Second
	DefaultAttempts = 10
)

// DefaultBackoff is one second, doubled with each attempt, five minutes at most.
func DefaultBackoff() atom.Backoff { return atom.Exponential(time.Second, 5*time.Minute) }

// withDefaults fills in what p leaves out.
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

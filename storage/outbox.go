package storage

import (
	"context"
	"time"

	"github.com/ebbflow/ebb/atom"
)

// An Outgoing is something a run sends out of the database: in order per run
// and target, at least once, under a stable id.
type Outgoing struct {
	N        int64  // given by the store, rising
	ID       string // the same however often it is sent
	Run      string
	Target   string // where to
	Body     atom.Value
	Attempts int
	NotUntil time.Time
	Parked   bool // given up until an operator acts
	Error    string
}

// Outbox holds the messages that runs have to send out of the database.
type Outbox interface {
	// Outgoing returns up to limit things that want to be sent by now, of each
	// run and target only the first.
	Outgoing(ctx context.Context, now time.Time, limit int) ([]Outgoing, error)
	// Sent deletes messages that were sent.
	Sent(ctx context.Context, n ...int64) error
	// Unsent stores that sending failed: Attempts, NotUntil, Parked and Error of
	// out replace those there.
	Unsent(ctx context.Context, out Outgoing) error
}

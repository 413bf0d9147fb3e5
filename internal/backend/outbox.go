package backend

import (
	"context"
	"time"

	"github.com/ebbflow/ebb/storage"
)

// Outbox is the part of a [Store] that keeps the messages that runs send to targets outside the database.
type Outbox interface {
	// Outgoing returns up to limit messages that are due by now: for each run and target, only the first one.
	Outgoing(ctx context.Context, now time.Time, limit int) ([]storage.Outgoing, error)
	// ParkedMessages returns up to limit parked messages of all runs, without their bodies, in the order in which they
	// were created; limit 0 means all.
	ParkedMessages(ctx context.Context, limit int) ([]storage.Outgoing, error)
	// Sent deletes the messages with these numbers after they were sent.
	Sent(ctx context.Context, n ...int64) error
	// Unsent records a failed attempt: it replaces Attempts, NotUntil, Parked and Error of the stored message by
	// those of out.
	Unsent(ctx context.Context, out storage.Outgoing) error
}

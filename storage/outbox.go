package storage

import (
	"context"
	"time"

	"github.com/ebbflow/ebb/atom"
)

// An Outgoing is a message that a run sends to a target outside the database. Ebb sends it at least once, under the
// same ID. Ebb sends the messages of one run to one target in order.
type Outgoing struct {
	N        int64      // number in the outbox, given by the store
	ID       string     // deduplication id for the receiver, the same in every attempt
	Run      string     // id of the run that sends it
	Target   string     // address of the receiver, such as a URL
	Body     atom.Value // content of the message
	Attempts int        // number of failed attempts
	NotUntil time.Time  // earliest time of the next attempt
	Parked   bool       // true if no attempt follows until an operator releases the message
	Error    string     // why the latest attempt failed; "" if no attempt failed
}

// Outbox is the part of a [Store] that keeps the messages that runs send to targets outside the database.
type Outbox interface {
	// Outgoing returns up to limit messages that are due by now: for each run and target, only the first one.
	Outgoing(ctx context.Context, now time.Time, limit int) ([]Outgoing, error)
	// ParkedMessages returns up to limit parked messages of all runs, without their bodies, in the order in which they
	// were created; limit 0 means all.
	ParkedMessages(ctx context.Context, limit int) ([]Outgoing, error)
	// Sent deletes the messages with these numbers after they were sent.
	Sent(ctx context.Context, n ...int64) error
	// Unsent records a failed attempt: it replaces Attempts, NotUntil, Parked and Error of the stored message by
	// those of out.
	Unsent(ctx context.Context, out Outgoing) error
}

package storage

import (
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

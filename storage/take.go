package storage

import (
	"fmt"
	"slices"
	"time"
)

// MaxQueues is how many queues work may be taken from at once.
const MaxQueues = 100

// Check returns ErrInvalid when work cannot be taken so.
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

// A Taking says whose work of which queues is to be.
type Taking struct {
	Queues []string
	Worker string        // a name for people, not unique; not ""
	Lease  time.Duration // after which the work is there to be taken again, unless it was kept; 0 is never
}

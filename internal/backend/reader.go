package backend

import (
	"context"

	"github.com/ebbflow/ebb/storage"
)

// Reader is the part of a [Store] that reads runs: what programs read, and what only Ebb's own packages need.
type Reader interface {
	storage.Reader
	Lists
	Keys
	Queues

	// AtomsAt returns the atoms that are stored at these paths, read at one moment, in the order of the paths.
	AtomsAt(ctx context.Context, run string, paths ...string) ([]storage.Atom, error)
}

// Queues is the part of a [Reader] that finds the work of task queues.
type Queues interface {
	// QueuedTokens returns the ids of up to most tokens of these queues that a worker can take now, in the order in
	// which [Inbox.TakeToken] gives them out. It takes none.
	QueuedTokens(ctx context.Context, queues []string, most int) (ids []string, err error)
	// CountQueued returns how many tokens of a queue a worker can take now. It counts up to most.
	CountQueued(ctx context.Context, queue string, most int64) (int64, error)
}

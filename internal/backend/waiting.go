package backend

import (
	"context"
	"time"

	"github.com/ebbflow/ebb/storage"
)

// Waiting is the part of a [Store] with which callers wait. A caller that waits costs no query of its own: a commit of
// this process wakes the callers that it concerns, and one query for all callers together finds what other processes
// did. That query runs when another process has written, and once a second. While no caller waits, nothing runs.
//
// Other processes on a file learn of a commit within 50 ms. On a server they are notified within a few milliseconds;
// if the notification is lost, or the first caller has only begun to wait, they learn of it within a second.
type Waiting interface {
	// AwaitEnd returns the run as soon as it has ended, whichever process drives it. If the run is deleted meanwhile,
	// or does not exist, AwaitEnd returns ErrNotFound. If ctx ends first, it returns the error of ctx.
	AwaitEnd(ctx context.Context, run string) (storage.Run, error)
	// AwaitToken is [Inbox.TakeToken] that waits for work. It looks for work at least once, and waits until wait has
	// passed or enough is closed; then it returns ErrNotFound. If ctx ends first, it returns the error of ctx. New
	// work wakes the caller that has waited longest for that queue. When a caller has taken work, or gives up, it
	// wakes the next one, so that callers do not all ask for the same work.
	AwaitToken(ctx context.Context, t storage.WorkRequest, wait time.Duration, enough <-chan struct{}) (
		storage.Token, error,
	)
	// AwaitWork is AwaitToken for a caller that takes the work itself: it calls take where AwaitToken calls TakeToken,
	// and returns when the error of take, which may be nil, does not wrap ErrNotFound.
	AwaitWork(ctx context.Context, t storage.WorkRequest, wait time.Duration, enough <-chan struct{},
		take func(context.Context) error) error
	// Pollers returns who waits for work in AwaitToken or AwaitWork of this store, or has waited within the last
	// [PollerMemory]: one for each queue, ordered by queue. It returns at most [MaxPollers] queues. The answer does not
	// include callers in other processes.
	Pollers() []storage.Poller
}

// Bounds of [Waiting.Pollers].
const (
	PollerMemory   = time.Minute // how long a queue is remembered after its last caller has left
	MaxPollers     = 1000        // number of queues
	MaxPollerNames = 5           // number of workers that are named for each queue
)

package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/driver"
	"github.com/ebbflow/ebb/storage"
)

// Work is an attempt that a worker has taken from a queue. The worker ends the attempt
// with [storage.Inbox.FinishToken], and extends its lease with [storage.Inbox.KeepToken].
// It passes both the token and Take, so neither has an effect once another worker has
// taken the attempt. A party that cannot lose the attempt to another worker uses
// EndToken and Beat, without Take.
type Work struct {
	Token       string
	Take        int64  // how often this work was taken; what a worker's claim is known by
	Queue       string // that it was taken from
	Run, Path   string // of the node
	Incarnation int
	Attempt     int
	Input       atom.Value
	Undoes      *Undoes       // not nil when the attempt reverts
	Deadline    time.Time     // when the first limit passes, if the worker sends heartbeats; zero is never
	Heartbeat   time.Duration // how long the worker may be silent before the attempt fails; 0 is without limit
	Lease       time.Time     // until when it is the worker's; zero is for as long as it takes
	Trace       string        // the W3C traceparent that the run was begun under; "" when there is none
}

// Undoes describes the execution that a revert undoes.
type Undoes struct {
	Outcome  string          // done, failed or unknown, see [atom.Outcome]
	Result   json.RawMessage // when it is done
	Failure  *atom.Failure   // when it failed
	Failures []*atom.Failure // on account of which it is undone
}

// Key returns the idempotency key of the work, see [atom.Call].
func (w *Work) Key() string {
	call := atom.Call{Run: w.Run, Path: w.Path, Incarnation: w.Incarnation, Revert: w.Undoes != nil}
	return call.Key()
}

// maxTaken is how often the same work is given to a worker whose lease then runs
// out: what ends every worker that touches it is not given to all of them.
const maxTaken = 10

// How often a queue without work is looked at.
const (
	lookForWork    = 50 * time.Millisecond
	lookForWorkMax = time.Second
)

// TakeWork gives a worker the work that has waited longest in a queue, without a lease.
// If the worker dies, only the work's deadline or heartbeat reveals it. TakeWork waits
// until there is work. If ctx ends first, TakeWork returns the error of ctx. TakeWork
// passes worker to the work's language; worker may be "".
func TakeWork(ctx context.Context, store storage.Store, queue, worker string) (*Work, error) {
	return LeaseWork(ctx, store, storage.Taking{Queues: []string{queue}, Worker: worker}, math.MaxInt64, nil)
}

// LeaseWork is TakeWork from several queues, and for a lease: when that has run out
// and was not renewed, the next worker that asks gets the same attempt. After ten
// such workers the attempt fails with [atom.CodeLost]. It looks at least once, and
// waits for so long, or until enough is closed: then it returns an error that wraps
// [storage.ErrNotFound].
func LeaseWork(ctx context.Context, store storage.Store, t storage.Taking, wait time.Duration, enough <-chan struct{}) (*Work, error) {
	if t.Worker == "" {
		t.Worker = driver.Anonymous
	}
	over := time.NewTimer(wait)
	defer over.Stop()
	pause := lookForWork
	for {
		changed := store.Changed()
		tok, err := store.TakeToken(ctx, t)
		switch {
		case err == nil && tok.Take > maxTaken:
			err = lose(ctx, store, &tok)
			if err != nil {
				return nil, err
			}
			continue
		case err == nil:
			return taken(ctx, store, &tok)
		case !errors.Is(err, storage.ErrNotFound):
			return nil, err
		}
		timer := time.NewTimer(pause)
		select {
		case <-changed:
		case <-timer.C:
			pause = min(2*pause, lookForWorkMax)
		case <-over.C:
			return nil, err
		case <-enough:
			return nil, err
		case <-ctx.Done():
		}
		timer.Stop()
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// lose fails an attempt whose workers were all lost.
func lose(ctx context.Context, store storage.Store, tok *storage.Token) error {
	_, err := store.FinishToken(ctx, tok.ID, tok.Take, nil, &atom.Failure{
		Atom: tok.Path, Attempt: tok.Attempt, Code: atom.CodeLost,
		Message: fmt.Sprintf("%d workers took it, and were not heard of until their leases had run out", maxTaken),
	})
	if errors.Is(err, storage.ErrGone) || errors.Is(err, storage.ErrTaken) {
		return nil
	}
	return err
}

func taken(ctx context.Context, store storage.Store, tok *storage.Token) (*Work, error) {
	w := &Work{
		Token: tok.ID, Take: tok.Take, Queue: tok.Queue, Run: tok.Run, Path: tok.Path,
		Incarnation: tok.Incarnation, Attempt: tok.Attempt,
		Heartbeat: tok.Heartbeat, Lease: tok.Lease,
	}
	heard := *tok
	heard.Heartbeat = 0
	_, w.Deadline = heard.Due()
	if tok.Work == nil {
		a, err := store.Atom(ctx, tok.Run, tok.Path)
		if err != nil {
			return nil, err
		}
		run, err := store.Run(ctx, tok.Run)
		if err != nil {
			return nil, err
		}
		w.Input, w.Trace = a.Input.Data, run.Trace
		return w, nil
	}
	var told driver.RemoteWork
	if err := tok.Work.Decode(&told); err != nil {
		return nil, fmt.Errorf("%w: the work of token %q: %w", storage.ErrCorrupt, tok.ID, err)
	}
	w.Input, w.Trace = atom.FromJSON(told.Input), told.Trace
	if told.Revert {
		w.Undoes = &Undoes{Outcome: told.Outcome, Result: told.Result, Failure: told.Failure, Failures: told.Failures}
	}
	return w, nil
}

package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/attempts"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// Work is an attempt that a worker has taken from a queue. The worker ends the attempt with
// [EndToken], and extends its lease with [KeepToken]. It passes both Token and Take,
// so the calls have no effect after another worker has taken the attempt. If no other worker can take the attempt,
// the caller may use EndToken and Beat, without Take.
type Work struct {
	Token       string        // token with which the worker ends the attempt
	Take        int64         // number of this take; identifies the worker's claim
	Delivery    int64         // counts the workers that received the attempt and did not give it back, this one included
	Queue       string        // task queue from which the work was taken
	Run, Path   string        // run and path of the node
	Incarnation int           // incarnation of the node, from 0
	Attempt     int           // attempt of the node, counted from 1
	Input       atom.Value    // input of the task
	Undoes      *Undoes       // set if the attempt is a revert; nil if it executes
	Deadline    time.Time     // when the attempt fails if it has not ended, even if heartbeats arrive; zero means never
	Heartbeat   time.Duration // how long the worker may be silent before the attempt fails; 0 means without limit
	Lease       time.Time     // when the lease of the worker expires; zero means never
	Trace       string        // W3C traceparent under which the run started; "" if there is none
	PlainKey    bool          // see [atom.Call]
}

// Undoes describes the execution that a revert undoes.
type Undoes struct {
	Outcome  string          // done, failed or unknown, see [atom.Outcome]
	Result   json.RawMessage // result of the execution; nil unless Outcome is done
	Failure  *atom.Failure   // failure of the execution; nil unless Outcome is failed
	Failures []*atom.Failure // the failures because of which the run is undone
}

// Key returns the idempotency key of the work, see [atom.Call].
func (w *Work) Key() string {
	call := atom.Call{Run: w.Run, Path: w.Path, Incarnation: w.Incarnation, Revert: w.Undoes != nil, PlainKey: w.PlainKey}
	return call.Key()
}

// maxTaken bounds how many workers receive the same work and let its lease expire. Otherwise work that kills every
// worker would kill all of them.
//
//limit:workers workers that receive the same attempt (`engine.LeaseWork`) | {} | `Ebb.Lost`
const maxTaken = 10

// forever is longer than any worker waits.
const forever = 100 * 365 * 24 * time.Hour

// TakeWork gives a worker the work that has waited longest in a queue, without a lease. If the worker dies, only
// the work's deadline or heartbeat reveals that. TakeWork waits until there is work. If ctx ends first, TakeWork
// returns the error of ctx. It passes the name worker to the work's language; worker may be "".
func TakeWork(ctx context.Context, store storage.Store, queue, worker string) (*Work, error) {
	return LeaseWork(ctx, store, storage.WorkRequest{Queues: []string{queue}, Worker: worker}, forever, nil)
}

// LeaseWork is TakeWork from several queues, with a lease. If the lease expires, the next worker that asks receives
// the same attempt. After ten such workers the attempt fails with [atom.CodeLost]; a worker that gives the work back
// with [KeepToken] does not count. LeaseWork looks for work at least
// once, and waits until wait has passed or enough is closed. If there is no work, it returns an error that wraps
// [storage.ErrNotFound]. Of the callers that wait for a queue, the one that has waited longest gets the next work.
func LeaseWork(ctx context.Context, opened storage.Store, t storage.WorkRequest, wait time.Duration,
	enough <-chan struct{},
) (*Work, error) {
	store := backend.Of(opened)
	t.Worker = workerName(t.Worker)
	for until := time.Now().Add(wait); ; {
		tok, err := store.AwaitToken(ctx, t, time.Until(until), enough)
		if err != nil {
			return nil, err
		}
		if tok.Takes() <= maxTaken {
			return taken(ctx, store, &tok)
		}
		if err := lose(ctx, store, &tok); err != nil {
			return nil, err
		}
	}
}

// workerName returns the name of a worker as stores take it: text without NUL bytes, of not too many bytes.
func workerName(given string) string {
	given = strings.ToValidUTF8(strings.ReplaceAll(given, "\x00", ""), "")
	given = strings.ToValidUTF8(given[:min(len(given), backend.MaxID)], "")
	return cmp.Or(given, backend.Anonymous)
}

// lose fails an attempt that was lost by every worker.
func lose(ctx context.Context, store backend.Store, tok *storage.Token) error {
	_, err := store.EndToken(ctx, tok.ID, storage.TokenEnd{Take: tok.Take, Failure: &atom.Failure{
		Atom: tok.Path, Attempt: tok.Attempt, Code: atom.CodeLost,
		Message: fmt.Sprintf("%d workers took the work and let their leases expire", maxTaken),
	}})

	if errors.Is(err, storage.ErrGone) || errors.Is(err, storage.ErrTaken) {
		return nil
	}
	return err
}

func taken(ctx context.Context, store backend.Store, tok *storage.Token) (*Work, error) {
	w := &Work{
		Token: tok.ID, Take: tok.Take, Delivery: tok.Takes(), Queue: tok.Queue, Run: tok.Run, Path: tok.Path,
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
		w.Input, w.Trace, w.PlainKey = a.Input.Data, run.Trace, run.PlainKeys
		return w, nil
	}
	var told attempts.RemoteWork
	if err := tok.Work.Decode(&told); err != nil {
		return nil, fmt.Errorf("%w: the work of token %q: %w", storage.ErrCorrupt, tok.ID, err)
	}
	w.Input, w.Trace, w.PlainKey = atom.FromJSON(told.Input), told.Trace, !told.Escaped
	if told.Revert {
		w.Undoes = &Undoes{Outcome: told.Outcome, Result: told.Result, Failure: told.Failure, Failures: told.Failures}
	}
	return w, nil
}

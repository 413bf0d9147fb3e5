package engine

import (
	"context"
	"errors"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/storage"
)

// Work is an attempt that a worker has taken from a queue. It ends the attempt
// with [storage.Letterbox.EndToken], and tells that it is still at it with
// [storage.Letterbox.Beat].
type Work struct {
	Token     string
	Run, Path string // of the node
	Attempt   int
	Input     atom.Value
	Deadline  time.Time     // when it is too late; zero is never
	Heartbeat time.Duration // how long the worker may be silent; 0 is without limit
}

// anonymous stands in the store for a worker that gives no name.
const anonymous = "?"

// How often a queue without work is looked at.
const (
	lookForWork    = 50 * time.Millisecond
	lookForWorkMax = time.Second
)

// TakeWork gives a worker the work that has waited longest in a queue, see
// [flow.Spec.Queue]. It waits until there is some, or ctx ends, and then returns
// its error. Who takes work and dies is noticed by the work's deadline or
// heartbeat alone. worker is told to the work's language; it may be "".
func TakeWork(ctx context.Context, store storage.Store, queue, worker string) (*Work, error) {
	if worker == "" {
		worker = anonymous
	}
	pause := lookForWork
	for {
		rung := store.Rung()
		tok, err := store.TakeToken(ctx, queue, worker)
		if err == nil {
			return taken(ctx, store, &tok)
		}
		if !errors.Is(err, storage.ErrNotFound) {
			return nil, err
		}
		t := time.NewTimer(pause)
		select {
		case <-rung:
		case <-t.C:
			pause = min(2*pause, lookForWorkMax)
		case <-ctx.Done():
		}
		t.Stop()
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

func taken(ctx context.Context, store storage.Store, tok *storage.Token) (*Work, error) {
	a, err := store.Atom(ctx, tok.Run, tok.Path)
	if err != nil {
		return nil, err
	}
	return &Work{
		Token: tok.ID, Run: tok.Run, Path: tok.Path, Attempt: tok.Attempt, Input: a.Input.Data,
		Deadline: tok.Deadline, Heartbeat: tok.Heartbeat,
	}, nil
}

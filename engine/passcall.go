package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ebbflow/ebb/engine/internal/driver"
	"github.com/ebbflow/ebb/engine/internal/session"
	"github.com/ebbflow/ebb/storage"
)

// ownPatience is how long another process may drive a run before calls are passed on to it: most processes commit and
// release the run sooner, and then the calls cost one commit less.
const ownPatience = 100 * time.Millisecond

// pass sends the requests that wait for a run to the process that drives it, because that process may be making a long
// call, and waits until they are answered or their callers have left. If that process dies meanwhile, the next one
// answers them.
//
// The requests are messages to the run. They outlive this process, so a caller that leaves does not end its request.
// A worker that leaves then may have taken a task, as if it had left after the answer.
func (c callers) pass(ctx context.Context, run string) {
	waiting, messages := c.e.env.Requests.Take(run), []storage.Message(nil)
	waiting = slices.DeleteFunc(waiting, func(r *driver.Request) bool {
		m, err := r.Pass()
		if err != nil {
			r.End(err)
			return true
		}
		messages = append(messages, m)
		return false
	})
	if len(waiting) == 0 {
		return
	}
	why := storage.ErrUnsure // unless another reason is known, such as after a panic
	defer func() {
		for _, r := range waiting {
			r.End(why)
		}
	}()
	if err := c.e.env.Store.Send(ctx, messages...); err != nil {
		why = session.Wrap(run, err)
		return
	}
	t := time.NewTimer(leastCallPause)
	defer t.Stop()
	for pause := leastCallPause; ; pause = min(2*pause, mostCallPause) {
		run, err := c.e.env.Store.Run(ctx, run) // before the answers: a run that has ended has given them
		if err == nil {
			waiting, err = c.answers(ctx, waiting)
		}
		switch {
		case len(waiting) == 0:
			return
		case err != nil:
			why = fmt.Errorf("%w: %w", storage.ErrUnsure, session.Wrap(run.ID, err))
			return
		case run.State.Ended():
			why = fmt.Errorf("%w: %q", ErrEnded, run.ID)
			return
		case run.Hold && run.Owner == "":
			why = driver.ErrHeld
			return
		case run.Owner == "":
			c.answer(ctx, run.ID) // the messages are in the inbox
		}
		<-t.C
		t.Reset(min(2*pause, mostCallPause))
	}
}

// answers ends the requests whose answers are in the store, or whose callers have left, and returns the others.
func (c callers) answers(ctx context.Context, requests []*driver.Request) (open []*driver.Request, err error) {
	for i, r := range requests {
		t, err := c.e.env.Store.Token(ctx, r.Receipt())
		switch {
		case err == nil:
			r.Answer(&t)
		case !errors.Is(err, storage.ErrNotFound):
			return append(open, requests[i:]...), err
		case r.Gone() != nil:
			r.End(fmt.Errorf("%w: %w", storage.ErrUnsure, r.Gone()))
		default:
			open = append(open, r)
		}
	}
	return open, nil
}

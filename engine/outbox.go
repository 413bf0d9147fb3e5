package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/clip"
	"github.com/ebbflow/ebb/internal/redact"
	"github.com/ebbflow/ebb/storage"
)

// A Sender sends one message out of the database. It is called at least once for
// each, always with the same ID, by which the receiver can tell a repetition.
// Messages of one run to one target come in order: the next one when the one
// before was sent. An error, or a panic, lets it be sent again later.
type Sender func(ctx context.Context, out storage.Outgoing) error

// How messages are sent.
const (
	sendTime     = 30 * time.Second // what one sending may take; for so long no other process sends it
	sendTries    = 20               // then it is parked, until a human releases it
	sendAtOnce   = 16               // messages of different runs or targets
	slowAtOnce   = 48               // beside these, such as have taken slowSend already
	slowSend     = time.Second
	firstResend  = time.Second
	lastResend   = 10 * time.Minute
	resendJitter = 0.5
)

// resend is the wait after a sending that failed.
var resend = atom.Exponential(firstResend, lastResend).WithJitter(resendJitter)

// Dispatch sends what runs leave in the outbox, until ctx ends: in order for each
// run and target, again after a growing wait when that fails, and parked with its
// error after 20 tries; then what follows it waits, too, until an operator releases
// it by [storage.Store.Unsent]. A message whose sender died is sent again, under
// the same ID, within 30 s. It returns the store's error when the store cannot
// say what there is to send, and nil when ctx ended. Any number of processes may
// do so at once.
func (e *Engine) Dispatch(ctx context.Context, send Sender) error {
	o := newOutbound()
	defer o.all.Wait()
	for {
		changed, ended := e.env.Store.Changed(), o.ended
		capacity, sent := o.look()
		var out []storage.Outgoing
		if capacity > 0 {
			var err error
			out, err = e.env.Store.Outgoing(ctx, e.now(), capacity+len(sent))
			switch {
			case ctx.Err() != nil:
				return nil
			case err != nil:
				return err
			}
		}
		for i := range out {
			if capacity > 0 && !sent[out[i].N] {
				capacity--
				o.send(out[i].N, func() { e.sendOne(ctx, send, out[i]) })
			}
		}
		t := time.NewTimer(pollInterval)
		select {
		case <-changed:
		case <-ended: // there is capacity, or the next message of a run and target can be sent
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return nil
		}
		t.Stop()
	}
}

// guarded sends a message; a panic is an error.
func (send Sender) guarded(ctx context.Context, out storage.Outgoing) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &atom.PanicError{Value: p, Stack: clip.Text(string(debug.Stack()), atom.MaxFailureText)}
		}
	}()
	return send(ctx, out)
}

// sendOne sends one message, and stores what became of it. While it is being sent
// no other process finds it.
func (e *Engine) sendOne(ctx context.Context, send Sender, out storage.Outgoing) {
	out.Attempts++
	out.NotUntil = e.now().Add(sendTime)
	if err := e.env.Store.Unsent(ctx, out); err != nil {
		if ctx.Err() == nil && !errors.Is(err, storage.ErrNotFound) { // else another has sent it meanwhile
			e.env.Log.Error("the outbox cannot be written", "error", err)
		}
		return
	}
	sending, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	err := send.guarded(sending, out)
	storing := context.WithoutCancel(ctx) // record the result even if the process is stopping
	if err == nil {
		err = e.env.Store.Sent(storing, out.N)
	} else {
		out.Error = clip.Text(strings.ReplaceAll(strings.ToValidUTF8(redact.Text(err.Error()), "\uFFFD"), "\x00", "\uFFFD"), atom.MaxFailureText) // it may be a server's
		out.Parked = out.Attempts >= sendTries
		out.NotUntil = e.now().Add(resend.Jittered(out.Attempts, rand.Float64())) //nolint:gosec // only spreads waits
		e.env.Log.Warn("a message was not sent", "run", out.Run, "target", out.Target, "id", out.ID, "try", out.Attempts, "parked", out.Parked, "error", err)
		err = e.env.Store.Unsent(storing, out)
	}
	if err != nil {
		e.env.Log.Error("cannot record send result; message will be sent again", "run", out.Run, "id", out.ID, "error", err)
	}
}

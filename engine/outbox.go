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
func (o *outbound) sendOne(ctx context.Context, send Sender, out storage.Outgoing) {
	out.Attempts++
	out.NotUntil = time.Now().Add(sendTime)
	if err := o.store.Unsent(ctx, out); err != nil {
		if ctx.Err() == nil && !errors.Is(err, storage.ErrNotFound) { // else another has sent it meanwhile
			o.log.Error("the outbox cannot be written", "error", err)
		}
		return
	}
	sending, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	err := send.guarded(sending, out)
	storing := context.WithoutCancel(ctx) // record the result even if the process is stopping
	if err == nil {
		err = o.store.Sent(storing, out.N)
	} else {
		text := strings.ReplaceAll(strings.ToValidUTF8(redact.Text(err.Error()), "\uFFFD"), "\x00", "\uFFFD") // it may be a server's
		out.Error = clip.Text(text, atom.MaxFailureText)
		out.Parked = out.Attempts >= sendTries
		out.NotUntil = time.Now().Add(resend.Jittered(out.Attempts, rand.Float64())) //nolint:gosec // only spreads waits
		o.log.Warn("a message was not sent", "run", out.Run, "target", out.Target, "id", out.ID, "try", out.Attempts, "parked", out.Parked, "error", err)
		err = o.store.Unsent(storing, out)
	}
	if err != nil {
		o.log.Error("cannot record send result; message will be sent again", "run", out.Run, "id", out.ID, "error", err)
	}
}

// dispatch is [Engine.Dispatch].
func (o *outbound) dispatch(ctx context.Context, send Sender) error {
	defer o.all.Wait()
	for {
		changed, ended := o.store.Changed(), o.ended
		capacity, sent := o.look()
		var out []storage.Outgoing
		if capacity > 0 {
			var err error
			out, err = o.store.Outgoing(ctx, time.Now(), capacity+len(sent))
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
				o.send(out[i].N, func() { o.sendOne(ctx, send, out[i]) })
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

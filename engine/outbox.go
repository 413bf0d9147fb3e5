package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/clip"
	"github.com/ebbflow/ebb/internal/guard"
	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/internal/redact"
	"github.com/ebbflow/ebb/storage"
	"github.com/hashicorp/go-hclog"
)

// A Sender sends one message to a target outside the database. The engine calls it at least once for each message,
// always with the same ID, by which the receiver can detect a repetition. Messages of one run to one target arrive
// in order: the engine sends the next one after the previous one was sent. If the Sender returns an error or
// panics, the engine sends the message again later.
type Sender func(ctx context.Context, out storage.Outgoing) error

// How messages are sent.
const (
	sendTime = 30 * time.Second // limit of one attempt; during it no other process sends the message
	//limit:scheduling tries to send a message | {} of {sendTime} | parked, with those behind it
	sendTries = 20
	//limit:scheduling messages sent at once | {}; {slowAtOnce} more beside sends of over {slowSend} | wait
	sendAtOnce   = 16
	slowAtOnce   = 48 // further messages at the same time that have taken slowSend already
	slowSend     = time.Second
	firstResend  = time.Second
	lastResend   = 10 * time.Minute
	resendJitter = 0.5
)

// resend is the pause after a failed attempt.
var resend = atom.Exponential(firstResend, lastResend).WithJitter(resendJitter)

// sendOne sends one message, and records the result. While it sends the message, no other process finds it.
func (o *outbound) sendOne(ctx context.Context, send Sender, out storage.Outgoing) {
	out.Attempts++
	out.NotUntil = o.store.Now().Add(sendTime)
	if err := o.store.Unsent(ctx, out); err != nil {
		if ctx.Err() == nil && !errors.Is(err, storage.ErrNotFound) { // otherwise another process has sent it meanwhile
			o.log.Log(backend.LevelOf(err, hclog.Error), logevent.OutboxFailed, "error", err)
			pause := time.NewTimer(pollInterval) // the message can be sent at once again, also while the disk is full
			defer pause.Stop()
			select {
			case <-pause.C:
			case <-ctx.Done():
			}
		}
		return
	}
	sending, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	var err error
	if broke := guard.Call(func() { err = send(sending, out) }); broke != nil {
		err = broke
	}
	storing := context.WithoutCancel(ctx) // record the result even if the process is stopping
	if err == nil {
		err = o.store.Sent(storing, out.N)
	} else {
		// The text may come from a server, and the store accepts only valid UTF-8 without NUL.
		text := strings.ReplaceAll(strings.ToValidUTF8(redact.Text(err.Error()), "\uFFFD"), "\x00", "\uFFFD")
		out.Error = clip.Text(text, atom.MaxFailureText)
		out.Parked = out.Attempts >= sendTries
		out.NotUntil = o.store.Now().Add(resend.Jittered(out.Attempts, rand.Float64())) //nolint:gosec // only spreads waits
		if out.Parked {
			o.log.Error(logevent.MessageParked, "run", out.Run, "target", out.Target, "message", out.ID,
				"attempt", out.Attempts, "error", err)
		} else {
			o.log.Warn(logevent.MessageSendFailed, "run", out.Run, "target", out.Target, "message", out.ID,
				"attempt", out.Attempts, "error", err)
		}
		err = o.store.Unsent(storing, out)
	}
	if err != nil {
		o.log.Error(logevent.MessageRecordFailed, "run", out.Run, "message", out.ID, "error", err)
	}
}

// dispatch implements [Engine.Dispatch].
func (o *outbound) dispatch(ctx context.Context, send Sender) error {
	defer o.all.Wait()
	for {
		changed, ended := o.store.Changed(), o.ended
		capacity, sent := o.look()
		var out []storage.Outgoing
		if capacity > 0 {
			var err error
			out, err = o.store.Outgoing(ctx, o.store.Now(), capacity+len(sent))
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

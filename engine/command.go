package engine

import (
	"context"
	"errors"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/storage"
)

// A Command is what an operator asks of a run. Create one with a function below.
// A command is a message, so it reaches the run no matter which process owns it.
// The message stays in the inbox until the command has been applied. If the owner
// dies before that, the next owner applies it. Applying a command twice does no
// harm. The owner applies commands in the order in which they arrived.
type Command struct {
	kind string
	path string
	why  *atom.Failure
	body commandBody
	err  error
}

// commandBody is the body of a command's message.
type commandBody struct {
	Undo  bool                  `json:"undo,omitempty"`
	Input map[string]atom.Value `json:"input,omitempty"`
}

// The kinds of messages that are commands.
const (
	messageSuspend     = "suspend"
	messageCancel      = "cancel"
	messageRevertTo    = "revert-to"
	messageRetry       = "retry"
	messageRetryRevert = "retry-revert"
	messageSkip        = "skip"
)

// Hold lets a run come to rest: what executes ends by itself, nothing more is
// started. It stays suspended, also where runs are served, until it is run again.
// It is refused when the run has ended. See [Suspend], which needs no engine.
func Hold() Command { return Command{kind: messageSuspend} }

// Cancel ends a run and undoes what it did: what executes is cancelled, then all
// is reverted, but for what a point of no return keeps. A run that has succeeded
// is undone too. The run's outcome is Cancelled; why is kept as its failure, under
// [atom.CodeCancelled], and [Engine.Command] returns it within *[RevertedError], or
// within *[FailedError] when nothing was undone or undoing failed. It is refused
// when the run is REVERTED.
func Cancel(why string) Command {
	return Command{kind: messageCancel, why: cancelled(why), body: commandBody{Undo: true}}
}

// CancelWith is [Cancel] with a failure of the caller's own.
func CancelWith(why *atom.Failure) Command {
	return Command{kind: messageCancel, why: why, body: commandBody{Undo: true}}
}

// Abandon ends a run and leaves what it did as it is: what executes is
// cancelled, and nothing is undone, or nothing more. The run ends FAILURE with
// the outcome Cancelled, and [Engine.Command] returns *[FailedError]. It is refused
// when the run is REVERTED.
func Abandon(why string) Command { return Command{kind: messageCancel, why: cancelled(why)} }

// AbandonWith is [Abandon] with a failure of the caller's own.
func AbandonWith(why *atom.Failure) Command { return Command{kind: messageCancel, why: why} }

// RevertTo undoes all that came after the atom, which itself stays done, and
// lets the run come to rest there. Run it again, and it goes forward from there.
// What does not depend on the atom, directly or not, is left as it is. The run is
// held, and [Engine.Command] returns [ErrSuspended]. It is refused when there is no
// such atom, or when a point of no return is in the way.
//
// A run of a language goes back to an entry of its undo stack, and ends there:
// FAILURE, with the outcome Cancelled. It is refused for a path that is not on the
// stack, see [Engine.Preview].
func RevertTo(path string) Command { return Command{kind: messageRevertTo, path: path} }

// RetryFrom lets a run go on from the atom, whatever its end was: the atom and
// all that came after it is undone, as far as it was done, and runs again, as new
// incarnations. With no path it goes on from where it failed: what is done, and
// depends on nothing that is not, stays done. Inputs replace those of the same
// name; the others stay. [Engine.Command] returns as [Engine.Run] does. It is
// refused when there is no such atom, when a point of no return is in the way, and
// for runs of languages.
func RetryFrom(path string, inputs ...InputOption) Command {
	o := Command{kind: messageRetry, path: path}
	b := beginning{inputs: map[string]atom.Value{}}
	for _, in := range inputs {
		if err := in.begin(&b); err != nil {
			o.err = err
		}
	}
	o.body.Input = b.inputs
	return o
}

// RetryRevert tries again what could not be undone, with all the attempts that
// its policy gives: the atom, or with no path all of it; then the undoing goes on.
// It is refused when no revert of the run, or not that one, has failed.
func RetryRevert(path string) Command { return Command{kind: messageRetryRevert, path: path} }

// Skip counts an atom that could not be undone as undone, because an operator has
// cleaned up by hand; then the undoing goes on. In a run of a language it is the
// one that the undoing came to a stop at, and the path may be left out. It is
// refused when the revert of that atom has not failed.
func Skip(path string) Command { return Command{kind: messageSkip, path: path} }

func cancelled(why string) *atom.Failure {
	return &atom.Failure{Code: atom.CodeCancelled, Message: why}
}

var errNoCommand = errors.New("engine: the command is empty; create one with engine.Cancel, engine.RetryFrom or a similar function")

// ErrRefused is returned, wrapped, if a run does not allow a command. The run stays
// as it is. The error gives the reason.
var ErrRefused = errors.New("engine: the run does not allow the command")

// Send sends a command to a run and does not wait for it to be applied. If no
// process owns the run, the next process that serves or runs it applies the command.
// If the run does not allow the command, the process that owns the run drops and logs
// it. Send returns an error that wraps [storage.ErrNotFound] if the run does not
// exist, and an encoding error if an input cannot be encoded.
func Send(ctx context.Context, store storage.Inbox, run string, o Command) error {
	l, err := o.message(run)
	if err != nil {
		return err
	}
	return store.Send(ctx, l)
}

func (o *Command) message(run string) (storage.Message, error) {
	if o.err != nil {
		return storage.Message{}, o.err
	}
	if o.kind == "" {
		return storage.Message{}, errNoCommand
	}
	body, err := atom.Encode(o.body)
	return storage.Message{Run: run, Kind: o.kind, Path: o.path, Failure: o.why, Body: body}, err
}

// Command sends a command to a run and returns when the run has come to rest, as
// [Engine.Run] does, with the same errors. If another process owns the run, Command
// waits for that process. If the other process dies, this engine drives the run. If
// ctx ends first, Command returns [ErrStopped]; the owner of the run still applies a
// command that was sent. If the run does not allow the command, Command returns an
// error that wraps [ErrRefused], and the run stays as it is. If the run does not
// exist, it returns a *[StoreError] that wraps [storage.ErrNotFound].
func (e *Engine) Command(ctx context.Context, id string, o Command) (*Result, error) {
	if _, err := o.message(id); err != nil {
		return nil, err
	}
	if o.kind == messageSuspend {
		run, err := Suspend(ctx, e.store, id)
		if err != nil {
			return nil, err
		}
		return e.result(ctx, &run, nil)
	}
	for {
		res, err := e.take(ctx, id, &o)
		if _, owned := errors.AsType[*storage.OwnedError](err); !owned {
			return res, err
		}
		if o.kind != "" { // sent once
			if err := e.send(ctx, id, &o); err != nil {
				return nil, err
			}
		}
		run, err := WhileOwned(ctx, e.store, id)
		if err != nil {
			return nil, err
		}
		if done, err := e.followed(ctx, &run); done || err != nil {
			if err != nil {
				return nil, err
			}
			return e.result(ctx, &run, nil)
		}
	}
}

// send sends a command to the owner of a run, unless the run does not allow the
// command.
func (e *Engine) send(ctx context.Context, id string, o *Command) error {
	if o.kind != messageCancel { // a run that is owned allows it, and may be large
		d, _, err := e.look(ctx, id)
		if err != nil {
			return err
		}
		defer d.release()
		if err := d.refuse(o); err != nil {
			return err
		}
	}
	if err := Send(ctx, e.store, id, *o); err != nil {
		return wrapStore(id, err)
	}
	*o = Command{}
	return nil
}

// followed reports whether a run has come to rest and no command waits in its inbox.
func (e *Engine) followed(ctx context.Context, run *storage.Run) (bool, error) {
	if !rests(run) {
		return false, nil
	}
	_, messages, err := e.store.Messages(ctx, run.ID)
	for i := range messages {
		if _, ok := commandOf(&messages[i]); ok {
			return false, nil
		}
	}
	return true, wrapStore(run.ID, err)
}

// take takes the run over and drives it to rest, beginning with the command if
// there is one.
func (e *Engine) take(ctx context.Context, id string, o *Command) (*Result, error) {
	d, snap, err := e.begun(ctx, id, e.store.Seize, nil)
	if err != nil {
		return nil, err
	}
	if o.kind != "" {
		if err = d.refuse(o); err == nil {
			err = wrapStore(id, Send(ctx, e.store, id, *o))
		}
		if err != nil {
			d.release()
			return nil, errors.Join(err, e.releaseUndriven(ctx, d.claim, snap))
		}
		o.kind = ""
	}
	if d.wakeups, snap.Messages, err = e.store.Messages(ctx, id); err != nil {
		d.release()
		return nil, errors.Join(wrapStore(id, err), e.releaseUndriven(ctx, d.claim, snap))
	}
	return e.finish(ctx, d, snap, toApply, nil)
}

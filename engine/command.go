package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/driver"
	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A Command is what an operator asks of a run. Create one with a function below.
// A command is a message, so it reaches the run no matter which process owns it.
// The message stays in the inbox until the command has been applied. If the owner
// dies before that, the next owner applies it. Applying a command twice does no
// harm. The owner applies commands in the order in which they arrived.
type Command struct{ c inbox.Command }

// Hold lets a run come to rest: what executes ends by itself, nothing more is
// started. It stays suspended, also where runs are served, until it is run again.
// It is refused when the run has ended. See [Suspend], which needs no engine.
func Hold() Command { return Command{inbox.Command{Kind: inbox.Suspend}} }

// Cancel ends a run and undoes what it did: what executes is cancelled, then all
// is reverted, but for what a point of no return keeps. A run that has succeeded
// is undone too. The run's outcome is Cancelled; why is kept as its failure, under
// [atom.CodeCancelled], and [Engine.Command] returns it within *[RevertedError], or
// within *[FailedError] when nothing was undone or undoing failed. It is refused
// when the run is REVERTED.
func Cancel(why string) Command {
	return CancelWith(inbox.Cancelled(why))
}

// CancelWith is [Cancel] with a failure of the caller's own.
func CancelWith(why *atom.Failure) Command {
	return Command{inbox.Command{Kind: inbox.Cancel, Why: why, Undo: true}}
}

// Abandon ends a run and leaves what it did as it is: what executes is
// cancelled, and nothing is undone, or nothing more. The run ends FAILURE with
// the outcome Cancelled, and [Engine.Command] returns *[FailedError]. It is refused
// when the run is REVERTED.
func Abandon(why string) Command { return AbandonWith(inbox.Cancelled(why)) }

// AbandonWith is [Abandon] with a failure of the caller's own.
func AbandonWith(why *atom.Failure) Command {
	return Command{inbox.Command{Kind: inbox.Cancel, Why: why}}
}

// RevertTo undoes all that came after the atom, which itself stays done, and
// lets the run come to rest there. Run it again, and it goes forward from there.
// What does not depend on the atom, directly or not, is left as it is. The run is
// held, and [Engine.Command] returns [ErrSuspended]. It is refused when there is no
// such atom, or when a point of no return is in the way.
//
// A run of a language goes back to an entry of its undo stack, and ends there:
// FAILURE, with the outcome Cancelled. It is refused for a path that is not on the
// stack, see [Engine.Preview].
func RevertTo(path string) Command { return Command{inbox.Command{Kind: inbox.RevertTo, Path: path}} }

// RetryFrom lets a run go on from the atom, whatever its end was: the atom and
// all that came after it is undone, as far as it was done, and runs again, as new
// incarnations. With no path it goes on from where it failed: what is done, and
// depends on nothing that is not, stays done. Inputs replace those of the same
// name; the others stay. [Engine.Command] returns as [Engine.Run] does. It is
// refused when there is no such atom, when a point of no return is in the way, and
// for runs of languages.
func RetryFrom(path string, inputs ...InputOption) Command {
	o := inbox.Command{Kind: inbox.Retry, Path: path}
	b := beginning{inputs: map[string]atom.Value{}}
	for _, in := range inputs {
		if err := in.begin(&b); err != nil {
			o.Err = err
		}
	}
	o.Input = b.inputs
	return Command{o}
}

// RetryRevert tries again what could not be undone, with all the attempts that
// its policy gives: the atom, or with no path all of it; then the undoing goes on.
// It is refused when no revert of the run, or not that one, has failed.
func RetryRevert(path string) Command {
	return Command{inbox.Command{Kind: inbox.RetryRevert, Path: path}}
}

// Skip counts an atom that could not be undone as undone, because an operator has
// cleaned up by hand; then the undoing goes on. In a run of a language it is the
// one that the undoing came to a stop at, and the path may be left out. It is
// refused when the revert of that atom has not failed.
func Skip(path string) Command { return Command{inbox.Command{Kind: inbox.Skip, Path: path}} }

// ErrRefused is returned, wrapped, if a run does not allow a command. The run stays
// as it is. The error gives the reason.
var ErrRefused = driver.ErrRefused

// Send sends a command to a run and does not wait for it to be applied. If no
// process owns the run, the next process that serves or runs it applies the command.
// If the run does not allow the command, the process that owns the run drops and logs
// it. Send returns an error that wraps [storage.ErrNotFound] if the run does not
// exist, and an encoding error if an input cannot be encoded.
func Send(ctx context.Context, store storage.Inbox, run string, o Command) error {
	l, err := o.c.Message(run)
	if err != nil {
		return err
	}
	return store.Send(ctx, l)
}

// Command sends a command to a run and returns when the run has come to rest, as
// [Engine.Run] does, with the same errors. If another process owns the run, Command
// waits for that process. If the other process dies, this engine drives the run. If
// ctx ends first, Command returns [ErrStopped]; the owner of the run still applies a
// command that was sent. If the run does not allow the command, Command returns an
// error that wraps [ErrRefused], and the run stays as it is. If the run does not
// exist, it returns a *[StoreError] that wraps [storage.ErrNotFound].
func (e *Engine) Command(ctx context.Context, id string, o Command) (*Result, error) {
	if _, err := o.c.Message(id); err != nil {
		return nil, err
	}
	if o.c.Kind == inbox.Suspend {
		run, err := Suspend(ctx, e.env.Store, id)
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
		if o.c.Kind != "" { // sent once
			if err := e.send(ctx, id, &o); err != nil {
				return nil, err
			}
		}
		run, err := WhileOwned(ctx, e.env.Store, id)
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
	if o.c.Kind != inbox.Cancel { // a run that is owned allows it, and may be large
		d, _, err := e.look(ctx, id)
		if err != nil {
			return err
		}
		defer d.Close()
		if err := d.Refuse(&o.c); err != nil {
			return err
		}
	}
	if err := Send(ctx, e.env.Store, id, *o); err != nil {
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
	_, messages, err := storage.AllMessages(ctx, e.env.Store, run.ID)
	return err == nil && !inbox.HasCommand(messages), wrapStore(run.ID, err)
}

// take takes the run over and drives it to rest, beginning with the command if
// there is one.
func (e *Engine) take(ctx context.Context, id string, o *Command) (*Result, error) {
	d, snap, err := e.begun(ctx, id, e.env.Store.Seize, nil)
	if err != nil {
		return nil, err
	}
	if o.c.Kind != "" {
		if err = d.Refuse(&o.c); err == nil {
			err = wrapStore(id, Send(ctx, e.env.Store, id, *o))
		}
		if err != nil {
			d.Close()
			return nil, errors.Join(err, e.claims.releaseUndriven(ctx, d.Claim(), snap))
		}
		o.c.Kind = ""
	}
	wakeups, messages, err := storage.AllMessages(ctx, e.env.Store, id)
	if err != nil {
		d.Close()
		return nil, errors.Join(wrapStore(id, err), e.claims.releaseUndriven(ctx, d.Claim(), snap))
	}
	d.HasRead(wakeups)
	snap.Messages = messages
	return e.finish(ctx, d, snap, toApply, nil)
}

// Reset makes a run that has ended PENDING again, as if it had never run, except
// that its history stays and that its atoms have new incarnations, so that their
// idempotency keys are others: all of it in one commit, or nothing. What it did is
// not undone by that, and stays done. It returns an error that wraps [ErrRefused]
// when the run has not ended, or is one of a language; *[storage.OwnedError] when
// a live process owns it; and *[StoreError], which wraps [storage.ErrNotFound] when
// there is no such run.
func (e *Engine) Reset(ctx context.Context, id string) error {
	d, snap, err := e.begun(ctx, id, e.env.Store.Seize, nil)
	if err != nil {
		return err
	}
	defer d.Close()
	err = states.CheckReset(snap.Run.State, states.FlowPending)
	if err == nil && d.Grows() {
		err = errNoAgain
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%w: run %q: %w", ErrRefused, id, err), e.claims.releaseUndriven(ctx, d.Claim(), snap))
	}
	return d.Reset() //nolint:contextcheck // the driver has its own
}

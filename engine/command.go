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

// A Command is an operator's request to a run. Create one with a function below.
// A command is a message, so it reaches the run no matter which process owns it.
// The message stays in the inbox until the command has been applied. If the owner
// dies before that, the next owner applies it. Applying a command twice does no
// harm. The owner applies commands in the order in which they arrived.
type Command struct{ c inbox.Command }

// Hold suspends a run: atoms that execute may end, and nothing more is started. The run
// stays suspended until it is run again; servers do not resume it. If the run has ended,
// Hold is refused. See [Suspend], which needs no engine.
func Hold() Command { return Command{inbox.Command{Kind: inbox.Suspend}} }

// Cancel ends a run and undoes it. The atoms that execute are cancelled, then all atoms
// are reverted, except those that a point of no return keeps. A run that has succeeded
// is undone too. The run's outcome is Cancelled. The run stores why as its failure, under
// [atom.CodeCancelled], and [Engine.Command] returns it within *[RevertedError], or
// within *[FailedError] if nothing was undone or undoing failed. If the run is REVERTED,
// Cancel is refused.
func Cancel(why string) Command {
	return CancelWith(inbox.Cancelled(why))
}

// CancelWith is [Cancel] with a failure of the caller's own.
func CancelWith(why *atom.Failure) Command {
	return Command{inbox.Command{Kind: inbox.Cancel, Why: why, Undo: true}}
}

// Abandon ends a run without undoing it. The atoms that execute are cancelled. If the
// run is already being undone, nothing more is undone. The run ends FAILURE with
// the outcome Cancelled, and [Engine.Command] returns *[FailedError]. If the run is
// REVERTED, Abandon is refused.
func Abandon(why string) Command { return AbandonWith(inbox.Cancelled(why)) }

// AbandonWith is [Abandon] with a failure of the caller's own.
func AbandonWith(why *atom.Failure) Command {
	return Command{inbox.Command{Kind: inbox.Cancel, Why: why}}
}

// RevertTo undoes all atoms that came after the atom, and suspends the run there. The atom
// itself stays done. When the run is run again, it goes forward from there. Atoms that do
// not depend on the atom, directly or not, stay as they are. The run is held, and
// [Engine.Command] returns [ErrSuspended]. If there is no such atom, or a point of no
// return is in the way, RevertTo is refused.
//
// A run of a language goes back to an entry of its undo stack, and ends there:
// FAILURE, with the outcome Cancelled. If the path is not on the stack, RevertTo is
// refused, see [Engine.Preview].
func RevertTo(path string) Command { return Command{inbox.Command{Kind: inbox.RevertTo, Path: path}} }

// RetryFrom resumes a run from the atom, no matter how the run ended. The atom and all
// atoms after it are undone, as far as they were done, and run again as new incarnations.
// Without a path the run resumes from where it failed: an atom that is done stays done,
// unless it depends on an atom that is not. Inputs replace those of the same name; the
// others stay. [Engine.Command] returns as [Engine.Run] does. RetryFrom is refused if there
// is no such atom, if a point of no return is in the way, and for runs of languages.
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

// RetryRevert retries the failed revert of the atom, or without a path all failed reverts,
// with all the attempts of the revert policy. Then the undo continues. If that revert, or
// without a path any revert, has not failed, RetryRevert is refused.
func RetryRevert(path string) Command {
	return Command{inbox.Command{Kind: inbox.RetryRevert, Path: path}}
}

// Skip counts an atom whose revert failed as undone, because an operator has cleaned up by
// hand. Then the undo continues. In a run of a language it is the atom at which the undo
// stopped, and the path may be left out. If the revert of that atom has not failed, Skip
// is refused.
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

// Reset makes a run that has ended PENDING again, in one commit, as if it had never run.
// Only its history stays, and its atoms have new incarnations, so their idempotency keys
// change. Reset does not undo the effects of the run. If the run has not ended, or is a
// run of a language, Reset returns an error that wraps [ErrRefused]. If a live process
// owns the run, it returns *[storage.OwnedError]. If the store fails, it returns
// *[StoreError], which wraps [storage.ErrNotFound] if there is no such run.
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

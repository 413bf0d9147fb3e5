package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/driver"
	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/engine/internal/session"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A Command is an operator's request to a run. Create one with a function below. A command is a message, so it
// reaches the run no matter which process owns the run. The message stays in the inbox until the owner has applied
// the command. If the owner dies before that, the next owner applies it. Applying a command twice has the same
// effect as applying it once. The owner applies commands in the order in which they arrived.
type Command struct{ c inbox.Command } //nolint:recvcheck // By changes a copy

// By returns the command with who gives it. The history of the run then says who gave the command, and whether it was
// applied or refused, in the commit with its effect; the audit lists these lines of all runs. Without By, the
// history shows only the effect.
func (o Command) By(who storage.Issuer) Command {
	o.c.By = &who
	return o
}

// Hold suspends a run: running atoms may end, and the run starts no other atom. The run stays suspended until
// [Engine.Run] or a command resumes it; servers do not resume it. If the run has ended, Hold is refused. See
// [Suspend], which needs no engine.
func Hold() Command { return Command{inbox.Command{Kind: inbox.Suspend}} }

// Resume lets a suspended run continue from where it was, in the next process that serves it. Other runs do not change.
// If the run has ended, Resume is refused.
func Resume() Command { return Command{inbox.Command{Kind: inbox.Resume}} }

// Cancel ends a run and undoes it. The engine cancels running atoms, then reverts all atoms, except those that a
// pivot keeps. A run that has succeeded is undone too. The run's outcome is Cancelled. The run stores why as its
// failure, with the code [atom.CodeCancelled]. [Engine.Command] returns that failure within *[RevertedError], or
// within *[FailedError] if nothing was undone or undoing failed. If the run is REVERTED, Cancel is refused.
func Cancel(why string) Command {
	return CancelWith(inbox.Cancelled(why))
}

// Revert undoes a run, also one that has succeeded, as [Cancel] does. It is refused if the run has succeeded and
// nothing can be undone, too. The run's failure has the code [atom.CodeReverted].
func Revert(why string) Command {
	return Command{inbox.Command{
		Kind: inbox.Revert, Why: &atom.Failure{Code: atom.CodeReverted, Message: why}, Undo: true,
	}}
}

// CancelWith is [Cancel] with a failure that the caller provides.
func CancelWith(why *atom.Failure) Command {
	return Command{inbox.Command{Kind: inbox.Cancel, Why: why, Undo: true}}
}

// CancelLive is [CancelWith] for a run that has not ended: it is refused for any other, so that it never undoes a run
// that has succeeded meanwhile.
func CancelLive(why *atom.Failure) Command {
	return Command{inbox.Command{Kind: inbox.Cancel, Why: why, Undo: true, Live: true}}
}

// CancelNext is [CancelLive] for a run of a language, from the next transition on: what is running may end, and the
// run is cancelled when the language has answered what follows. Until then the command waits in the inbox. Send it with
// [Send]. Runs of other flows ignore it.
func CancelNext(why *atom.Failure) Command {
	return Command{inbox.Command{Kind: inbox.CancelNext, Why: why, Undo: true, Live: true}}
}

// Abandon ends a run without undoing it. The engine cancels running atoms. If the run is already being undone, the
// engine undoes nothing more. The run ends FAILURE with the outcome Cancelled, and [Engine.Command] returns
// *[FailedError]. If the run is REVERTED, Abandon is refused.
func Abandon(why string) Command { return AbandonWith(inbox.Cancelled(why)) }

// AbandonWith is [Abandon] with a failure that the caller provides.
func AbandonWith(why *atom.Failure) Command {
	return Command{inbox.Command{Kind: inbox.Cancel, Why: why}}
}

// RevertTo undoes all atoms that ran after the atom at path, and suspends the run there. That atom stays done. When
// the run is resumed, it continues from there. Atoms that do not depend on that atom, directly or indirectly, do
// not change. The run is held, and [Engine.Command] returns [ErrSuspended]. If there is no such atom, or a pivot
// stands between, RevertTo is refused.
//
// A run of a language goes back to an entry of its undo stack, and ends there: FAILURE, with the outcome Cancelled.
// If the path is not on the stack, RevertTo is refused, see [Engine.Preview].
func RevertTo(path string) Command { return Command{inbox.Command{Kind: inbox.RevertTo, Path: path}} }

// RetryFrom resumes a run from the atom at path, no matter how the run ended. The engine undoes that atom and all
// atoms after it, as far as they were done, and runs them again as new incarnations. If path is "", the run resumes
// where it failed: a completed atom stays done, unless it depends on an atom that is not done. Inputs replace
// inputs with the same name. [Engine.Command] returns as [Engine.Run] does. RetryFrom is refused if there is no
// such atom, or if a pivot stands between.
//
// A run of a language that has failed, timed out or been cancelled continues where it was, if its language can do so
// (see [grow.Reopener]). What had succeeded stays done, also in branches, iterations and child runs. RetryFrom takes no
// path and no inputs then. It is refused if the run was undone, wholly or in part, or if a child run is still ending.
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

// RetryRevert retries the failed revert of the atom at path, with all the attempts of its policy. If path is "", it
// retries all failed reverts. Then the undo continues. If no such revert has failed, RetryRevert is refused.
func RetryRevert(path string) Command {
	return Command{inbox.Command{Kind: inbox.RetryRevert, Path: path}}
}

// Skip treats the atom at path, whose revert failed, as undone, because an operator has cleaned up by hand. Then
// the undo continues. In a run of a language the atom is the one at which the undo stopped, and path may be "". If
// the atom's revert has not failed, Skip is refused.
func Skip(path string) Command { return Command{inbox.Command{Kind: inbox.Skip, Path: path}} }

// ErrRefused is wrapped by the error for a command that a run does not allow. The error gives the reason. The run
// does not change.
var ErrRefused = driver.ErrRefused

// Send sends a command to a run and does not wait for it to be applied. If no process owns the run, the next
// process that serves or runs it applies the command, also if the run is suspended. If the run does not allow the
// command, the process that owns the run drops and logs it. If the run does not exist, Send returns an error that wraps
// [storage.ErrNotFound]. If an input cannot be encoded, it returns the encoding error.
func Send(ctx context.Context, store storage.Store, run string, o Command) error {
	return SendOnce(ctx, store, run, "", o)
}

// SendOnce is [Send] for a command that may be sent again, such as after a lost answer: the run gets one message for
// each key. Messages of other kinds count, see [storage.Message]. The key "" is no key.
func SendOnce(ctx context.Context, store storage.Store, run, key string, o Command) error {
	l, err := o.c.Message(run)
	if err != nil {
		return err
	}
	l.Key = key
	return backend.Of(store).Send(ctx, l)
}

// Command sends a command to a run and returns when the run has come to rest, as [Engine.Run] does, with the same
// errors. If another process owns the run, Command waits for that process. If the other process dies, this engine
// drives the run. If ctx ends first, Command returns [ErrStopped]; the owner of the run still applies a command
// that was sent. So it does if the store fails after that: the error then wraps [ErrStopped] and a *[StoreError]. If
// the run does not allow the command, Command returns an error that wraps [ErrRefused], and the run does not change. If
// the run does not exist, it returns a *[StoreError] that wraps [storage.ErrNotFound].
func (e *Engine) Command(ctx context.Context, id string, o Command) (res *Result, err error) {
	defer func() {
		if o.c.Kind == "" {
			err = unawaited(err)
		}
	}()
	if _, err := o.c.Message(id); err != nil {
		return nil, err
	}
	if o.c.Kind == inbox.Suspend {
		run, err := suspend(ctx, e.env.Store, id, o.c.By, false)
		if err != nil {
			return nil, err
		}
		return e.result(ctx, &run, nil)
	}
	seen, err := e.env.Store.Run(ctx, id)
	if err != nil {
		return nil, session.Wrap(id, err)
	}
	o.address(&seen, "")
	answer := o.c.Answer
	for {
		res, err := e.take(ctx, id, &o)
		if _, owned := errors.AsType[*storage.OwnedError](err); !owned {
			applied, refused := answered(ctx, e.env.Store, id, answer)
			switch {
			case refused != nil:
				return nil, refused
			case res != nil && !applied: // the run came to rest before it read the command
				continue
			default:
				return res, err
			}
		}
		if o.c.Kind != "" { // send the command only once
			if err := e.send(ctx, id, &o); err != nil {
				return nil, err
			}
		}
		run, err := WhileOwned(ctx, e.env.Store, id)
		if err != nil {
			return nil, err
		}
		if done, err := e.followed(ctx, &run); done || err != nil {
			if err == nil {
				_, err = answered(ctx, e.env.Store, id, answer)
			}
			if err != nil {
				return nil, err
			}
			return e.result(ctx, &run, nil)
		}
	}
}

// send sends a command to the owner of a run, unless the run does not allow the command.
func (e *Engine) send(ctx context.Context, id string, o *Command) error {
	if o.c.Kind != inbox.Cancel { // an owned run allows Cancel, and loading the run may be expensive
		d, _, err := e.look(ctx, id)
		if err != nil {
			return err
		}
		defer d.Close()
		if err := d.Refuse(&o.c); err != nil {
			return e.refused(ctx, id, o, err)
		}
	}
	if err := Send(ctx, e.env.Store, id, *o); err != nil {
		return session.Wrap(id, err)
	}
	*o = Command{}
	return nil
}

// refused records that a run does not allow a command, if err says so. It returns err.
func (e *Engine) refused(ctx context.Context, id string, o *Command, err error) error {
	if !errors.Is(err, ErrRefused) {
		return err
	}
	return errors.Join(err, o.Refused(ctx, e.env.Store, id, err))
}

// followed reports whether a run has come to rest and its inbox contains no command.
func (e *Engine) followed(ctx context.Context, run *storage.Run) (bool, error) {
	if !rests(run) {
		return false, nil
	}
	_, messages, err := backend.AllMessages(ctx, e.env.Store, run.ID)
	return err == nil && !inbox.HasCommand(messages), session.Wrap(run.ID, err)
}

// take takes the run over and drives it to rest, starting with the command if o is not nil.
func (e *Engine) take(ctx context.Context, id string, o *Command) (*Result, error) {
	d, snap, err := e.begun(ctx, id, e.env.Store.Seize, nil)
	if err != nil {
		return nil, err
	}
	if o.c.Kind != "" {
		if err = d.Refuse(&o.c); err == nil {
			err = session.Wrap(id, Send(ctx, e.env.Store, id, *o))
		}
		if err != nil {
			d.Close()
			err = errors.Join(err, e.claims.releaseUndriven(ctx, d.Claim, snap))
			return nil, e.refused(ctx, id, o, err)
		}
		o.c.Kind = ""
	}
	wakeups, messages, err := backend.AllMessages(ctx, e.env.Store, id)
	if err != nil {
		d.Close()
		return nil, errors.Join(session.Wrap(id, err), e.claims.releaseUndriven(ctx, d.Claim, snap))
	}
	d.HasRead(wakeups)
	snap.Messages = messages
	return e.finish(ctx, d, snap, toApply, nil)
}

// Reset makes a run that has ended PENDING again, in one commit, as if it had never run. Its history stays, and its
// atoms have new incarnations, so their idempotency keys change. Reset does not undo the effects of the run. If the
// run has not ended, or is a run of a language, Reset returns an error that wraps [ErrRefused]. If a live process
// owns the run, it returns *[storage.OwnedError]. If the store fails, it returns *[StoreError], which wraps
// [storage.ErrNotFound] if the run does not exist.
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
		return errors.Join(fmt.Errorf("%w: run %q: %w", ErrRefused, id, err), e.claims.releaseUndriven(ctx, d.Claim, snap))
	}
	return d.Reset() //nolint:contextcheck // the driver has its own
}

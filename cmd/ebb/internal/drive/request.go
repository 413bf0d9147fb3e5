package drive

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// A Request is a subcommand's request to an existing run, no matter which process drives the run.
type Request struct {
	Name    string // name of the subcommand
	Command engine.Command
	// Why the run does not allow the request, as far as its record shows; nil if it may.
	Refuse func(run *storage.Run) error
	Aim    exit.Aim
	NoWait bool // leave the command in the run's inbox
}

// AddFlags adds the flags that all requests have.
func (r *Request) AddFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&r.NoWait, "no-wait", false,
		"leave the command in the run's inbox for the process that drives the run, and return at once")
}

// Give applies the request to the run and shows the result. If another process drives the run, Give sends it the
// command and waits. Otherwise this process drives the run.
func (r *Request) Give(ctx context.Context, s *session.Session, id string) error {
	r.Command = r.Command.By(s.Issuer())
	return WithRun(ctx, s, id, func(store *sqlstore.Store, run *storage.Run, owner *storage.Owner) error {
		if err := r.Refuse(run); err != nil {
			return r.refused(ctx, store, run, err)
		}
		switch {
		case r.NoWait:
			return r.send(ctx, s, store, run)
		case run.Definition == "" && owner == nil:
			return exit.Usagef("run %s is of the flow %s, which is in a Go program: only that program can do this (with "+
				"--no-wait the command waits in the inbox until the program drives the run)",
				id, run.Flow)
		case run.Definition == "":
			return r.giveAway(ctx, s, store, run, owner)
		}
		d, err := Open(ctx, s, store, run)
		if err == nil {
			err = d.Recall(ctx, run)
		}
		if err != nil {
			return err
		}
		d.Aim, d.quiet = r.Aim, owner != nil
		if owner != nil {
			noticeTold(s, run, owner)
		}
		return d.Drive(ctx, func(ctx context.Context, eng *engine.Engine, _ view.Reporter) (*engine.Result, error) {
			return eng.Command(ctx, id, r.Command)
		})
	})
}

// Suspend applies a request to suspend a run. It does not need the run's flow, so it can suspend the runs of any
// program.
func (r *Request) Suspend(ctx context.Context, s *session.Session, id string) error {
	r.Command = r.Command.By(s.Issuer())
	return WithRun(ctx, s, id, func(store *sqlstore.Store, run *storage.Run, owner *storage.Owner) error {
		if err := r.Refuse(run); err != nil {
			return r.refused(ctx, store, run, err)
		}
		switch {
		case owner != nil && r.NoWait:
			return r.send(ctx, s, store, run)
		case owner != nil:
			noticeTold(s, run, owner)
		}
		return r.await(ctx, s, store, id, func(ctx context.Context) (storage.Run, error) {
			return engine.SuspendBy(ctx, store, id, s.Issuer())
		})
	})
}

// refused records in the history of the run that the command was refused, and returns why.
func (r *Request) refused(ctx context.Context, store backend.Store, run *storage.Run, why error) error {
	if err := r.Command.Refused(ctx, store, run.ID, why); err != nil {
		return exit.DatabaseError(err)
	}
	return why
}

// send leaves the command in the run's inbox.
func (r *Request) send(ctx context.Context, s *session.Session, store backend.Store, run *storage.Run) error {
	if err := engine.Send(ctx, store, run.ID, r.Command); err != nil {
		return exit.DatabaseError(err)
	}
	s.Done = true
	return Sent(s, run, r.Name)
}

// Sent reports that a message is in the run's inbox.
func Sent(s *session.Session, run *storage.Run, what string) error {
	return s.Emit(struct {
		Event   string `json:"event"`
		Run     string `json:"run"`
		Command string `json:"command"`
	}{"sent", run.ID, what},
		"%s %s is in its inbox (ebb why %s shows which process drives the run)", visible.Line(run.ID), visible.Line(what),
		visible.Word(run.ID))
}

// giveAway sends a command to the program that drives a run with an unknown flow, and waits for the result.
func (r *Request) giveAway(ctx context.Context, s *session.Session, store backend.Store, run *storage.Run,
	owner *storage.Owner,
) error {
	noticeTold(s, run, owner)
	waiting, stop := Interruptible(ctx)
	_, err := engine.Apply(waiting, store, run, "", r.Command)
	if stop(); err != nil {
		return exit.DatabaseError(exit.Refused(err))
	}
	return r.await(ctx, s, store, run.ID, func(ctx context.Context) (storage.Run, error) {
		now, err := engine.WhileOwned(ctx, store, run.ID)
		if err != nil && !errors.Is(err, engine.ErrStopped) {
			s.Noticef("%v", err)
			err = engine.ErrStopped
		}
		if err == nil && !now.State.Ended() && now.State != states.FlowSuspended {
			err = &exit.Error{
				Status: exit.Suspended,
				Err:    fmt.Errorf("the process that drove run %s has gone; the command stays in the run's inbox", run.ID),
			}
		}
		return now, err
	})
}

// await waits until the run rests in another process, or for the first Ctrl-C, and reports the state of the run.
func (r *Request) await(ctx context.Context, s *session.Session, store backend.Reader, id string,
	rests func(context.Context) (storage.Run, error),
) error {
	ctx, stop := Interruptible(ctx)
	defer stop()
	run, err := rests(ctx)
	switch {
	case errors.Is(err, engine.ErrStopped):
		return noLongerWaiting(id)
	case err != nil:
		return exit.DatabaseError(exit.Refused(err))
	}
	s.Drove = true
	status := r.Aim.Status(exit.OfRun(&run), &run)
	undo := undoOf(ctx, s, store, &run)
	s.PlainReporter().Rested(&run, &undo, status)
	if IsHeld(&run) {
		noticeSuspended(s, &run)
	}
	if status == exit.Success {
		return nil
	}
	return &exit.Error{Status: status, Err: r.Aim.Missed(&run), Told: r.Aim.Reached == nil}
}

// undoOf returns the result of the undo of a run. It returns nothing for a long run that succeeded.
func undoOf(ctx context.Context, s *session.Session, store backend.Reader, run *storage.Run) inspect.Undo {
	const long = 10_000 // entries of a history
	if run.Undo == storage.UndoNone && run.State == states.FlowSuccess && run.Entries > long {
		return inspect.Undo{}
	}
	undo, err := inspect.UndoOf(context.WithoutCancel(ctx), store, run)
	if err != nil {
		s.Noticef("what was undone cannot be read: %v", err)
	}
	return undo
}

func noLongerWaiting(id string) error {
	err := fmt.Errorf("no longer waiting for run %s, which its owner still drives (ebb show %s shows its progress)", id,
		visible.Word(id))
	return &exit.Error{Status: exit.Suspended, Err: err}
}

func noticeTold(s *session.Session, run *storage.Run, owner *storage.Owner) {
	s.Noticef("run %s is driven by process %d on %s, which has received the command; waiting for it", run.ID, owner.PID,
		owner.Host)
}

// noticeSuspended prints how to resume a run that an operator suspended or whose revert failed.
func noticeSuspended(s *session.Session, run *storage.Run) {
	if run.Failure != nil && run.Outcome == storage.Unfinished {
		s.Noticef("suspended; %s", view.MendHint(run, run.Failure.Atom))
		return
	}
	s.Noticef("suspended; resume it with: ebb resume %s", visible.Word(run.ID))
}

// IsHeld reports whether no process resumes a run until an operator asks for it. A held run that has not begun is
// PENDING.
func IsHeld(run *storage.Run) bool { return run.Hold || run.State == states.FlowSuspended }

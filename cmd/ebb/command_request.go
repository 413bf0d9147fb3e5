package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// An operatorRequest is what a subcommand asks of an existing run, no matter which process
// drives the run.
type operatorRequest struct {
	name    string // the command's
	command engine.Command
	refuse  func(run *storage.Run) error // why it makes no sense, as far as the run's row tells; nil when it may
	aim     aim
	noWait  bool
}

// noWaitFlag gives a subcommand the flag that all operator requests have.
func (w *operatorRequest) noWaitFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&w.noWait, "no-wait", false, "leave the command in the run's inbox for the process that drives the run, and return at once")
}

// give applies the request to the run and shows the result. If another process drives the
// run, give sends it the command and waits. Otherwise this process drives the run.
func (s *session) give(ctx context.Context, id string, w *operatorRequest) error {
	return s.withRun(ctx, id, func(store storage.Store, run *storage.Run, owner *storage.Owner) error {
		if err := w.refuse(run); err != nil {
			return err
		}
		switch {
		case w.noWait:
			return s.send(ctx, store, run, w)
		case run.Definition == "" && owner == nil:
			return usagef("run %s is of the flow %s, which is in a Go program: that has to go on with it (with --no-wait it finds the command when it does)",
				id, run.Flow)
		case run.Definition == "":
			return s.giveAway(ctx, store, run, w, owner)
		}
		j, err := s.runSessionOf(ctx, store, run)
		if err == nil {
			err = j.recall(ctx, run)
		}
		if err != nil {
			return err
		}
		j.aim, j.quiet = w.aim, owner != nil
		if owner != nil {
			s.noticeTold(run, owner)
		}
		return j.make(ctx, func(ctx context.Context, eng *engine.Engine, _ view.Reporter) (*engine.Result, error) {
			return eng.Command(ctx, id, w.command)
		})
	})
}

// send leaves the command in the run's inbox.
func (s *session) send(ctx context.Context, store storage.Store, run *storage.Run, w *operatorRequest) error {
	if err := engine.Send(ctx, store, run.ID, w.command); err != nil {
		return unreachable(err)
	}
	return s.sent(run, w.name)
}

// sent reports that a message is in the run's inbox.
func (s *session) sent(run *storage.Run, what string) error {
	if s.output == asJSON {
		return view.NewJSON(s.out).Encode(struct {
			Event   string `json:"event"`
			Run     string `json:"run"`
			Command string `json:"command"`
		}{"sent", run.ID, what})
	}
	_, err := fmt.Fprintf(s.out, "%s %s is in its inbox (ebb why %s tells who takes it out)\n", visible.Line(run.ID), visible.Line(what), visible.Line(run.ID))
	return err
}

// giveAway sends a command to the program that drives a run whose flow is not known here,
// and waits for the result.
func (s *session) giveAway(ctx context.Context, store storage.Store, run *storage.Run, w *operatorRequest, owner *storage.Owner) error {
	if err := engine.Send(ctx, store, run.ID, w.command); err != nil {
		return unreachable(err)
	}
	s.noticeTold(run, owner)
	return s.await(ctx, store, run.ID, &w.aim)
}

// await waits until the process that drives a run has stopped driving it, and reports the
// state of the run.
func (s *session) await(ctx context.Context, store storage.Store, id string, a *aim) error {
	ctx, stop := interruptible(ctx)
	defer stop()
	run, err := engine.WhileOwned(ctx, store, id)
	switch {
	case errors.Is(err, engine.ErrStopped):
		return noLongerWaiting(id)
	case err != nil:
		return unreachable(err)
	case !run.State.Ended() && run.State != states.FlowSuspended:
		return &statusError{status: exitSuspended, err: fmt.Errorf("the process that drove run %s has gone; the command stays in the run's inbox", id)}
	}
	return s.stands(&run, a)
}

// stands reports the state of a run that came to rest in another process, and returns the
// error that has the exit status.
func (s *session) stands(run *storage.Run, a *aim) error {
	s.drove = true
	status := a.status(statusOfRun(run), run)
	s.plainReporter().Rested(run, status)
	if isHeld(run) {
		s.noticeSuspended(run)
	}
	if status == exitSuccess {
		return nil
	}
	return &statusError{status: status, err: a.missed(run), told: a.reached == nil}
}

func noLongerWaiting(id string) error {
	err := fmt.Errorf("no longer waiting for run %[1]s, which its owner goes on with (ebb show %[1]s tells how far it is)", id)
	return &statusError{status: exitSuspended, err: err}
}

// movedBy returns the run of that id and the live process that drives it, or nil.
func movedBy(ctx context.Context, store storage.Store, id string) (storage.Run, *storage.Owner, error) {
	for {
		run, err := findRun(ctx, store, id)
		if err != nil || run.Owner == "" {
			return run, nil, err
		}
		owner, err := ownerOf(ctx, store, run.Owner)
		if err != nil {
			return run, nil, unreachable(err)
		}
		if owner.Alive {
			return run, &owner, nil
		}
		// It has died, or it was done with the run and has gone meanwhile.
		again, err := findRun(ctx, store, id)
		if err != nil || again.Owner == run.Owner {
			return again, nil, err
		}
	}
}

// ownerOf returns the owner of that id; one that is not known any more is not alive.
func ownerOf(ctx context.Context, store storage.Store, id string) (storage.Owner, error) {
	list, err := store.Owners(ctx)
	for i := range list {
		if list[i].ID == id {
			return list[i], nil
		}
	}
	return storage.Owner{ID: id}, err
}

func (s *session) noticeTold(run *storage.Run, owner *storage.Owner) {
	s.noticef("run %s is run by process %d on %s, which is told; waiting for it", run.ID, owner.PID, owner.Host)
}

// noticeSuspended says how to resume a run that is suspended: on purpose, or
// because something could not be undone and an operator has to decide.
func (s *session) noticeSuspended(run *storage.Run) {
	if run.Failure != nil && run.Outcome == storage.Unfinished {
		s.noticef("suspended; %s", mendHint(run.ID, run.Failure.Atom))
		return
	}
	s.noticef("suspended; go on with: ebb resume %s", run.ID)
}

// isWhat reports the state of a run that does not allow a command.
func isWhat(run *storage.Run, format string, args ...any) error {
	return usagef("run %q is %s; %s", run.ID, run.State, fmt.Sprintf(format, args...))
}

// undoable reports whether something of what a run did may be undone, as far as
// its row tells: runs of compiled flows have no undo stack.
func undoable(run *storage.Run) bool {
	return run.State != states.FlowReverted && (run.Definition == "" || run.Undos > 0)
}

// mendHint says how to go on with a run that could not be undone, because of the
// atom if it is known.
func mendHint(run, atom string) string {
	if atom == "" {
		atom = "ATOM"
	}
	return fmt.Sprintf("ebb retry --revert %[1]s tries again what could not be undone, ebb skip %[1]s %[2]s counts it as undone",
		visible.Line(run), visible.Line(atom))
}

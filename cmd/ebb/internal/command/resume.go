package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/drive"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

func (s subcommands) resumeCommand() *cobra.Command {
	var expect string
	cmd := &cobra.Command{
		Use:   "resume RUN",
		Short: "Resume a run that was suspended or stopped, or whose process died",
		Long: `Resume a run from its last commit, with the definition, mocks and tasks with which it
was started. If its process has died, ebb resume takes the run over at once. If another
process drives the run, ebb resume names that process, and the exit status is 2. If the
run has ended, ebb resume prints how it ended. A suspended run of a Go program is no
longer suspended, and continues when that program runs it.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return s.resume(cmd.Context(), args[0], expect) },
	}
	cmd.Flags().StringVar(&expect, "expect", "", "exit with 0 if the run comes to rest in this state")
	return cmd
}

func (s subcommands) resume(ctx context.Context, id, want string) error {
	if err := session.OneOf("expect", want, restStates); err != nil {
		return err
	}
	return drive.WithRun(ctx, s.Session, id, func(store *sqlstore.Store, run *storage.Run, _ *storage.Owner) error {
		if run.Definition == "" && drive.IsHeld(run) {
			return s.resumeLater(ctx, store, run, want)
		}
		d, err := drive.Open(ctx, s.Session, store, run)
		if err != nil {
			return err
		}
		d.Aim = exit.Expect(want)
		if err := d.Recall(ctx, run); err != nil {
			return err
		}
		return d.Drive(ctx, func(ctx context.Context, eng *engine.Engine, _ view.Reporter) (*engine.Result, error) {
			return eng.Run(ctx, id, engine.IgnoreSuspend(), engine.Existing())
		})
	})
}

// resumeLater leaves the command in the inbox of a suspended run that only its own program can drive.
func (s subcommands) resumeLater(ctx context.Context, store backend.Store, run *storage.Run, want string) error {
	if want != "" {
		return exit.Usagef("run %s is of the flow %s, which is in a Go program: only that program knows how it comes to rest",
			run.ID, run.Flow)
	}
	if err := engine.Send(ctx, store, run.ID, engine.Resume().By(s.Issuer())); err != nil {
		return exit.DatabaseError(exit.Refused(err))
	}
	s.Done = true
	if err := drive.Sent(s.Session, run, "resume"); err != nil {
		return err
	}
	s.Noticef("%s", byProgram(run))
	return nil
}

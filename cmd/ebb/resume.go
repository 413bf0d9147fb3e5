package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/inspect"
	"github.com/ebbflow/ebb/storage"
)

func (s *session) resumeCommand() *cobra.Command {
	var expect string
	cmd := &cobra.Command{
		Use:   "resume RUN",
		Short: "Go on with a run whose process died, or that was suspended or stopped",
		Long: `Go on with a run where its last commit left it, on the definition, the mocks and
the tasks it was begun with. It needs to wait for nobody: a process that has died
owns nothing. While another process is running it, the answer is who that is, and
the exit status is 2. A run that has ended is told as it ended.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return s.resume(cmd.Context(), args[0], expect) },
	}
	cmd.Flags().StringVar(&expect, "expect", "", "exit with 0 when the run comes to rest in this state")
	return cmd
}

func (s *session) resume(ctx context.Context, id, want string) error {
	if err := oneOf("expect", want, restStates); err != nil {
		return err
	}
	return s.withRun(ctx, id, func(store storage.Store, run *storage.Run, _ *storage.Owner) error {
		j, err := s.runSessionOf(ctx, store, run)
		if err != nil {
			return err
		}
		j.aim = expect(want)
		if err := j.recall(ctx, run); err != nil {
			return err
		}
		return j.make(ctx, func(ctx context.Context, eng *engine.Engine, _ view.Reporter) (*engine.Result, error) {
			return eng.Run(ctx, id, engine.IgnoreSuspend())
		})
	})
}

// withRun opens the database and calls f with the run of that id, and the live
// process that moves it, or nil.
func (s *session) withRun(ctx context.Context, id string, f func(storage.Store, *storage.Run, *storage.Owner) error) error {
	// Looked at first: a database that is not there is not made for this.
	if err := s.reading(ctx, func(store storage.Store) error { _, err := findRun(ctx, store, id); return err }); err != nil {
		return err
	}
	return s.withStore(ctx, func(store storage.Store) error {
		run, owner, err := movedBy(ctx, store, id)
		if err != nil {
			return err
		}
		return f(store, &run, owner)
	})
}

// runSessionOf returns the run session that goes on with a stored run.
func (s *session) runSessionOf(ctx context.Context, store storage.Store, run *storage.Run) (*runSession, error) {
	if run.Definition == "" {
		return nil, usagef("run %s is of the flow %s, which is in a Go program: that has to go on with it", run.ID, run.Flow)
	}
	def, err := store.Definition(ctx, run.Definition)
	if err != nil {
		return nil, unreachable(err)
	}
	m, err := definition.ParseStored(&def)
	if err != nil {
		return nil, fmt.Errorf("the definition of run %s: %w", run.ID, err)
	}
	b, err := definition.BeginningOf(run)
	if err != nil {
		return nil, unreachable(err)
	}
	registry, err := b.Registry(run.Flow, s.fileMode == folderMode)
	if err != nil {
		return nil, err
	}
	machines := []definition.Machine{m}
	known := &definition.Catalog{Store: store}
	for _, hash := range b.Flows {
		m, err := known.Machine(ctx, hash)
		if err != nil {
			return nil, unreachable(err)
		}
		machines = append(machines, m)
	}
	definition.CallREST(registry, machines)
	return &runSession{session: s, store: store, machine: m, flow: run.Flow, id: run.ID, tasks: registry}, nil
}

// recall reads what the run did before, if it is to be shown.
func (j *runSession) recall(ctx context.Context, run *storage.Run) error {
	if j.session.out.Terminal() == nil || j.session.output == asJSON {
		return nil
	}
	t, err := inspect.Recorded(ctx, j.store, run)
	j.tree = t
	return unreachable(err)
}

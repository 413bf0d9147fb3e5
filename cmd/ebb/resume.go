package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/flow/asl"
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

func (s *session) resume(ctx context.Context, id, expect string) error {
	if err := oneOf("expect", expect, restStates); err != nil {
		return err
	}
	// Looked at first: a database that is not there is not made for this.
	if err := s.reading(ctx, func(store storage.Store) error { _, err := findRun(ctx, store, id); return err }); err != nil {
		return err
	}
	return s.withStore(ctx, func(store storage.Store) error {
		run, err := findRun(ctx, store, id)
		if err != nil {
			return err
		}
		j, err := s.journeyOf(ctx, store, &run)
		if err != nil {
			return err
		}
		j.expect = expect
		return j.make(ctx)
	})
}

// journeyOf returns the journey that goes on with a stored run.
func (s *session) journeyOf(ctx context.Context, store storage.Store, run *storage.Run) (*journey, error) {
	if run.Definition == "" {
		return nil, usagef("run %s is of the flow %s, which is in a Go program: that has to go on with it", run.ID, run.Flow)
	}
	def, err := store.Definition(ctx, run.Definition)
	if err != nil {
		return nil, unreachable(err)
	}
	if def.Language != languageASL {
		return nil, usagef("run %s is of a definition in %s, which this version of Ebb does not know", run.ID, def.Language)
	}
	machine, err := asl.Parse(def.Name, def.Text)
	if err != nil {
		return nil, fmt.Errorf("the definition of run %s: %w", run.ID, err)
	}
	b, err := beginningOf(run)
	if err != nil {
		return nil, unreachable(err)
	}
	registry, err := b.registry(run.Flow)
	if err != nil {
		return nil, err
	}
	return &journey{session: s, store: store, machine: machine, flow: run.Flow, id: run.ID, tasks: registry}, nil
}

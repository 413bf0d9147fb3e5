package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
)

func (s *session) showCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show RUN",
		Short: "Show what a run did and what was undone",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return s.reading(ctx, func(store storage.Store) error { return s.show(ctx, store, args[0]) })
		},
	}
}

func (s *session) show(ctx context.Context, store storage.Store, id string) error {
	run, err := findRun(ctx, store, id)
	if err != nil {
		return err
	}
	atoms, err := store.Atoms(ctx, id)
	if err != nil {
		return unreachable(err)
	}
	history, err := store.History(ctx, id, 0, 0)
	if err != nil {
		return unreachable(err)
	}
	t := recorded(&run, atoms, history)
	if s.output == asJSON {
		return s.showJSON(&run, atoms, t)
	}
	for _, line := range t.lines(time.Now(), s.page()) {
		fmt.Fprintln(s.out, line)
	}
	if run.State.Ended() {
		writeEnd(s.out, &run, s.page())
		return nil
	}
	owners, err := store.Owners(ctx)
	if err != nil {
		return unreachable(err)
	}
	for _, o := range owners {
		if o.ID == run.Owner && o.Alive {
			fmt.Fprintf(s.out, "run by process %d on %s\n", o.PID, o.Host)
			return nil
		}
	}
	fmt.Fprintf(s.out, "nobody runs it; go on with: ebb resume %s\n", id)
	return nil
}

func (s *session) showJSON(run *storage.Run, atoms []storage.Atom, t *tree) error {
	list := make([]jsonAtom, 0, len(atoms))
	for i := range atoms {
		if atoms[i].Path != flow.GrowingPath { // the run's own record, which is the run
			list = append(list, atomJSON(&atoms[i], t.steps[atoms[i].Path]))
		}
	}
	undone := make([]string, len(t.undone))
	for i, step := range t.undone {
		undone[i] = step.path
	}
	return newJSON(s.out).Encode(struct {
		jsonRun

		Atoms  []jsonAtom `json:"atoms"`
		Undone []string   `json:"undone"` // paths in the order in which they were undone
	}{runJSON(run), list, undone})
}

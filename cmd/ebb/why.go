package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/engine/inspect"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
)

func (s *session) whyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "why RUN",
		Short: "Say what a run waits for, who moves it, and what would wake it",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return s.reading(ctx, func(store storage.Store) error {
				w, err := findDiagnosis(ctx, store, args[0])
				if err != nil {
					return err
				}
				if s.output == asJSON {
					return view.NewJSON(s.out).Encode(w.Why(time.Now()))
				}
				for _, sentence := range view.Why(w, time.Now()) {
					if _, err := fmt.Fprintln(s.out, sentence); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}

// findDiagnosis returns what is known about a run of that id.
func findDiagnosis(ctx context.Context, store storage.Store, id string) (*inspect.Diagnosis, error) {
	run, err := findRun(ctx, store, id)
	if err != nil {
		return nil, err
	}
	w, err := inspect.Diagnose(ctx, store, run)
	if err != nil {
		return nil, unreachable(err)
	}
	w.Machine, err = waitsOf(ctx, store, &run)
	return w, err
}

// waitsOf returns what the language of a run says that it waits for; nil when it
// says nothing, or is not known here.
func waitsOf(ctx context.Context, store storage.Store, run *storage.Run) (*flow.Waiting, error) {
	if run.State.Ended() || len(run.Memory) == 0 {
		return nil, nil //nolint:nilnil // which is what it says
	}
	m, err := (&definition.Catalog{Store: store}).MachineOf(ctx, run)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return nil, nil //nolint:nilnil // it is in a Go program
	case err != nil:
		return nil, err
	}
	return m.Waits(run), nil
}

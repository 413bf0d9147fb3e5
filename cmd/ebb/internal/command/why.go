package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

func (s subcommands) whyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "why RUN",
		Short: "Explain what a run waits for, which process drives it, and what would wake it",
		Long: `Explain what a run waits for, which process drives it, and what would wake it.
Of a job whose run does not exist yet, and of a schedule, explain why.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return s.Reading(ctx, func(store *sqlstore.Store) error {
				w, err := findDiagnosis(ctx, store, args[0])
				if err != nil {
					return s.whyJob(ctx, store, args[0], err)
				}
				if s.JSON() {
					return view.NewJSON(s.Out).Encode(w.Why(store.Now()))
				}
				for _, sentence := range view.Why(w, store.Now()) {
					if _, err := fmt.Fprintln(s.Out, sentence); err != nil {
						return err
					}
				}
				return s.explain(ctx, store, args[0])
			})
		},
	}
}

// explain prints how a run failed, if it did.
func (s subcommands) explain(ctx context.Context, store backend.Store, id string) error {
	text, err := inspect.Explain(ctx, store, id)
	if err != nil {
		return exit.DatabaseError(err)
	}
	if text != "" {
		fmt.Fprintf(s.Out, "\n%s", text)
	}
	return nil
}

// findDiagnosis returns the diagnosis of the run with that id.
func findDiagnosis(ctx context.Context, store backend.Store, id string) (*inspect.Diagnosis, error) {
	run, err := session.FindRun(ctx, store, id)
	if err != nil {
		return nil, err
	}
	return diagnosisOf(ctx, store, run)
}

// diagnosisOf returns the diagnosis of a run, with what its language says.
func diagnosisOf(ctx context.Context, store backend.Store, run storage.Run) (*inspect.Diagnosis, error) {
	w, err := inspect.Diagnose(ctx, store, run)
	if err != nil {
		return nil, exit.DatabaseError(err)
	}
	if w.Machine, err = waitsOf(ctx, store, &run); err != nil {
		return nil, err
	}
	if m := machineOf(ctx, store, &run); m != nil {
		err = w.Trace(ctx, store, m.Tracer(), m.Handlers)
	}
	return w, exit.DatabaseError(err)
}

// waitsOf returns what the run waits for, according to its language; nil if the language reports nothing or is
// unknown here.
func waitsOf(ctx context.Context, store backend.Store, run *storage.Run) (*grow.Waiting, error) {
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

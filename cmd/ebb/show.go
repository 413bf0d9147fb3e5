package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/inspect"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/states"
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
	messages, err := inspect.UnsentOf(ctx, store, id)
	if err != nil {
		return unreachable(err)
	}
	if s.output == asJSON {
		return s.showJSON(ctx, store, &run, messages)
	}
	t, err := inspect.Recorded(ctx, store, &run)
	if err != nil {
		return unreachable(err)
	}
	for _, line := range view.Tree(t, time.Now(), s.page()) {
		fmt.Fprintln(s.out, line)
	}
	if t.Partial {
		fmt.Fprintf(s.out, "not all steps are shown; all of them: ebb show -o json %s\n", visible.Line(id))
	}
	if run.Bytes >= worthSaying {
		fmt.Fprintf(s.out, "it has written %s\n", written(&run))
	}
	for i := range messages {
		if messages[i].Parked {
			fmt.Fprintln(s.out, view.Unsent(&messages[i], time.Now()))
		}
	}
	if run.State.Ended() {
		view.End(s.out, &run, s.page())
		if run.Undo == storage.UndoFailed {
			fmt.Fprintln(s.out, mendHint(id, t.StuckAt()))
		}
		return s.explain(ctx, store, id)
	}
	_, owner, err := movedBy(ctx, store, id)
	switch at := t.StuckAt(); {
	case err != nil:
		return err
	case owner != nil:
		_, err = fmt.Fprintf(s.out, "run by process %d on %s\n", owner.PID, visible.Line(owner.Host))
	case run.State == states.FlowSuspended && at != "":
		_, err = fmt.Fprintln(s.out, mendHint(id, at))
	default:
		_, err = fmt.Fprintf(s.out, "nobody runs it; go on with: ebb resume %s\n", visible.Line(id))
	}
	return err
}

// explain says how a run failed, if it did.
func (s *session) explain(ctx context.Context, store storage.Store, id string) error {
	text, err := engine.Explain(ctx, store, id)
	if err != nil {
		return unreachable(err)
	}
	if text != "" {
		fmt.Fprintf(s.out, "\n%s", text)
	}
	return nil
}

// showJSON writes what it reads at once: a run may be larger than memory.
func (s *session) showJSON(ctx context.Context, store storage.Reader, run *storage.Run, messages []inspect.Unsent) error {
	return streamJSON(s.out, inspect.SummaryOf(run, messages),
		listOf("atoms", inspect.Atoms(ctx, store, run), unreachable), listOf("undone", inspect.Undone(ctx, store, run), unreachable))
}

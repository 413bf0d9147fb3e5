package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
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
	atoms, err := store.Atoms(ctx, id, storage.AtomQuery{})
	if err != nil {
		return unreachable(err)
	}
	history, err := store.History(ctx, id, 0, 0)
	if err != nil {
		return unreachable(err)
	}
	messages, err := messagesOf(ctx, store, id)
	if err != nil {
		return err
	}
	t := recorded(&run, atoms, history)
	if s.output == asJSON {
		return s.showJSON(&run, atoms, t, messages)
	}
	for _, line := range t.lines(time.Now(), s.page()) {
		fmt.Fprintln(s.out, line)
	}
	if run.Bytes >= worthSaying {
		fmt.Fprintf(s.out, "it has written %s\n", written(&run))
	}
	for i := range messages {
		if messages[i].Parked {
			fmt.Fprintln(s.out, messages[i].sentence(time.Now()))
		}
	}
	if run.State.Ended() {
		writeEnd(s.out, &run, s.page())
		if run.Undo == storage.UndoFailed {
			fmt.Fprintln(s.out, mendHint(id, t.stuckAt()))
		}
		return s.explain(ctx, store, id)
	}
	_, owner, err := movedBy(ctx, store, id)
	switch at := t.stuckAt(); {
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

func (s *session) showJSON(run *storage.Run, atoms []storage.Atom, t *tree, messages []message) error {
	list := make([]jsonAtom, 0, len(atoms))
	for i := range atoms {
		if atoms[i].Path != flow.GrowingPath { // the run's own record, which is the run
			list = append(list, atomJSON(&run.Secrets, &atoms[i], t.steps[atoms[i].Path]))
		}
	}
	undone := make([]string, len(t.undone))
	for i, step := range t.undone {
		undone[i] = step.path
	}
	return newJSON(s.out).Encode(struct {
		jsonRun

		Iterations int64 `json:"iterations"` // steps of its language, or attempts of its plan
		Entries    int64 `json:"entries"`    // lines of history
		Bytes      int64 `json:"bytes"`      // that it has written

		Atoms  []jsonAtom `json:"atoms"`
		Undone []string   `json:"undone"` // paths in the order in which they were undone

		Messages []jsonMessage `json:"messages,omitempty"` // that it still has to send
	}{runJSON(run), run.Iterations, run.Entries, run.Bytes, list, undone, messagesJSON(messages)})
}

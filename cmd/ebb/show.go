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
	messages, err := messagesOf(ctx, store, id)
	if err != nil {
		return err
	}
	if s.output == asJSON {
		return s.showJSON(ctx, store, &run, messages)
	}
	t, err := recorded(ctx, store, &run)
	if err != nil {
		return err
	}
	for _, line := range t.lines(time.Now(), s.page()) {
		fmt.Fprintln(s.out, line)
	}
	if t.partial {
		fmt.Fprintf(s.out, "not all steps are shown; all of them: ebb show -o json %s\n", visible.Line(id))
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

// showJSON writes what it reads at once: a run may be larger than memory.
func (s *session) showJSON(ctx context.Context, store storage.Reader, run *storage.Run, messages []message) error {
	head := struct {
		jsonRun

		Iterations int64 `json:"iterations"` // steps of its language, or attempts of its plan
		Entries    int64 `json:"entries"`    // lines of history
		Bytes      int64 `json:"bytes"`      // that it has written

		Messages []jsonMessage `json:"messages,omitempty"` // that it still has to send
	}{runJSON(run), run.Iterations, run.Entries, run.Bytes, messagesJSON(messages)}
	return streamJSON(s.out, head,
		jsonList{"atoms", func(add func(any) error) error {
			for a, err := range storage.EachAtom(ctx, store, run.ID, storage.AtomQuery{}) {
				if err != nil {
					return unreachable(err)
				}
				if a.Path == flow.GrowingPath { // the run's own record, which is the run
					continue
				}
				if err := add(atomJSON(&run.Secrets, &a)); err != nil {
					return err
				}
			}
			return nil
		}},
		jsonList{"undone", func(add func(any) error) error { // paths in the order in which they were undone
			for e, err := range storage.EachEntry(ctx, store, run.ID, 0) {
				if err != nil {
					return unreachable(err)
				}
				if !beginsUndo(&e) {
					continue
				}
				if err := add(e.Path); err != nil {
					return err
				}
			}
			return nil
		}})
}

// beginsUndo reports whether an entry of a history says that an atom began to be undone.
func beginsUndo(e *storage.Entry) bool {
	from := states.Task(e.From)
	return e.Kind == storage.EntryAtom && e.Path != flow.GrowingPath && states.Task(e.To) == states.TaskReverting &&
		from != states.TaskReverting && from != states.TaskRevertFailure
}

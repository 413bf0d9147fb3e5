package engine_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestCommandReachesHeld sends commands to runs on hold while a process serves their store: to one that an operator
// suspended, and to one whose undo stopped at b. A signal alone does not reach them. A command that the run refuses
// changes only the history.
func TestCommandReachesHeld(t *testing.T) {
	t.Parallel()
	by := storage.Issuer{Name: "bob"}
	for name, c := range map[string]struct {
		stopped bool // its undo stopped
		command engine.Command
		end     states.Flow
		acts    []string
	}{
		"resume":                 {false, engine.Resume(), states.FlowSuccess, []string{"b", "c"}},
		"cancel":                 {false, engine.Cancel("no"), states.FlowReverted, []string{"undo a done"}},
		"abandon":                {false, engine.Abandon("no"), states.FlowFailure, nil},
		"retry":                  {false, engine.RetryFrom("a"), states.FlowSuccess, []string{"undo a done", "a", "b", "c"}},
		"retry-revert, refused":  {false, engine.RetryRevert("a"), states.FlowSuspended, nil},
		"skip, refused":          {false, engine.Skip("a"), states.FlowSuspended, nil},
		"signal":                 {false, engine.Command{}, states.FlowSuspended, nil},
		"revert to, refused":     {true, engine.RevertTo("z"), states.FlowSuspended, nil},
		"retry-revert of stuck":  {true, engine.RetryRevert("b"), states.FlowReverted, []string{"undo b done", "undo a done"}},
		"skip of stuck":          {true, engine.Skip("b"), states.FlowReverted, []string{"undo a done"}},
		"skip of stuck, refused": {true, engine.Skip("a"), states.FlowSuspended, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &stage{do: script{}, undo: script{}}
				store := memstore.New()
				root := flow.Linear("f", s.atom("a"), s.atom("b", atom.IfRevertFails(atom.Park)), s.atom("c"))
				eng := newEngine(t, root, engine.WithStore(store))
				if c.stopped {
					s.do["c"], s.undo["b"] = alwaysFails, alwaysFails
				} else {
					s.do["a"] = func(ctx context.Context, _ int) error {
						defer time.Sleep(time.Minute)
						return engine.Send(ctx, store, "r", engine.Hold())
					}
				}
				_, _ = eng.Run(t.Context(), "r")
				if run := runOf(t, store, "r"); run.State != states.FlowSuspended || !run.Hold || run.NeedsPerson() != c.stopped {
					t.Fatalf("the run is %+v", run)
				}
				before := runOf(t, store, "r")
				s.took()
				s.do, s.undo = nil, nil
				err := store.Send(t.Context(), storage.Message{Run: "r", Kind: grow.MessageSignal, Name: "nobody waits"})
				if name != "signal" {
					err = engine.Send(t.Context(), store, "r", c.command.By(by))
				}
				if err != nil {
					t.Fatal(err)
				}
				served(t, store, flows{"f": root}, time.Minute)
				run := runOf(t, store, "r")
				if run.State != c.end || run.Owner != "" {
					t.Errorf("the run is %+v, want %v", run, c.end)
				}
				if got := s.took(); !slices.Equal(got, c.acts) {
					t.Errorf("did %q, want %q", got, c.acts)
				}
				if c.end == states.FlowSuspended && (!run.Hold || run.NeedsPerson() != c.stopped || run.Seq > before.Seq+1) {
					t.Errorf("the refused command changed the run to %+v", run)
				}
				if name == "signal" {
					return
				}
				lines, err := store.Audit(t.Context(), backend.AuditQuery{Run: "r", Limit: 10})
				if err != nil || len(lines) != 1 {
					t.Fatalf("%d lines in the history are of commands: %v", len(lines), err)
				}
				if refused := lines[0].Entry.Failure != nil; refused != (c.end == states.FlowSuspended) {
					t.Errorf("the history says that it was refused: %t", refused)
				}
				if _, messages, err := store.Messages(t.Context(), "r", 0); err != nil || len(messages) != 1 {
					t.Errorf("%d messages are left, want the signal: %v", len(messages), err)
				}
			})
		})
	}
}

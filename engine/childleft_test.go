package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/enginetest"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/sm4c"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/storage/memstore"
)

// withChild are flows of a task "a", which can be undone, and then of a child run that is not undone. The tasks of the
// child run have no Revert; one whose name ends with "-" has no effect. Each returns the flow and its catalog.
var withChild = map[string]func(t *testing.T, s *stage, tasks []string) (flow.Node, flows){
	"go run": func(t *testing.T, s *stage, tasks []string) (flow.Node, flows) {
		t.Helper()
		return flow.Linear("f", s.atom("a"), flow.Run[struct{}, struct{}]("n", goChild(s, tasks))), nil
	},
	"go each": func(t *testing.T, s *stage, tasks []string) (flow.Node, flows) {
		t.Helper()
		list := atom.Func("list", func(context.Context, struct{}) ([]struct{}, error) { return []struct{}{{}}, nil },
			atom.As("list"), atom.NoEffect())
		return flow.Linear("f", list, s.atom("a"), flow.Each("n", atom.NewKey[[]struct{}]("list"), goChild(s, tasks))), nil
	},
	"asl execution": func(t *testing.T, _ *stage, tasks []string) (flow.Node, flows) {
		t.Helper()
		all := machines(t, map[string]string{"child": aslChild(tasks), "m": aslParent(`"Type": "Task",
			"Resource": "arn:aws:states:::states:startExecution.sync", "Parameters": {"StateMachineArn": "child"}`)})
		return all["m"], all
	},
	"asl map": func(t *testing.T, _ *stage, tasks []string) (flow.Node, flows) {
		t.Helper()
		processor := `{"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, ` + aslChild(tasks)[1:]
		m, err := asl.Parse("m", []byte(aslParent(`"Type": "Map", "ItemsPath": "$.list", "ItemProcessor": `+processor)))
		if err != nil {
			t.Fatal(err)
		}
		return m.Flow(), flows{"m": m.Flow()}
	},
	"sm4c": func(t *testing.T, _ *stage, tasks []string) (flow.Node, flows) {
		t.Helper()
		functions := `"functions": [
			{"name": "a", "type": "task", "operation": "do:a"}, {"name": "not a", "type": "task", "operation": "undo:a"},
			{"name": "x", "type": "task", "operation": "do:x"}, {"name": "f", "type": "task", "operation": "do:f"},
			{"name": "h", "type": "task", "operation": "do:h"}]`
		var calls []string
		for _, name := range tasks {
			bare, none := strings.CutSuffix(name, "-")
			revert := map[bool]string{true: `, "revert": "none"`}[none]
			calls = append(calls, fmt.Sprintf(
				`{"type": "invokeFunction", "functionName": %q, "waitForCompletion": true%s}`, bare, revert))
		}
		all := flows{}
		for name, text := range map[string]string{
			"m": `"states": [{"name": "One", "start": true, "enterAction": ` + undoableCall("a", "not a") + `,
				"transitions": [{"nextState": "Two"}]},
				{"name": "Two", "enterAction": {"type": "invokeSubflow", "subflowName": "child", "waitForCompletion": true}}]`,
			"child": `"states": [{"name": "Only", "start": true, "enterAction": {"type": "sequence", "actions": [` +
				strings.Join(calls, ", ") + `]}}]`,
		} {
			m, err := sm4c.Parse(name, []byte(`{"name": "`+name+`", "version": "1", `+functions+`, `+text+`}`))
			if err != nil {
				t.Fatal(err)
			}
			all[name] = m.Flow()
		}
		return all["m"], all
	},
}

func goChild(s *stage, tasks []string) flow.Node {
	var nodes []flow.Node
	for _, name := range tasks {
		bare, none := strings.CutSuffix(name, "-")
		var opts []atom.Option
		if none {
			opts = append(opts, atom.NoEffect())
		}
		nodes = append(nodes, atom.Func(bare, func(ctx context.Context, _ struct{}) (struct{}, error) {
			n := s.act(bare)
			if do := s.do[bare]; do != nil {
				return struct{}{}, do(ctx, n)
			}
			return struct{}{}, nil
		}, opts...))
	}
	return flow.Linear("child", nodes...)
}

func aslParent(node string) string {
	return `{"StartAt": "A", "States": {
		"A": {"Type": "Task", "Resource": "do:a", "Revert": "undo:a", "ResultPath": null, "Next": "N"},
		"N": {` + node + `, "End": true}}}`
}

func aslChild(tasks []string) string {
	states := make([]string, 0, len(tasks))
	for i, name := range tasks {
		bare, none := strings.CutSuffix(name, "-")
		revert := map[bool]string{true: `"Revert": "none", `}[none]
		next := `"End": true`
		if i < len(tasks)-1 {
			next = fmt.Sprintf(`"Next": "S%d"`, i+1)
		}
		states = append(states, fmt.Sprintf(`"S%d": {"Type": "Task", "Resource": "do:%s", %s%s}`, i, bare, revert, next))
	}
	return `{"StartAt": "S0", "States": {` + strings.Join(states, ", ") + `}}`
}

// TestLeftByChild undoes a run after its child run, which nothing undoes, has failed or was cancelled. Work may stay
// done if and only if the child run did any, in every language and wherever processes die.
//
// Guarantee (G4): The undo of a run says that a child run may leave work done if that run did some, and only then.
func TestLeftByChild(t *testing.T) {
	t.Parallel()
	for language, build := range withChild {
		for name, c := range map[string]struct {
			tasks       []string // x succeeds, f fails, h executes until it is cancelled
			cancel, may bool
		}{
			"fails at once":        {tasks: []string{"f"}},
			"computes and fails":   {tasks: []string{"x-", "f"}},
			"works and fails":      {tasks: []string{"x", "f"}, may: true},
			"waits":                {tasks: []string{"h-"}, cancel: true},
			"computes and waits":   {tasks: []string{"x-", "h-"}, cancel: true},
			"works and waits":      {tasks: []string{"x", "h-"}, cancel: true, may: true},
			"works when cancelled": {tasks: []string{"h"}, cancel: true, may: true},
		} {
			for _, gap := range []int{0, 1, 2, 3, 5} {
				t.Run(fmt.Sprintf("%s/%s/%d", language, name, gap), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						s := &stage{do: script{"f": alwaysFails, "h": func(ctx context.Context, _ int) error {
							<-ctx.Done()
							return ctx.Err()
						}}}
						root, catalog := build(t, s, c.tasks)
						store := memstore.New()
						undoWithDeaths(t, store, root, catalog, s, c.cancel, gap)
						run, err := store.Run(t.Context(), "r")
						if err != nil {
							t.Fatal(err)
						}
						u, err := inspect.UndoOf(t.Context(), store, &run)
						if text := u.String(); err != nil || strings.Contains(text, "stay") != c.may || u.Undone != 1 {
							t.Errorf("%q, %v; want 1 undone, and that work may stay done: %v", text, err, c.may)
						}
					})
				})
			}
		}
	}
}

// undoWithDeaths runs a flow until it is undone. Without a gap no process dies. Otherwise, each process dies a little
// later than the one before.
func undoWithDeaths(t *testing.T, store *memstore.Store, root flow.Node, catalog flows, s *stage, cancel bool, gap int) {
	t.Helper()
	for lives := 0; ; lives++ {
		process := backend.Store(store)
		if gap > 0 {
			process = backend.Of(enginetest.DieAt(store.Join(), gap+lives))
		}
		eng := newEngine(t, root, engine.WithStore(process), engine.WithTasks(parts{s}), engine.WithCatalog(catalog))
		ended := make(chan error, 1)
		go func() {
			_, err := eng.Run(t.Context(), "r", engine.Input(atom.FromJSON([]byte(`{"list": [1]}`))))
			ended <- err
		}()
		synctest.Wait()
		if cancel && slices.Contains(s.acts, "h") {
			_, _ = eng.Command(t.Context(), "r", engine.Cancel("enough"))
		}
		var err error
		select {
		case err = <-ended:
		case <-time.After(time.Hour):
			t.Fatal("the run does not end")
		}
		synctest.Wait()
		if _, broke := errors.AsType[*engine.StoreError](err); broke {
			if lives > 200 {
				t.Fatal("the run does not end")
			}
			continue
		}
		return
	}
}

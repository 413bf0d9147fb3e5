package engine_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/longtest"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// unending are families of runs that go on for very long, many levels below their first run.
var unending = map[string]func(t *testing.T, s *stage) (flow.Node, flows){
	"run": func(_ *testing.T, s *stage) (flow.Node, flows) {
		steps := []flow.Node{atom.Func("needs", func(context.Context, numbered) (struct{}, error) { return struct{}{}, nil })}
		for i := range 500 {
			steps = append(steps, s.atom(fmt.Sprint("step", i)))
		}
		return nestedRuns(s, flow.Linear("leaf", steps...)), nil
	},
	"each": func(_ *testing.T, s *stage) (flow.Node, flows) {
		item := flow.Linear("item", s.atom("begin"), flow.Run[struct{}, struct{}]("leaf", flow.Linear("leaf", s.atom("step"))))
		return nestedRuns(s, flow.Linear("items", flow.Each("each", everyNumber, item))), nil
	},
	"parallel": restarted(`"Type": "Parallel", "Branches": [%s, {"StartAt": "Wait", "States": {
		"Wait": {"Type": "Wait", "Seconds": 3600, "End": true}}}]`, ""),
	"fork": restarted(`"Type": "Parallel", "Branches": [%s, {"StartAt": "Again", "States": {
		"Again": {"Type": "Task", "Resource": "arn:aws:states:::states:startExecution.sync:2", "End": true,
			"Parameters": {"StateMachineArn": "m", "Input": {}}}}}]`, ""),
	"map": restarted(`"Type": "Map", "ItemsPath": "$.numbers", "MaxConcurrency": 1, "ItemProcessor": %s`, ""),
	"distributed map": restarted(`"Type": "Map", "ItemsPath": "$.numbers", "MaxConcurrency": 1, "ItemProcessor": %s`,
		`"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, `),
}

type numbered struct {
	Numbers []int `json:"numbers"`
}

// nestedRuns begins a run in a run in a run, each after a step, and the last one begins leaf.
func nestedRuns(s *stage, leaf flow.Node) flow.Node {
	for _, name := range []string{"d", "c", "b", "a"} {
		leaf = flow.Linear(name, s.atom("before "+name), flow.Run[numbered, struct{}](name+"'s", leaf))
	}
	return leaf
}

// restarted is a machine that does a task, and then starts itself and waits, in the state that is given.
func restarted(state, config string) func(*testing.T, *stage) (flow.Node, flows) {
	inner := `{` + config + `"StartAt": "Do", "States": {
		"Do": {"Type": "Task", "Resource": "do:begin", "ResultPath": null, "Next": "Start"},
		"Start": {"Type": "Task", "Resource": "arn:aws:states:::states:startExecution.sync:2", "End": true,
			"Parameters": {"StateMachineArn": "m", "Input": {"numbers": [1, 2, 3]}}}}}`
	return func(t *testing.T, _ *stage) (flow.Node, flows) {
		t.Helper()
		all := machines(t, map[string]string{"m": `{"StartAt": "S", "States": {"S": {"End": true, ` + fmt.Sprintf(state, inner) + `}}}`})
		return all["m"], all
	}
}

// TestStopBelow cancels a run while the runs below it go on, driven by one engine or by two. All runs end, what
// their flows undo is undone, and few steps begin meanwhile.
//
// Guarantee (G9): A stop reaches all runs below, of `flow.Run`, `flow.Each`, Map, Parallel and `.sync`, also those that
// other processes drive, before they have begun three times as many.
// Also: `engine: TestStopApproaches`, `engine: TestStopDeep`, `server/sfn: TestStopWins`.
func TestStopBelow(t *testing.T) {
	t.Parallel()
	for name, build := range unending {
		for engines := range 2 {
			if engines == 0 && !longtest.All() || testing.Short() && name != "run" {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d/sqlite", name, engines+1), func(t *testing.T) {
				t.Parallel()
				stopBelow(t, "sqlite:"+filepath.Join(t.TempDir(), "ebb.db"), engines+1, build)
			})
			if longtest.All() || longtest.On() && name == "fork" {
				t.Run(fmt.Sprintf("%s/%d/postgres", name, engines+1), func(t *testing.T) {
					t.Parallel()
					stopBelow(t, migrated(t), engines+1, build)
				})
			}
		}
	}
}

// migrated returns a DSN of empty tables on a server.
func migrated(t *testing.T) string {
	t.Helper()
	dsn := postgrestest.DSN(t)
	if _, err := sqlstore.Migrate(t.Context(), dsn); err != nil {
		t.Fatal(err)
	}
	return dsn
}

func stopBelow(t *testing.T, dsn string, engines int, build func(*testing.T, *stage) (flow.Node, flows)) {
	t.Helper()
	const enough = 120
	s := &stage{}
	root, catalog := build(t, s)
	ctx, stop := context.WithCancel(t.Context())
	var serving sync.WaitGroup
	defer serving.Wait()
	defer stop()
	opts := []engine.Option{engine.WithTasks(parts{s}), engine.WithInputs(everyNumber)}
	given := engine.RunOption(engine.With(everyNumber, make([]int, 500)))
	if catalog != nil {
		opts = []engine.Option{engine.WithTasks(parts{s}), engine.WithCatalog(catalog)}
		given = engine.Input(atom.FromJSON([]byte(`{"numbers": [1, 2, 3]}`)))
	}
	var eng *engine.Engine
	for range engines {
		eng = servedOn(ctx, t, &serving, dsn, root, opts...)
	}
	if err := eng.Start(ctx, "r", given); err != nil {
		t.Fatal(err)
	}
	store := eng.Store()
	for changed := backend.Of(store).Changed(); begunOf(s) < enough; changed = backend.Of(store).Changed() {
		<-changed
	}
	if err := engine.Send(ctx, store, "r", engine.Cancel("enough")); err != nil {
		t.Fatal(err)
	}
	before := begunOf(s)
	for open := true; open; {
		open = false
		for run, err := range storage.EachRun(ctx, store, storage.RunQuery{}) {
			if err == nil && !run.State.Ended() {
				open = true
				_, err = engine.Await(ctx, store, run.ID)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	begun := begunOf(s)
	t.Logf("%d steps began before the stop, %d after it", before, begun-before)
	if begun > 3*before { // of a family that forks, as many runs as before may have been created and not begun
		t.Errorf("%d steps began after the stop, which came after %d", begun-before, before)
	}
	// What a machine did that another started stays done, unless the state that started it has a Revert.
	if undone := len(s.took()) - begun; catalog == nil && undone != begun {
		t.Errorf("%d steps began, and %d were undone", begun, undone)
	}
}

// begunOf returns how many steps have begun, without those that undo others.
func begunOf(s *stage) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, act := range s.acts {
		if !strings.HasPrefix(act, "undo") {
			n++
		}
	}
	return n
}

// servedOn returns an engine that serves the runs of a database, with a store of its own, until ctx ends.
func servedOn(
	ctx context.Context, t *testing.T, serving *sync.WaitGroup, dsn string, root flow.Node, opts ...engine.Option,
) *engine.Engine {
	t.Helper()
	store, err := sqlstore.Open(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	eng := newEngine(t, root, append(opts, engine.WithStore(store))...)
	serving.Go(func() {
		if err := eng.Serve(ctx); err != nil {
			t.Error(err)
		}
	})
	return eng
}

// TestStopDeep cancels the first run of a long line on a server, in which each run begins the next one and waits for it.
// The cancellation reaches the last run, which is the only one that does anything, before many others begin.
//
// Attack (Large runs): A run is cancelled whose child runs begin one another in a line, 10,000 deep.
// Result: The line ends. The cancellation goes down faster than the line.
func TestStopDeep(t *testing.T) {
	longtest.Needs(t)
	t.Parallel()
	depth := longtest.Count(0, 1_500, 10_000)
	deep := make(chan struct{})
	line := flow.Growing("line", lang(func(ask *grow.Ask) grow.Growth {
		if ask.Cause.Kind != grow.Begin {
			return failure(ask.Cause.Failure)
		}
		n, _ := strconv.Atoi(ask.Run.ID[1:])
		if n == depth {
			close(deep)
		}
		return add(grow.Spec{Name: "next", Kind: grow.Nested, Child: &grow.Child{ID: fmt.Sprint("r", n+1), Flow: "line"}})
	}))
	ctx, stop := context.WithCancel(t.Context())
	var serving sync.WaitGroup
	defer serving.Wait()
	defer stop()
	eng := servedOn(ctx, t, &serving, migrated(t), line, engine.WithCatalog(flows{"line": line}))
	if err := eng.Start(ctx, "r0", engine.Input(atom.Null)); err != nil {
		t.Fatal(err)
	}
	<-deep
	if err := engine.Send(ctx, eng.Store(), "r0", engine.Cancel("enough")); err != nil {
		t.Fatal(err)
	}
	born := func() int64 {
		t.Helper()
		n, err := backend.Of(eng.Store()).Descendants(ctx, "r0")
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := born()
	last := before
	for ended := int64(-1); ended != last; last = born() {
		if _, err := engine.Await(ctx, eng.Store(), fmt.Sprint("r", last)); err != nil {
			t.Fatal(err)
		}
		ended = last
	}
	t.Logf("%d runs began after the stop at depth %d", last-before, before)
	if last > before+before/4 {
		t.Errorf("%d runs began after the stop at depth %d", last-before, before)
	}
}

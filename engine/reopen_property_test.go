package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/enginetest"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/crashdisk"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// A reopening is a machine, with the task that does not succeed at first, and the resulting end of the run.
type reopening struct {
	machine string
	timeout time.Duration // of the machine: what a process has awaited for half that time does not come
	tasks   int           // number of its Task states
	broken  int           // the task that does not succeed until the run is reopened
	end     string        // fail, abandon or timeout
	deaths  []int         // each process dies at so many commits
}

// reopenable draws a machine: levels of states, of which some have levels inside.
type reopenable struct {
	t     *rapid.T
	tasks int
	names int
	lasts bool // Wait states take time
}

func (r *reopenable) level(depth int) string {
	n := rapid.IntRange(1, 3).Draw(r.t, "states")
	first := r.names
	r.names += n
	var states []string
	for i := range n {
		next := `"End": true`
		if i+1 < n {
			next = fmt.Sprintf(`"Next": "S%d"`, first+i+1)
		}
		states = append(states, fmt.Sprintf(`"S%d": {%s, %s}`, first+i, r.state(depth), next))
	}
	return fmt.Sprintf(`"StartAt": "S%d", "States": {%s}`, first, strings.Join(states, ", "))
}

func (r *reopenable) state(depth int) string {
	kinds := []string{"Task", "Task", "Task", "Pass"}
	if r.lasts {
		kinds = append(kinds, "Wait")
	}
	if depth > 0 {
		kinds = append(kinds, "Parallel", "Map", "Distributed")
	}
	switch kind := rapid.SampledFrom(kinds).Draw(r.t, "kind"); kind {
	case "Task":
		r.tasks++
		more := rapid.SampledFrom([]string{
			"", `, "Parameters": {"in.$": "$", "count.$": "$$.State.RetryCount"}`, `, "ResultPath": null`,
			`, "Retry": [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 1, "IntervalSeconds": 1, "MaxDelaySeconds": 2}]`,
		}).Draw(r.t, "more")
		return fmt.Sprintf(`"Type": "Task", "Resource": "task:%d"%s`, r.tasks-1, more)
	case "Wait":
		return `"Type": "Wait", "Seconds": 2`
	case "Parallel":
		return `"Type": "Parallel", "Branches": [{` + r.level(depth-1) + `}, {` + r.level(depth-1) + `}]`
	case "Map":
		slots := rapid.IntRange(0, 2).Draw(r.t, "slots")
		return fmt.Sprintf(`"Type": "Map", "ItemsPath": "$$.Execution.Input.items", "MaxConcurrency": %d, "ItemProcessor": {%s}`,
			slots, r.level(depth-1))
	case "Distributed":
		slots := rapid.IntRange(1, 3).Draw(r.t, "slots")
		return fmt.Sprintf(`"Type": "Map", "ItemsPath": "$$.Execution.Input.items", "MaxConcurrency": %d, "ItemSelector":
			{"items": [{"a": 1}, {"b": 2}], "item.$": "$$.Map.Item.Value"}, "ItemProcessor": {
			"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": %q}, %s}`,
			slots, rapid.SampledFrom([]string{"STANDARD", "STANDARD", "EXPRESS"}).Draw(r.t, "type"), r.level(0))
	default:
		return `"Type": "Pass", "Parameters": {"x.$": "$"}`
	}
}

func anyReopening(rt *rapid.T, lasts bool) reopening {
	r := reopenable{t: rt, lasts: lasts}
	text := r.level(2)
	if r.tasks == 0 {
		text = `"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "task:0", "End": true}}`
		r.tasks = 1
	}
	timeout := 100 * time.Second // more than twice the time of a machine
	if lasts {
		timeout *= 20
	}
	c := reopening{
		machine: fmt.Sprintf(`{"TimeoutSeconds": %d, %s}`, timeout/time.Second, text), timeout: timeout, tasks: r.tasks,
		broken: rapid.IntRange(0, r.tasks-1).Draw(rt, "broken"),
		end:    rapid.SampledFrom([]string{"fail", "fail", "abandon"}).Draw(rt, "end"),
	}
	if lasts {
		c.end = rapid.SampledFrom([]string{"fail", "fail", "abandon", "timeout"}).Draw(rt, "end in time")
	}
	for range rapid.IntRange(0, 4).Draw(rt, "deaths") {
		c.deaths = append(c.deaths, rapid.IntRange(1, 25).Draw(rt, "commit"))
	}
	return c
}

// A workshop executes the tasks of a machine. Each takes a while, and its result contains its input.
type workshop struct {
	c     reopening
	lasts bool

	mu      sync.Mutex
	fixed   bool
	stuck   chan struct{} // receives when the broken task blocks
	doubled string        // a call that was repeated after it had succeeded
	process int
	done    map[string]int // process in which a call succeeded
	sure    func(call *atom.Call) bool
}

func (w *workshop) Task(name string) (atom.Body, error) {
	var n int
	if _, err := fmt.Sscanf(name, "task:%d", &n); err != nil {
		return nil, err
	}
	return workshopTask{w, n}, nil
}

type workshopTask struct {
	w *workshop
	n int
}

func (workshopTask) Reverts() bool { return false }

func (workshopTask) Revert(context.Context, atom.Values, atom.Outcome[atom.Value]) (atom.Value, error) {
	return atom.Null, nil
}

func (t workshopTask) Execute(ctx context.Context, in atom.Values) (atom.Value, error) {
	w, call := t.w, atom.CurrentCall(ctx)
	key := call.Run + "/" + call.Path
	w.mu.Lock()
	if w.done[key] > 0 && w.sure(&call) {
		w.doubled = key
	}
	breaks := t.n == w.c.broken && !w.fixed
	w.mu.Unlock()
	if w.lasts {
		select {
		case <-time.After(time.Duration(len(key)%3) * time.Second):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	switch {
	case breaks && w.c.end == "fail":
		return nil, atom.Errorf("Broken", "task %d", t.n)
	case breaks:
		select {
		case w.stuck <- struct{}{}:
		default:
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	w.mu.Lock()
	w.done[key] = w.process
	w.mu.Unlock()
	return atom.Encode(map[string]any{"did": t.n, "of": in.Input()})
}

// reopeningInput is the input of all machines.
var reopeningInput = engine.Input(atom.FromJSON([]byte(`{"items": [{"a": 1}, {"b": 2}, {"c": 3}]}`)))

// play runs a machine until its broken task has ended it, reopens the run, and returns its output.
func (c reopening) play(t *testing.T, id string, lasts bool, open func() (backend.Store, error)) (string, error) {
	m, err := asl.Parse("m", []byte(c.machine))
	if err != nil {
		return "", fmt.Errorf("%s: %w", c.machine, err)
	}
	w := &workshop{c: c, lasts: lasts, fixed: c.broken < 0, stuck: make(chan struct{}, 1), done: map[string]int{}}
	var last string
	for ; ; w.process++ {
		if w.process > 200 {
			return "", fmt.Errorf("%+v: it does not end: %s", c, last)
		}
		process, err := open()
		if err != nil {
			return "", err
		}
		store := process
		if n := w.process - 2; n >= 0 && n < len(c.deaths) && c.broken >= 0 { // the first one breaks the run
			store = backend.Of(enginetest.DieAt(process, c.deaths[n]))
		}
		if w.process == 0 {
			w.process = 1
		}
		w.sure = func(call *atom.Call) bool {
			a, err := process.Atom(context.Background(), call.Run, call.Path)
			return err == nil && a.State == states.TaskSuccess
		}
		eng := newEngine(t, m.Flow(), engine.WithStore(store), engine.WithTasks(w))
		began := time.Now()
		res, err := c.step(t, eng, w, id)
		if c.end != "timeout" && time.Since(began) >= c.timeout/2 {
			return "", fmt.Errorf("%+v: process %d waited for something that did not come", c, w.process)
		}
		output := ""
		if res != nil && res.Run.State == states.FlowSuccess {
			output = res.Output().String()
		}
		if w.doubled != "" {
			return "", fmt.Errorf("%+v: %s was called again though it had succeeded", c, w.doubled)
		}
		if err := process.Close(); err != nil {
			return "", err
		}
		switch {
		case output != "":
			return output, nil
		case err == nil:
			return "", fmt.Errorf("%+v: it rests", c)
		case errors.As(err, new(*engine.StoreError)), errors.Is(err, storage.ErrClosed): // the process died
		case !errors.As(err, new(*engine.FailedError)):
			return "", fmt.Errorf("%+v: %w", c, err)
		case res.Run.Undo != storage.UndoNone:
			return "", fmt.Errorf("%+v: it was undone", c)
		}
		last = fmt.Sprint(err)
	}
}

// step drives the run with one process: to its failure, or from there.
func (c reopening) step(t *testing.T, eng *engine.Engine, w *workshop, id string) (*engine.Result, error) {
	t.Helper()
	ctx := t.Context()
	run, err := eng.Store().Run(ctx, id)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		stop, over := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(over)
			select {
			case <-w.stuck:
				if c.end == "abandon" {
					_ = engine.Send(ctx, eng.Store(), id, engine.Abandon("enough"))
				}
			case <-stop:
			}
		}()
		res, err := eng.Run(ctx, id, reopeningInput)
		close(stop)
		<-over
		return res, err
	case err == nil && run.State == states.FlowFailure && run.Due.IsZero():
		w.mu.Lock()
		w.fixed = true
		w.mu.Unlock()
		for range 100 { // until the child runs have ended
			res, err := eng.Command(ctx, id, engine.RetryFrom(""))
			if !errors.Is(err, engine.ErrRefused) {
				return res, err
			}
			if !strings.Contains(err.Error(), "still ending") {
				return nil, err
			}
			if err := endOthers(ctx, eng, id); err != nil {
				return nil, err
			}
		}
		return nil, errors.New("its child runs do not end")
	default:
		return eng.Run(ctx, id)
	}
}

// endOthers lets the child runs of a run end.
func endOthers(ctx context.Context, eng *engine.Engine, id string) error {
	for run, err := range storage.EachRun(ctx, eng.Store(), storage.RunQuery{}) {
		if err != nil {
			return err
		}
		if strings.HasPrefix(run.ID, id+"/") && !run.State.Ended() {
			if _, err := eng.Run(ctx, run.ID); errors.As(err, new(*engine.StoreError)) {
				return err
			}
		}
	}
	return nil
}

func (c reopening) compare(t *testing.T, rt *rapid.T, play func(c reopening) (string, error)) {
	t.Helper()
	whole := c
	whole.broken, whole.deaths = -1, nil
	want, err := play(whole)
	if err != nil {
		rt.Fatal(err)
	}
	got, err := play(c)
	if err != nil {
		rt.Fatal(err)
	}
	if !json.Valid([]byte(want)) || got != want {
		rt.Fatalf("%+v: reopened, it ended with\n%s\nwant\n%s", c, got, want)
	}
}

// TestReopenProperty draws machines and ends each without success at one of its tasks: the task fails, the run is
// abandoned or times out. Then the run is reopened, and its processes die at any of its commits. Its output is that of
// a run whose task succeeded at once. No task is called again after it succeeded.
//
// Guarantee (G5): A state machine's run that failed, timed out or was cancelled, and is reopened, ends as if it had
// succeeded at once, and repeats no success.
// Also: (deaths), `TestReopenStores`, `TestReopenMapRun`, `TestReopenServed`.
func TestReopenProperty(t *testing.T) {
	t.Parallel()
	check(t, 300, func(rt *rapid.T) {
		c := anyReopening(rt, true)
		c.compare(t, rt, func(c reopening) (got string, err error) {
			synctest.Test(t, func(t *testing.T) {
				records := memstore.New()
				got, err = c.play(t, "r", true, func() (backend.Store, error) { return records.Join(), nil })
			})
			return got, err
		})
	})
}

// TestReopenStores reopens runs of drawn machines on SQLite and PostgreSQL.
func TestReopenStores(t *testing.T) { //nolint:tparallel // the stores take turns
	t.Parallel()
	dsn := postgrestest.DSN(t)
	for name, at := range map[string]string{"sqlite": "sqlite:" + filepath.Join(crashdisk.Careless(t), "ebb.db"), "postgres": dsn} {
		t.Run(name, func(t *testing.T) {
			if _, err := sqlstore.Migrate(t.Context(), at); err != nil {
				t.Fatal(err)
			}
			n := 0
			check(t, 10, func(rt *rapid.T) {
				c := anyReopening(rt, false)
				c.compare(t, rt, func(c reopening) (string, error) {
					n++
					return c.play(t, fmt.Sprintf("r%d", n), false, func() (backend.Store, error) {
						return sqlstore.Open(t.Context(), at)
					})
				})
			})
		})
	}
}

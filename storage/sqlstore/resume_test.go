//go:build unix

package sqlstore_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A journal records the calls of the tasks of the fixtures' flows.
type journal struct {
	mu    sync.Mutex
	calls []string
}

func (j *journal) note(what string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.calls = append(j.calls, what)
}

// task returns an atom that can be undone. What it returns is large when its
// name is in capitals; one called fail fails.
func (j *journal) task(name string, suspend func()) *atom.Atom {
	return atom.Untyped(name,
		func(context.Context, atom.Values) (any, error) {
			j.note("do " + name)
			if name == "fail" {
				return nil, atom.Errorf("Refused", "it will not")
			}
			if name == "halt" && suspend != nil {
				suspend()
			}
			if name == strings.ToUpper(name) {
				return strings.Repeat(name, backend.InlineLimit), nil
			}
			return name, nil
		},
		func(context.Context, atom.Values, atom.Outcome[atom.Value]) (any, error) {
			j.note("undo " + name)
			return nil, nil
		})
}

// Task makes the journal the registry of a machine's tasks: do:x, fail:x and undo:x.
func (j *journal) Task(name string) (atom.Body, error) { return journalTask{j, name}, nil }

type journalTask struct {
	j    *journal
	name string
}

func (t journalTask) Execute(context.Context, atom.Values) (atom.Value, error) {
	how, what, _ := strings.Cut(t.name, ":")
	t.j.note(how + " " + what)
	if how == "fail" {
		return nil, atom.Errorf("Refused", "it will not")
	}
	if what == "l" {
		return atom.Encode(strings.Repeat(what, backend.InlineLimit))
	}
	return atom.Encode(what)
}

func (t journalTask) Revert(ctx context.Context, in atom.Values, _ atom.Outcome[atom.Value]) (atom.Value, error) {
	return t.Execute(ctx, in)
}

func (journalTask) Reverts() bool { return true }

const (
	fixtureMachine = `{"StartAt":"A","States":{
 "A":{"Type":"Task","Resource":"do:a","Revert":"undo:a","ResultPath":"$.a","Next":"P"},
 "P":{"Type":"Parallel","Next":"M","ResultPath":null,"Branches":[
  {"StartAt":"L","States":{"L":{"Type":"Task","Resource":"do:l","Revert":"undo:l","Next":"N"},
   "N":{"Type":"Task","Resource":"do:n","Revert":"undo:n","End":true}}},
  {"StartAt":"R","States":{"R":{"Type":"Task","Resource":"do:r","Revert":"undo:r","End":true}}}]},
 "M":{"Type":"Map","ItemsPath":"$.items","MaxConcurrency":1,"ResultPath":null,"Next":"W","ItemProcessor":{"StartAt":"I","States":{
   "I":{"Type":"Task","Resource":"do:i","Revert":"undo:i","End":true}}}},
 "W":{"Type":"Wait","Seconds":0,"Next":"B"},
 "B":{"Type":"Task","Resource":"%s:b","Revert":"undo:b","End":true,
      "Retry":[{"ErrorEquals":["Refused"],"MaxAttempts":1,"IntervalSeconds":1,"BackoffRate":1}]}}}`
	fixtureInput = `{"items":[1,2],"note":"x"}`
)

// mortal is a store whose process dies after the given number of commits.
type mortal struct {
	backend.Store
	left int
}

var errDied = errors.New("the process has died")

func (m *mortal) Commit(ctx context.Context, c backend.Claim, cp *backend.Checkpoint) error {
	if m.left == 0 {
		return fmt.Errorf("%w: %w", storage.ErrClosed, errDied)
	}
	m.left--
	return m.Store.Commit(ctx, c, cp)
}

// A fixtureFlow is a flow whose runs are in fixtures, in the state in which the process died, was told to suspend, or
// ended. Neither the flow nor its name may ever change: a changed one gets a new name.
type fixtureFlow struct {
	name  string
	build func(j *journal, suspend func()) (flow.Node, error)
	left  []int // commits after which the process died; -1 is never
	ends  states.Flow
	wake  func(t *testing.T, s backend.Store, id string) // sends what the run waits for; nil if that is only time
}

var fixtureFlows = []fixtureFlow{
	{"linear", func(j *journal, suspend func()) (flow.Node, error) {
		return flow.Linear("linear", j.task("a", nil), j.task("BIG", nil), j.task("halt", suspend), j.task("z", nil)), nil
	}, []int{-1, 1, 3}, states.FlowSuccess, nil},
	{"undo", func(j *journal, _ func()) (flow.Node, error) {
		a, z := j.task("a", nil), j.task("fail", nil)
		tried := flow.Linear("tried", j.task("b", nil), j.task("C", nil)).WithRetry(atom.Times(3, atom.Backoff{}))
		return flow.Graph("undo", a, tried, z).Link(a, tried).Link(tried, z), nil
	}, []int{-1, 2, 5, 7}, states.FlowReverted, nil},
	{"machine", func(*journal, func()) (flow.Node, error) {
		m, err := asl.Parse("machine", fmt.Appendf(nil, fixtureMachine, "do"))
		if err != nil {
			return nil, err
		}
		return m.Flow(), nil
	}, []int{2, 6}, states.FlowSuccess, nil},
	{"undone machine", func(*journal, func()) (flow.Node, error) {
		m, err := asl.Parse("undone machine", fmt.Appendf(nil, fixtureMachine, "fail"))
		if err != nil {
			return nil, err
		}
		return m.Flow(), nil
	}, []int{3, 10}, states.FlowReverted, nil},
	{"asks", func(j *journal, _ func()) (flow.Node, error) {
		ask := atom.Untyped("ask", func(context.Context, atom.Values) (any, error) { return nil, atom.ErrDeferred }, nil,
			atom.Deferrable(atom.Deferral{}))
		return flow.Linear("asks", j.task("a", nil), j.task("BIG", nil), ask, j.task("z", nil)), nil
	}, []int{-1}, states.FlowSuccess, func(t *testing.T, s backend.Store, id string) {
		t.Helper()
		tokens, err := s.RunTokens(t.Context(), id)
		if err != nil || len(tokens) != 1 {
			t.Fatal(tokens, err)
		}
		if _, err := s.EndToken(t.Context(), tokens[0].ID, storage.TokenEnd{Result: atom.MustEncode("ok")}); err != nil {
			t.Fatal(err)
		}
	}},
	{"works", func(j *journal, _ func()) (flow.Node, error) {
		return flow.Linear("works", j.task("a", nil), atom.Remote[struct{}, string]("w", "pack"), j.task("z", nil)), nil
	}, []int{-1}, states.FlowSuccess, func(t *testing.T, s backend.Store, id string) {
		t.Helper()
		token, err := s.TakeToken(t.Context(), storage.WorkRequest{Queues: []string{"pack"}, Worker: "me", Lease: time.Minute})
		if err != nil || token.Run != id || token.Work == nil {
			t.Fatal(token, err)
		}
		if _, err := s.EndToken(t.Context(), token.ID, storage.TokenEnd{Take: token.Take, Result: atom.MustEncode("ok")}); err != nil {
			t.Fatal(err)
		}
	}},
	{"waits machine", func(*journal, func()) (flow.Node, error) {
		m, err := asl.Parse("waits machine", []byte(waitingMachine))
		if err != nil {
			return nil, err
		}
		return m.Flow(), nil
	}, []int{-1, 3, 9}, states.FlowReverted, nil},
	{
		"grows", func(*journal, func()) (flow.Node, error) { return flow.Growing("grows", listens{}), nil },
		[]int{-1, 1, 2},
		states.FlowSuccess,
		func(t *testing.T, s backend.Store, id string) {
			t.Helper()
			if err := s.Send(t.Context(), storage.Message{Run: id, Kind: "signal", Name: "go", Body: atom.MustEncode("x")}); err != nil {
				t.Fatal(err)
			}
		},
	},
}

// waitingMachine has branches that are at different places while one waits, and
// then fails.
const waitingMachine = `{"StartAt":"A","States":{
 "A":{"Type":"Task","Resource":"do:a","Revert":"undo:a","ResultPath":"$.a","Next":"M"},
 "M":{"Type":"Map","ItemsPath":"$.items","MaxConcurrency":2,"ResultPath":null,"Next":"B","ItemProcessor":{"StartAt":"L","States":{
   "L":{"Type":"Task","Resource":"do:l","Revert":"undo:l","Next":"W"},
   "W":{"Type":"Wait","Seconds":1,"Next":"N"},
   "N":{"Type":"Task","Resource":"do:n","Revert":"undo:n","End":true}}}},
 "B":{"Type":"Task","Resource":"fail:b","End":true}}}`

// listens is a language in Go: two tasks, then it waits for a message.
type listens struct{}

func (listens) Grow(ask *grow.Ask) grow.Growth {
	work := func(name string) grow.Growth {
		return grow.Growth{
			Add:    []grow.Spec{{Name: name, Task: "do:" + name, Undo: &grow.Undo{Task: "undo:" + name}}},
			Memory: atom.MustEncode([]string{"after", name}),
		}
	}
	switch c := &ask.Cause; {
	case c.Kind == grow.Begin:
		return work("a")
	case c.Kind == grow.Ended && c.Name == "a":
		return work("l")
	case c.Kind == grow.Ended && c.Name == "l":
		return grow.Growth{Add: []grow.Spec{{Name: "until", Kind: grow.Timer, Due: ask.Now.Add(1_000_000 * time.Hour)}}, Listen: true}
	case c.Kind == grow.Told:
		g := work("z")
		g.Drop = []string{"until"}
		return g
	case c.Kind == grow.Ended:
		return grow.Growth{End: &grow.End{Value: c.Result}}
	default:
		return grow.Growth{}
	}
}

func (listens) Undo(*grow.UndoAsk) (atom.Value, error) { return nil, nil }

// run starts the run of the fixture, or resumes it.
func (f *fixtureFlow) run(t *testing.T, s backend.Store, id string, j *journal, mayHalt bool) error {
	t.Helper()
	var eng *engine.Engine
	var suspend func()
	if mayHalt {
		suspend = func() { eng.Suspend() }
	}
	node, err := f.build(j, suspend)
	if err != nil {
		t.Fatal(err)
	}
	eng, err = engine.New(node, s, engine.WithTasks(j), engine.WithParallelism(1))
	if err != nil {
		t.Fatal(err)
	}
	opts := []engine.RunOption{}
	if mayHalt {
		opts = append(opts, engine.Unload())
	}
	if strings.HasSuffix(f.name, "machine") {
		opts = append(opts, engine.Input(atom.FromJSON([]byte(fixtureInput))))
	}
	_, err = eng.Run(t.Context(), id, opts...)
	return err
}

func (f *fixtureFlow) id(left int) string {
	return strings.ReplaceAll(f.name, " ", "-") + fmt.Sprint(left)
}

// runFixture makes the runs of the fixture's flows with the engine itself.
func runFixture(t *testing.T, s backend.Store) {
	t.Helper()
	for i := range fixtureFlows {
		f := &fixtureFlows[i]
		for _, left := range f.left {
			err := f.run(t, &mortal{s, left}, f.id(left), &journal{}, left < 0)
			if left >= 0 && !errors.Is(err, errDied) {
				t.Fatalf("%s did not die after commit %d: %v", f.name, left, err)
			}
		}
	}
}

// TestFixturesGoOn resumes the runs of each fixture to their ends, and calls no task whose success was recorded (G7).
//
// Guarantee (G7): Unfinished runs of SQLite files of each schema since version 0.1 end, and repeat no success. A
// changed grower alters nothing recorded; another structure is refused.
// Also: `TestFixturesAltered`.
func TestFixturesGoOn(t *testing.T) {
	t.Parallel()
	for _, fixture := range fixtures(t) {
		t.Run(filepath.Base(fixture), func(t *testing.T) {
			t.Parallel()
			s := open(t, copyFixture(t, fixture))
			defer shut(t, s)
			for i := range fixtureFlows {
				f := &fixtureFlows[i]
				for _, left := range f.left {
					id := f.id(left)
					if _, err := s.Run(t.Context(), id); errors.Is(err, storage.ErrNotFound) {
						continue // of a flow that came with a later schema
					}
					f.goOn(t, s, id)
				}
			}
		})
	}
}

func (f *fixtureFlow) goOn(t *testing.T, s backend.Store, id string) {
	t.Helper()
	before, err := s.Atoms(t.Context(), id, storage.AtomQuery{})
	if err != nil {
		t.Fatal(err)
	}
	j := &journal{}
	if f.wake != nil {
		f.wake(t, s, id)
	}
	err = f.run(t, s, id, j, false)
	_, reverted := errors.AsType[*engine.RevertedError](err)
	if err != nil && !reverted {
		t.Fatalf("%s: %v", id, err)
	}
	r, err := s.Run(t.Context(), id)
	if err != nil || r.State != f.ends {
		t.Errorf("%s ended %v, %v; want %v", id, r.State, err, f.ends)
	}
	after, err := s.Atoms(t.Context(), id, storage.AtomQuery{})
	if err != nil {
		t.Fatal(err)
	}
	todo := map[string]int{} // how often each task may be executed
	for _, a := range after {
		todo["do "+taskOf(&a)]++
	}
	for _, a := range before {
		if a.State == states.TaskSuccess || a.State == states.TaskReverting || a.State == states.TaskReverted {
			todo["do "+taskOf(&a)]--
		}
	}
	for _, call := range j.calls {
		call = strings.ToLower(call)
		if todo[call]--; strings.HasPrefix(call, "do ") && todo[call] < 0 {
			t.Errorf("%s: %q again, though its success was committed", id, call)
		}
	}
	t.Logf("%s: %v", id, j.calls)
}

// taskOf returns the task that an atom stands for.
func taskOf(a *storage.Atom) string {
	return strings.ToLower(a.Path[strings.LastIndexByte(a.Path, '/')+1:])
}

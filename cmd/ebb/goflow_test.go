package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// goflow is a program with flows in Go, for the crash tests: goflow FLOW drives
// the run that they kill, whether it is there already or not, and exits as the
// command does.
func goflow() {
	err := driveGoFlow(context.Background(), os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(exit.Of(err))
}

func driveGoFlow(ctx context.Context, name string) (err error) {
	store, err := sqlstore.Open(ctx, strings.TrimPrefix(os.Getenv("EBB_DSN"), "sqlite:"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	eng, err := engine.New(goFlows[name](), store, engine.WithTasks(journalling{}))
	if err != nil {
		return err
	}
	_, err = eng.Run(ctx, crashRun)
	return err
}

// goFlows are flows that do, wait, fail in the end and are undone. Of what stands
// side by side, the names are the same up to a dash.
var goFlows = map[string]func() flow.Node{
	// One after the other, side by side, in a graph, tried again as a task and as a flow.
	"graph": func() flow.Node {
		left, right, top, bottom := journalled("left-1"), journalled("left-2"), journalled("top"), journalled("bottom")
		return flow.Linear("graph",
			journalled("one"),
			flow.Unordered("sides", journalled("side-1"), journalled("side-2"), journalled("side-3")),
			journalled("flaky", atom.Attempts(2, atom.Constant(300*time.Millisecond))),
			flow.Graph("diamond", top, left, right, bottom).
				Link(top, left).Link(top, right).Link(left, bottom).Link(right, bottom),
			flow.Linear("again", journalled("first"), journalled("second")).WithRetry(atom.Times(2, atom.Constant(300*time.Millisecond))),
			journalled("last"),
			journalled("broken"),
		)
	},
	// It grows by laps: a step, two side by side, a wait.
	"laps": func() flow.Node { return flow.Growing("laps", laps{}) },
}

// A journalling task notes each call of it, as step.sh does. It is its own
// registry.
type journalling struct{}

func (journalling) Task(string) (atom.Body, error) { return journalling{}, nil }

func (journalling) Reverts() bool { return true }

func journalled(name string, opts ...atom.Option) *atom.Atom {
	return atom.New(name, journalling{}, opts...)
}

// Execute fails in broken, at the first attempt of flaky, and in second when its
// flow is tried for the first time.
func (journalling) Execute(ctx context.Context, _ atom.Values) (atom.Value, error) {
	call := atom.CurrentCall(ctx)
	if err := noteCall(ctx, "do"); err != nil {
		return nil, err
	}
	switch name := call.Path[strings.LastIndexByte(call.Path, '/')+1:]; {
	case name == "broken", name == "flaky" && call.Attempt == 1, name == "second" && call.Incarnation == 0:
		return nil, atom.Errorf("Broken", "%s is broken", name)
	}
	return atom.Null, nil
}

func (journalling) Revert(ctx context.Context, _ atom.Values, _ atom.Outcome[atom.Value]) (atom.Value, error) {
	return atom.Null, noteCall(ctx, "undo")
}

// noteCall writes a line of the journal, and takes a while.
func noteCall(ctx context.Context, kind string) error {
	f, err := os.OpenFile(os.Getenv("EBB_TEST_JOURNAL"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, kind, atom.CurrentCall(ctx).Path, atom.IdempotencyKey(ctx))
	time.Sleep(5 * time.Millisecond)
	return errors.Join(err, f.Close())
}

// laps is a language that does four laps, remembers which it is in, and fails in
// the last.
type laps struct{}

func (laps) Grow(ask *grow.Ask) grow.Growth {
	lap := 1
	if ask.Memory != nil {
		_ = ask.Memory.Decode(&lap)
	}
	spec := func(name string, i int) grow.Spec {
		name = fmt.Sprintf("%s%d", name, lap)
		if i > 0 {
			name += "-" + strconv.Itoa(i)
		}
		return grow.Spec{Name: name, Task: name, Undo: &grow.Undo{Task: name}}
	}
	c := &ask.Cause
	switch {
	case c.Kind == grow.Begin:
		return grow.Growth{Add: []grow.Spec{spec("lap", 0)}, Memory: atom.MustEncode(lap)}
	case c.Kind == grow.Failed:
		return grow.Growth{End: &grow.End{Failure: c.Failure}}
	case c.Name == "broken":
		return grow.Growth{End: &grow.End{Failure: &atom.Failure{Code: "Broken", Message: "it is not"}}}
	case strings.HasPrefix(c.Name, "lap"):
		return grow.Growth{Add: []grow.Spec{spec("side", 1), spec("side", 2)}}
	case strings.HasPrefix(c.Name, "side"):
		for i := 1; i <= 2; i++ {
			if past, there := ask.Recall(spec("side", i).Name); !there || past.Open && spec("side", i).Name != c.Name {
				return grow.Growth{}
			}
		}
		return grow.Growth{Add: []grow.Spec{{Name: fmt.Sprint("wait", lap), Kind: grow.Timer, Due: ask.Now.Add(200 * time.Millisecond)}}}
	case lap == 4:
		return grow.Growth{Add: []grow.Spec{{Name: "broken", Task: "broken"}}}
	}
	lap++
	return grow.Growth{Add: []grow.Spec{spec("lap", 0)}, Memory: atom.MustEncode(lap)}
}

func (laps) Undo(*grow.UndoAsk) (atom.Value, error) { return atom.Null, nil }

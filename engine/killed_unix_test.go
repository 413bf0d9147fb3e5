//go:build unix

package engine_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/childtest"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestMain lets a test start this binary as another process, which serves runs or runs one that the test stops.
func TestMain(m *testing.M) {
	child := func() error { return serveWaits(os.Getenv("ENGINE_CHILD"), os.Getenv("ENGINE_WAIT")) }
	if os.Getenv("ENGINE_STOPPED") != "" {
		child = func() error { return runStopped(os.Getenv("ENGINE_STOPPED")) }
	}
	if os.Getenv("ENGINE_CHILD") != "" || os.Getenv("ENGINE_STOPPED") != "" {
		if err := child(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// waitsOf are flows that wait, each in another way, and then record that they continued. Waits for a time have the
// given length. The flows form a catalog.
type waitsOf struct {
	dir string
	d   time.Duration
}

func (w waitsOf) journal() string { return filepath.Join(w.dir, "journal") }

func (w waitsOf) Task(string) (atom.Body, error) { return w, nil }

func (waitsOf) Reverts() bool { return false }

func (w waitsOf) Execute(ctx context.Context, _ atom.Values) (atom.Value, error) {
	f, err := os.OpenFile(w.journal(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintln(f, atom.CurrentCall(ctx).Run, time.Now().UnixMicro()); err != nil {
		return nil, err
	}
	return atom.Null, f.Close()
}

func (waitsOf) Revert(context.Context, atom.Values, atom.Outcome[atom.Value]) (atom.Value, error) {
	return atom.Null, nil
}

func (w waitsOf) Flow(_ context.Context, run *storage.Run) (flow.Node, error) {
	after := atom.Func("after", func(ctx context.Context, _ struct{}) (struct{}, error) {
		_, err := w.Execute(ctx, atom.Values{})
		return struct{}{}, err
	})
	switch run.Flow {
	case "retry":
		try := atom.Func("try", func(ctx context.Context, _ struct{}) (struct{}, error) {
			if atom.Attempt(ctx) == 1 {
				return struct{}{}, errRefused
			}
			return struct{}{}, nil
		}, atom.Attempts(2, atom.Constant(w.d)))
		return flow.Linear(run.Flow, try, after), nil
	case "signal":
		return flow.Linear(run.Flow, atom.Awaits[string]("wait", "go", atom.Deferral{}), after), nil
	}
	return flow.Growing(run.Flow, lang(func(ask *grow.Ask) grow.Growth {
		wait := grow.Spec{Name: "wait", Queue: "q"}
		switch c := &ask.Cause; {
		case c.Kind != grow.Begin && c.Name == "wait":
			return add(grow.Spec{Name: "after", Task: "after"})
		case c.Kind != grow.Begin:
			return done(nil)
		}
		switch run.Flow {
		case "timer":
			wait.Kind, wait.Due = grow.Timer, ask.Now.Add(w.d)
		case "deadline":
			wait.Token, wait.Timeout = ask.Token(), w.d
		case "heartbeat":
			wait.Token, wait.Heartbeat, wait.Queue = ask.Token(), w.d, "" // in a queue it would count from a taking
		case "token":
			wait.Token = ask.Token()
		case "child":
			wait.Kind, wait.Child = grow.Nested, &grow.Child{ID: "of child", Flow: "timer"}
		}
		return add(wait)
	})), nil
}

func (w waitsOf) engine(store backend.Store, name string) (*engine.Engine, error) {
	node, err := w.Flow(context.Background(), &storage.Run{Flow: name})
	if err != nil {
		return nil, err
	}
	return engine.New(node, store, engine.WithTasks(w), engine.WithCatalog(w))
}

// serveWaits serves runs in the other process until it is killed.
func serveWaits(dir, wait string) error {
	d, err := time.ParseDuration(wait)
	if err != nil {
		return err
	}
	go func() { // it outlives the test by nothing
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	ctx := context.Background()
	store, err := sqlstore.Open(ctx, filepath.Join(dir, "ebb.db"))
	if err != nil {
		return err
	}
	eng, err := waitsOf{dir, d}.engine(store, "timer")
	if err != nil {
		return err
	}
	return eng.Serve(ctx)
}

// serve starts the other process, and returns a function that kills it.
func (w waitsOf) serve(t *testing.T) (kill func()) {
	t.Helper()
	return childtest.Start(t, "ENGINE_CHILD="+w.dir, "ENGINE_WAIT="+w.d.String()).Kill
}

// wentOn returns when the runs continued, as they recorded.
func (w waitsOf) wentOn(t *testing.T) map[string][]time.Time {
	t.Helper()
	out := map[string][]time.Time{}
	f, err := os.Open(w.journal())
	if os.IsNotExist(err) {
		return out
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }() // it was only read
	for lines := bufio.NewScanner(f); lines.Scan(); {
		at := strings.LastIndexByte(lines.Text(), ' ')
		micros, err := strconv.ParseInt(lines.Text()[at+1:], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		out[lines.Text()[:at]] = append(out[lines.Text()[:at]], time.UnixMicro(micros))
	}
	return out
}

// allAre waits until all runs are in the expected state. It returns false if a run has continued too early.
func (w waitsOf) allAre(t *testing.T, store backend.Store, early bool, is func(*storage.Run) bool) bool {
	t.Helper()
	for {
		are := true
		for _, id := range waitingRuns {
			run, err := store.Run(t.Context(), id)
			are = are && err == nil && is(&run)
		}
		if early && len(w.wentOn(t)) > 0 {
			return false
		}
		if are {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// waitingRuns are the runs, each of the flow of its name, except the one that another run started.
var waitingRuns = []string{"timer", "retry", "deadline", "heartbeat", "token", "signal", "child", "of child"}

// TestKilledWhileWaiting kills the process that serves runs in the middle of each
// kind of wait, and starts another one: each run resumes once, and not before its
// time. Messages that came while no process served count.
//
// Guarantee (Waiting and time): After a kill in each kind of wait, a run continues once, on time, with what arrived
// meanwhile.
func TestKilledWhileWaiting(t *testing.T) {
	t.Parallel()
	for d := 2 * time.Second; ; d *= 2 { // until it hits the middle of the waits on a fast enough machine
		if waitsSurvive(t, waitsOf{t.TempDir(), d}) {
			return
		}
	}
}

// waitsSurvive returns false if a run continued before the process could be killed.
func waitsSurvive(t *testing.T, w waitsOf) bool {
	t.Helper()
	store, err := sqlstore.Open(t.Context(), filepath.Join(w.dir, "ebb.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	kill := w.serve(t)
	defer func() { kill() }()
	for _, id := range waitingRuns {
		if id == "of child" {
			continue
		}
		eng, err := w.engine(store, id)
		if err == nil {
			err = eng.Start(t.Context(), id)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	waits := func(run *storage.Run) bool { return run.Seq > 0 && run.Owner == "" && run.State == states.FlowRunning }
	if !w.allAre(t, store, true, waits) {
		return false
	}
	due := map[string]time.Time{}
	for _, id := range waitingRuns {
		run, err := store.Run(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		due[id] = run.Due
	}
	kill()
	if len(w.wentOn(t)) > 0 {
		return false
	}
	if err := store.Send(t.Context(), storage.Message{Run: "signal", Kind: grow.MessageSignal, Name: "go", Body: atom.MustEncode("x")}); err != nil {
		t.Fatal(err)
	}
	tokens, err := store.RunTokens(t.Context(), "token")
	if err != nil || len(tokens) != 1 {
		t.Fatal(tokens, err)
	}
	if _, err := store.EndToken(t.Context(), tokens[0].ID, storage.TokenEnd{Result: atom.Null}); err != nil {
		t.Fatal(err)
	}
	kill = w.serve(t)
	w.allAre(t, store, false, func(run *storage.Run) bool { return run.State.Ended() })
	kill()
	wentOn := w.wentOn(t)
	for _, id := range waitingRuns {
		run, err := store.Run(t.Context(), id)
		_, messages, errWakeups := store.Messages(t.Context(), id, 0)
		switch at := wentOn[id]; {
		case err != nil || errWakeups != nil:
			t.Error(err, errWakeups)
		case run.State != states.FlowSuccess || len(at) != 1 || len(messages) > 0:
			t.Errorf("%s is %v, went on at %v, has %d messages left; want that it went on once", id, run.State, at, len(messages))
		case at[0].Before(due[id].Truncate(time.Millisecond)):
			t.Errorf("%s went on at %v, before it was due at %v", id, at[0], due[id])
		}
	}
	return true
}

package engine_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// counts is a language that counts its calls, and remembers only the number. Each number is an event.
var counts = lang(func(ask *grow.Ask) grow.Growth {
	n := 0
	if ask.Memory != nil {
		_ = ask.Memory.Decode(&n)
	}
	c := &ask.Cause
	g := grow.Growth{Listen: true}
	if !c.Call && c.Kind != grow.Begin {
		return g
	}
	if c.Call {
		n++
	}
	g.Memory = atom.MustEncode(n)
	g.Events = []grow.Event{{Type: c.Kind.String() + " " + c.Name}}
	g.Reply = atom.MustEncode(n)
	switch {
	case c.Kind == grow.Taken:
		g.Note = atom.MustEncode("taken by " + text(c.Result))
	case c.Kind != grow.Asked:
		var bad string
		if _ = c.Result.Decode(&bad); bad == "bad" {
			g.Refuse = atom.MustEncode("a bad result")
		}
	case c.Name == "refuse":
		g.Refuse = c.Input
	case c.Name == "panic":
		panic("asked to")
	case c.Name == "work":
		g.Add = []grow.Spec{{Name: fmt.Sprint("w", n), Task: "do:w"}}
	case c.Name == "task":
		for i, priority := range ints(c.Input) {
			g.Add = append(g.Add, grow.Spec{
				Name: fmt.Sprint("t", n, ".", i), Token: ask.Token(), Queue: "q", Priority: int32(priority),
				Input: atom.MustEncode(i), Heartbeat: time.Minute,
			})
		}
	case c.Name == "give up":
		g.GiveUp = []string{"t1.0"}
	case c.Name == "end":
		g.End = &grow.End{Value: atom.MustEncode(n)}
	}
	return g
})

func text(v atom.Value) string { return string(v.JSON()) }

func ints(v atom.Value) (list []int) {
	_ = v.Decode(&list)
	return list
}

// A callee is a run of counts, with a server that answers calls to it.
type callee struct {
	*engine.Server

	t     *testing.T
	store backend.Store
	root  flow.Node
}

func newCallee(t *testing.T, store backend.Store, opts ...engine.Option) *callee {
	t.Helper()
	root := flow.Growing("counts", counts)
	s, err := engine.NewServer(engine.Flows(root), store, engine.WithEngine(opts...))
	if err != nil {
		t.Fatal(err)
	}
	return &callee{s, t, store, root}
}

// start creates a run that no process drives.
func (c *callee) start(id string) {
	c.t.Helper()
	run, err := c.NewRun(c.root, id)
	if err == nil {
		err = c.Start(c.t.Context(), run)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *callee) ask(id, name string, body any) int {
	c.t.Helper()
	var n int
	reply, err := c.Call(c.t.Context(), id, name, atom.MustEncode(body))
	if err == nil {
		err = reply.Decode(&n)
	}
	if err != nil {
		c.t.Fatalf("%s: %v", name, err)
	}
	return n
}

func (c *callee) run(id string) storage.Run {
	c.t.Helper()
	run, err := c.store.Run(c.t.Context(), id)
	if err != nil {
		c.t.Fatal(err)
	}
	return run
}

// onStores runs a test on each kind of store.
func onStores(t *testing.T, test func(t *testing.T, store backend.Store)) {
	t.Helper()
	open := func(t *testing.T, dsn string) backend.Store {
		t.Helper()
		s, err := sqlstore.Open(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) { test(t, memstore.New()) })
	})
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, open(t, "sqlite:"+filepath.Join(t.TempDir(), "ebb.db")))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		dsn := postgrestest.DSN(t)
		if _, err := sqlstore.Migrate(t.Context(), dsn); err != nil {
			t.Fatal(err)
		}
		test(t, open(t, dsn))
	})
}

// TestCall calls a run that no process drives. The answer is durable when the call returns. A refused call changes
// nothing. Calls to runs that cannot answer return the reason.
//
// Guarantee (G1): The answer to a [call](../explanation/growth.md#a-call-is-answered-in-one-commit) is durable. A
// refused call changes nothing. Competing calls of two processes leave no gap and repeat nothing.
// Also: `TestCallsCompete`, `TestCallAfterChange`, `TestCallCrash`.
func TestCall(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, store backend.Store) {
		c := newCallee(t, store)
		c.start("r")
		for want := 1; want <= 3; want++ {
			if got := c.ask("r", "add", nil); got != want {
				t.Errorf("call %d was answered with %d", want, got)
			}
			run := c.run("r")
			if run.Owner != "" || run.Events != int64(want)+1 || text(run.Memory) != fmt.Sprint(want) || !run.Due.IsZero() {
				t.Errorf("after call %d: owner %q, %d events, memory %s, due %v", want, run.Owner, run.Events, run.Memory, run.Due)
			}
		}
		before := c.run("r")
		_, err := c.Call(t.Context(), "r", "refuse", atom.MustEncode("no"))
		refused, is := errors.AsType[*engine.RefusedCall](err)
		if !is || refused.Run != "r" || text(refused.Value) != `"no"` {
			t.Errorf("refused: %v", err)
		}
		if after := c.run("r"); after.Seq != before.Seq || after.Fence != before.Fence {
			t.Errorf("a refused call wrote: %d, %d", before.Seq, after.Seq)
		}
		c.ask("r", "work", nil)
		if run := c.run("r"); run.Due.IsZero() || run.Owner != "" {
			t.Errorf("the run has something to execute, and is due at %v", run.Due)
		}
		c.start("ends")
		c.ask("ends", "end", nil)
		if run := c.run("ends"); run.State != states.FlowSuccess || text(run.Output.Data) != "1" {
			t.Errorf("the run is %v", run.State)
		}
		expect := func(id string, want error) {
			t.Helper()
			if _, err := c.Call(t.Context(), id, "add", nil); !errors.Is(err, want) {
				t.Errorf("call to %q: %v; want %v", id, err, want)
			}
		}
		expect("ends", engine.ErrEnded)
		expect("none", storage.ErrNotFound)
		expect("", storage.ErrInvalid)
		c.start("held")
		if _, err := engine.Suspend(t.Context(), store, "held"); err != nil {
			t.Fatal(err)
		}
		expect("held", engine.ErrSuspended)
		c.start("panics")
		if _, err := c.Call(t.Context(), "panics", "panic", nil); !errors.As(err, new(*atom.Failure)) {
			t.Errorf("a panic is %v", err)
		}
		if run := c.run("panics"); run.State != states.FlowFailure {
			t.Errorf("after a panic the run is %v", run.State)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		c.start("left")
		if _, err := c.Call(gone, "left", "add", nil); !errors.Is(err, context.Canceled) || c.run("left").Seq != 0 {
			t.Errorf("a caller that has left: %v", err)
		}
	})
}

// TestCallsCompete lets many callers in two processes call one run. Each call is answered once: the counts have no gap
// and no repetition.
func TestCallsCompete(t *testing.T) {
	t.Parallel()
	const callers, calls = 8, 10
	compete := func(t *testing.T, stores ...backend.Store) {
		t.Helper()
		var processes []*callee
		for _, s := range stores {
			processes = append(processes, newCallee(t, s))
		}
		processes[0].start("r")
		var mu sync.Mutex
		var all []int
		var wg sync.WaitGroup
		for i := range callers {
			wg.Go(func() {
				last := 0
				for range calls {
					n := processes[i%len(processes)].ask("r", "add", nil)
					if n <= last {
						t.Errorf("%d was answered after %d", n, last)
					}
					last = n
					mu.Lock()
					all = append(all, n)
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		slices.Sort(all)
		for i, n := range all {
			if n != i+1 {
				t.Fatalf("the answers are %v", all)
			}
		}
		if run := processes[0].run("r"); run.Events != callers*calls+1 {
			t.Errorf("%d events", run.Events)
		}
	}
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			records := memstore.New()
			compete(t, records, records.Join())
		})
	})
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		dsn := "sqlite:" + filepath.Join(t.TempDir(), "ebb.db")
		var stores []backend.Store
		for range 2 {
			s, err := sqlstore.Open(t.Context(), dsn)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			stores = append(stores, s)
		}
		compete(t, stores...)
	})
}

// bodies are tasks that call a function.
type bodies func(context.Context) error

func (b bodies) Task(string) (atom.Body, error) {
	return b, nil
}

func (bodies) Reverts() bool { return false }

func (bodies) Revert(context.Context, atom.Values, atom.Outcome[atom.Value]) (atom.Value, error) {
	return atom.Null, nil
}

func (b bodies) Execute(ctx context.Context, _ atom.Values) (atom.Value, error) {
	return atom.Null, b(ctx)
}

// TestCallWhileDriven calls a run that is executing a task. The driver of the run answers. It also shows that a server
// executes the nodes that the answer adds.
func TestCallWhileDriven(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, store backend.Store) {
		begun, goOn := make(chan struct{}), make(chan struct{})
		c := newCallee(t, store, engine.WithTasks(bodies(func(context.Context) error {
			close(begun)
			<-goOn
			return nil
		})))
		c.start("r")
		c.ask("r", "work", nil)
		ctx, stop := context.WithCancel(t.Context())
		over := make(chan error, 1)
		go func() { over <- c.Serve(ctx) }()
		<-begun
		owned := c.run("r").Owner
		if n := c.ask("r", "add", nil); n != 2 || owned == "" || c.run("r").Owner != owned {
			t.Errorf("%d, owner %q, then %q", n, owned, c.run("r").Owner)
		}
		if _, err := c.Call(t.Context(), "r", "refuse", atom.Null); !errors.As(err, new(*engine.RefusedCall)) {
			t.Error(err)
		}
		close(goOn)
		if n := c.ask("r", "end", nil); n != 3 {
			t.Error(n)
		}
		if run, err := engine.Await(t.Context(), store, "r"); err != nil || run.State != states.FlowSuccess {
			t.Error(run.State, err)
		}
		stop()
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
}

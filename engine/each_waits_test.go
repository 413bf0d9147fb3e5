package engine_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// TestEachAwaitsTokens lets another party end each item.
func TestEachAwaitsTokens(t *testing.T) {
	eachStore(t, func(t *testing.T, store backend.Store) {
		tokens := make(chan string, 2)
		ask := atom.Func("ask", func(ctx context.Context, _ string) (string, error) {
			tokens <- atom.Token(ctx)
			return "", atom.ErrDeferred
		}, atom.Deferrable(atom.Deferral{}))
		people := atom.NewKey[[]string]("people")
		e := newEngine(t, flow.Each("answers", people, ask), engine.WithInputs(people), engine.WithStore(store))
		go func() {
			for i := range 2 {
				_, _ = store.EndToken(context.WithoutCancel(t.Context()), <-tokens, storage.TokenEnd{Result: atom.MustEncode("yes" + strconv.Itoa(i))})
			}
		}()
		res, err := e.Run(t.Context(), "r", engine.With(people, []string{"ann", "bob"}))
		if err != nil {
			t.Fatal(err)
		}
		v, _ := res.Value("answers")
		if got := v.String(); got != `["yes0","yes1"]` && got != `["yes1","yes0"]` {
			t.Errorf("got %v", got)
		}
	})
}

// TestEachChecksWhatEndsAnItem refuses a result of the wrong type for the token of an item, which keeps waiting.
func TestEachChecksWhatEndsAnItem(t *testing.T) {
	eachStore(t, func(t *testing.T, store backend.Store) {
		tokens := make(chan string, 1)
		ask := atom.Func("ask", func(ctx context.Context, _ string) (int, error) {
			tokens <- atom.Token(ctx)
			return 0, atom.ErrDeferred
		}, atom.Deferrable(atom.Deferral{}))
		people := atom.NewKey[[]string]("people")
		root := flow.Linear("f", flow.Each("ages", people, ask))
		e := newEngine(t, root, engine.WithInputs(people), engine.WithStore(store))
		if err := e.Start(t.Context(), "r", engine.With(people, []string{"ann"})); err != nil {
			t.Fatal(err)
		}
		server, err := engine.NewServer(engine.Flows(root), store)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- server.Serve(ctx) }()
		token := <-tokens
		_, err = store.EndToken(ctx, token, storage.TokenEnd{Result: atom.MustEncode("old")})
		if !errors.Is(err, storage.ErrInvalid) || !strings.Contains(err.Error(), `run "r/ages": no result of 0`) {
			t.Errorf("got %v", err)
		}
		if _, err := server.CompleteTask(ctx, token, 0, atom.MustEncode("old")); !errors.Is(err, storage.ErrInvalid) {
			t.Errorf("got %v", err)
		}
		if _, err := server.CompleteTask(ctx, token, 0, atom.MustEncode(70)); err != nil {
			t.Error(err)
		}
		if run := awaitEnd(t, store, "r"); run.State != states.FlowSuccess {
			t.Errorf("it is %v: %v", run.State, run.Failure)
		}
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}

// TestEachIsCancelled cancels an order in the middle of its lines, which are put back.
func TestEachIsCancelled(t *testing.T) {
	eachStore(t, func(t *testing.T, store backend.Store) {
		w := newWarehouse()
		reached := make(chan struct{})
		var once sync.Once
		body := atom.Pair("pick", func(ctx context.Context, in toPick) (pick, error) {
			if in.SKU == "s3" {
				once.Do(func() { close(reached) })
				<-ctx.Done()
				return pick{}, ctx.Err()
			}
			return picker{w}.Execute(ctx, in)
		}, picker{w}.Revert)
		e := orderEngine(t, flow.Linear("order", flow.Each("picks", linesKey, body).WithParallelism(1)), engine.WithStore(store))
		go func() {
			<-reached
			_, _ = e.Command(context.WithoutCancel(t.Context()), "o", engine.Cancel("changed my mind"))
		}()
		_, err := onOrder(t, e, "o", lines(10))
		if _, is := errors.AsType[*engine.RevertedError](err); !is {
			t.Fatalf("got %v", err)
		}
		if diff := cmp.Diff([]string{"pick s0", "pick s1", "pick s2", "put back s2", "put back s1", "put back s0"}, w.lines); diff != "" {
			t.Error(diff)
		}
	})
}

// TestEachIsServed lets a server of one registered flow run orders of different sizes.
func TestEachIsServed(t *testing.T) {
	eachStore(t, func(t *testing.T, store backend.Store) {
		root := flow.Linear("order", flow.Each("picks", linesKey, atom.Task("pick", picker{newWarehouse()})), bins())
		e := orderEngine(t, root, engine.WithStore(store))
		for _, n := range []int{3, 40, 0} {
			if err := e.Start(t.Context(), "o"+strconv.Itoa(n), engine.With(linesKey, lines(n)), engine.With(orderKey, "o")); err != nil {
				t.Fatal(err)
			}
		}
		server, err := engine.NewServer(engine.Flows(root), store)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- server.Serve(ctx) }()
		for _, n := range []int{3, 40, 0} {
			if run := awaitEnd(t, store, "o"+strconv.Itoa(n)); run.State != states.FlowSuccess {
				t.Errorf("%d items: %v", n, run.State)
			}
		}
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}

// awaitEnd returns a run once it has ended.
func awaitEnd(t *testing.T, store backend.Store, id string) storage.Run {
	t.Helper()
	for {
		changed := store.Changed()
		run, err := store.Run(t.Context(), id)
		if err != nil || run.State.Ended() {
			if err != nil {
				t.Fatal(err)
			}
			return run
		}
		select {
		case <-changed:
		case <-t.Context().Done():
			t.Fatalf("run %q is %v", id, run.State)
		}
	}
}

package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

type reservation struct {
	Seat string `json:"seat"`
}

// booked is a flow with two tasks. Workers execute and undo the first. The second one fails.
func booked() flow.Node {
	return flow.Linear("trip",
		atom.RemotePair[struct {
			City string `json:"city"`
		}, reservation]("book", "book", "unbook", atom.Timeout(time.Hour)),
		atom.Func("pay", func(context.Context, reservation) (struct{}, error) {
			return struct{}{}, atom.Errorf("NoMoney", "the card is refused")
		}),
	)
}

// take takes work for a minute.
func take(t *testing.T, store backend.Store, queues ...string) *engine.Work {
	t.Helper()
	w, err := engine.LeaseWork(t.Context(), store, storage.WorkRequest{Queues: queues, Worker: "w", Lease: time.Minute}, time.Hour, nil)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func finish(t *testing.T, store backend.Store, w *engine.Work, result any) {
	t.Helper()
	if _, err := store.EndToken(t.Context(), w.Token, storage.TokenEnd{Take: w.Take, Result: atom.MustEncode(result)}); err != nil {
		t.Errorf("%s: %v", w.Path, err)
	}
}

// TestRemote: workers execute and undo tasks, under the keys that other tasks have. A result of the wrong type fails
// the task.
//
// Guarantee (Workers): Workers undo what workers did, under the same keys, also in an unloaded or suspended run.
// Also: `TestRemoteUnloaded`, `TestRemoteSuspended`, `TestRemoteMachine`, `TestRemoteSM4C`.
func TestRemote(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		eng := newEngine(t, booked(), append(opts, engine.WithInputs(atom.NewKey[string]("city")))...)
		store := eng.Store()
		var done []*engine.Work
		go func() {
			w := take(t, store, "book", "unbook")
			done = append(done, w)
			finish(t, store, w, reservation{"7a"})
			w = take(t, store, "book", "unbook")
			done = append(done, w)
			finish(t, store, w, nil)
		}()
		_, err := eng.Run(t.Context(), "r", engine.With(atom.NewKey[string]("city"), "Rome"))
		if why := reverted(t, err); len(why.Failures) != 1 || why.Failures[0].Code != "NoMoney" {
			t.Errorf("undone because of %v", why)
		}
		synctest.Wait()
		in := atom.FromJSON([]byte(`{"city":"Rome"}`))
		want := []*engine.Work{
			{Queue: "book", Run: "r", Path: "book", Attempt: 1, Take: 1, Delivery: 1, Input: in},
			{Queue: "unbook", Run: "r", Path: "book", Attempt: 1, Take: 1, Delivery: 1, Input: in, Undoes: &engine.Undoes{
				Outcome: "done", Result: []byte(`{"seat":"7a"}`),
				Failures: []*atom.Failure{{Atom: "pay", Code: "NoMoney", Message: "the card is refused", Attempt: 1}},
			}},
		}
		for i, w := range done {
			if key := []string{"r/book/0", "r/book/0/revert"}[i]; w.Key() != key {
				t.Errorf("the key is %s, want %s", w.Key(), key)
			}
			if i == 0 && w.Deadline.IsZero() || w.Lease.IsZero() {
				t.Errorf("%s is due by %v and leased until %v", w.Queue, w.Deadline, w.Lease)
			}
			w.Token, w.Deadline, w.Lease = "", time.Time{}, time.Time{}
		}
		if diff := cmp.Diff(want, done); diff != "" {
			t.Errorf("work (-want +got):\n%s", diff)
		}
	})
}

// TestRemoteBadResult: a worker's result of the wrong type is refused, and the worker may give another.
func TestRemoteBadResult(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		eng := newEngine(t, flow.Linear("f", atom.Remote[struct{}, int]("count", "count", atom.As("n"))), opts...)
		go func() {
			work := take(t, eng.Store(), "count")
			_, err := eng.Store().EndToken(t.Context(), work.Token, storage.TokenEnd{Take: work.Take, Result: atom.MustEncode("seven")})
			if !errors.Is(err, storage.ErrInvalid) {
				t.Errorf("the store took a text for a number: %v", err)
			}
			finish(t, eng.Store(), work, 7)
		}()
		if _, err := eng.Run(t.Context(), "r"); err != nil {
			t.Error(err)
		}
	})
}

// TestRemoteUnloaded: a run whose work, or undo, waits for a worker has no owner. The process that takes it over finds
// it unchanged.
func TestRemoteUnloaded(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		store := memstore.New()
		opts = append(opts, engine.WithStore(store), engine.WithInputs(atom.NewKey[string]("city")))
		drive := func() error {
			_, err := newEngine(t, booked(), opts...).Run(t.Context(), "r", engine.With(atom.NewKey[string]("city"), "Rome"), engine.Unload())
			return err
		}
		waits := func(when string) {
			t.Helper()
			for range 3 { // taking the run over changes nothing
				if err := drive(); !errors.Is(err, engine.ErrWaiting) {
					t.Fatalf("%s: %v, want that it waits", when, err)
				}
			}
			tokens, err := store.RunTokens(t.Context(), "r")
			if err != nil || len(tokens) != 1 {
				t.Errorf("%s: %d tokens (%v)", when, len(tokens), err)
			}
		}
		waits("begun")
		book := take(t, store, "book")
		waits("taken")
		finish(t, store, book, reservation{"7a"})
		waits("done")
		unbook := take(t, store, "unbook")
		waits("undo taken")
		finish(t, store, unbook, nil)
		reverted(t, drive())
	})
}

// TestRemoteLease: a worker that sends no heartbeat loses its work to another worker. The
// store then refuses the first worker's calls, and the other's result stands. When no
// worker comes back, the attempt fails, and its outcome is unknown. Work that is given back is not lost.
func TestRemoteLease(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		eng := newEngine(t, flow.Linear("f", atom.Remote[struct{}, string]("a", "a", atom.As("x")),
			atom.RemotePair[struct{}, struct{}]("b", "b", "b")), opts...)
		store := eng.Store()
		ended := make(chan error)
		go func() {
			_, err := eng.Run(t.Context(), "r")
			ended <- err
		}()
		stopped := take(t, store, "a")
		other := take(t, store, "a") // waits until the lease has expired
		if other.Token != stopped.Token || other.Take != 2 || other.Attempt != 1 {
			t.Errorf("the other was given %+v", other)
		}
		if _, err := store.KeepToken(t.Context(), stopped.Token, storage.Heartbeat{Take: stopped.Take, Lease: time.Minute}); !errors.Is(err, storage.ErrTaken) {
			t.Errorf("it keeps what another has: %v", err)
		}
		if _, err := store.EndToken(t.Context(), stopped.Token, storage.TokenEnd{Take: stopped.Take, Result: atom.MustEncode("stale")}); !errors.Is(err, storage.ErrTaken) {
			t.Errorf("it ends what another has: %v", err)
		}
		finish(t, store, other, "fresh")
		for range 11 {
			w := take(t, store, "b")
			if _, err := engine.KeepToken(t.Context(), store, w.Token, storage.Heartbeat{Take: w.Take, GiveBack: true}); err != nil {
				t.Fatal(err)
			}
		}
		for n := range 10 {
			if w := take(t, store, "b"); w.Delivery != int64(n+1) || w.Undoes != nil {
				t.Errorf("taken %+v the %d. time", w, n+1)
			}
		}
		undo := take(t, store, "b")
		if undo.Undoes == nil || undo.Undoes.Outcome != "unknown" || undo.Undoes.Failures[0].Code != atom.CodeLost {
			t.Errorf("taken %+v, want the undo", undo)
		}
		finish(t, store, undo, nil)
		reverted(t, <-ended)
		a, err := store.Atom(t.Context(), "r", "a")
		if err != nil || a.Result.Data.String() != `"fresh"` {
			t.Errorf("a has %s (%v)", a.Result.Data, err)
		}
	})
}

// registry finds work for workers by the name of a resource.
type registry struct{}

func (registry) Task(name string) (atom.Body, error) { return atom.Work(name), nil }

// TestRemoteSuspended: an undo by a worker is not lost if the run is suspended meanwhile. The undo may end before or
// after the run is resumed.
func TestRemoteSuspended(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]bool{"ends meanwhile": false, "ends later": true} {
		t.Run(name, func(t *testing.T) {
			inEach(t, func(t *testing.T, opts ...engine.Option) {
				m, err := asl.Parse("trip", []byte(remoteMachine))
				if err != nil {
					t.Fatal(err)
				}
				for kind, root := range map[string]flow.Node{"Go": booked(), "ASL": m.Flow()} {
					testRemoteSuspended(t, kind, late, root, append(opts, engine.WithInputs(engine.AnyInput), engine.WithTasks(registry{}), engine.WithStore(memstore.New()))...)
				}
			})
		})
	}
}

func testRemoteSuspended(t *testing.T, kind string, late bool, root flow.Node, opts ...engine.Option) {
	t.Helper()
	eng := newEngine(t, root, opts...)
	store := eng.Store()
	ended := make(chan error)
	run := func(opts ...engine.RunOption) {
		_, err := eng.Run(t.Context(), "r", append(opts, engine.Input(atom.FromJSON([]byte(`{"city":"Rome"}`))))...)
		ended <- err
	}
	go run()
	finish(t, store, take(t, store, "book", "worker:book"), reservation{"7a"})
	if kind == "ASL" {
		pay := take(t, store, "worker:pay")
		if _, err := store.EndToken(t.Context(), pay.Token, storage.TokenEnd{Take: pay.Take, Failure: &atom.Failure{Code: "NoMoney"}}); err != nil {
			t.Error(err)
		}
	}
	undo := take(t, store, "unbook", "worker:unbook")
	if _, err := engine.Suspend(t.Context(), store, "r"); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, engine.ErrSuspended) {
		t.Fatalf("%s: %v, want that it is suspended", kind, err)
	}
	if !late {
		finish(t, store, undo, nil)
	}
	go run(engine.IgnoreSuspend())
	if late {
		synctest.Wait()
		finish(t, store, undo, nil)
	}
	reverted(t, <-ended)
}

// TestRefusedKeepsDue: a run waits for a worker until a deadline. It stays due although an engine with another flow
// took it over in between and refused it.
func TestRefusedKeepsDue(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		store := memstore.New()
		opts = append(opts, engine.WithStore(store))
		count := atom.Remote[struct{}, int]("count", "count", atom.As("n"), atom.ScheduleToStart(time.Hour))
		eng := newEngine(t, flow.Linear("f", count), opts...)
		if _, err := eng.Run(t.Context(), "r", engine.Unload()); !errors.Is(err, engine.ErrWaiting) {
			t.Fatal(err)
		}
		other := newEngine(t, flow.Linear("f", atom.Remote[struct{}, int]("other", "count")), opts...)
		if _, err := other.Run(t.Context(), "r"); !errors.Is(err, engine.ErrChanged) {
			t.Fatalf("the other flow: %v", err)
		}
		due, _, err := store.Due(t.Context(), backend.DueQuery{By: time.Now().Add(2 * time.Hour)})
		if err != nil || len(due) != 1 {
			t.Errorf("%d runs are due after the deadline (%v), want the one that waits", len(due), err)
		}
	})
}

// TestWorkerNames: a worker gets work whatever name it gives. The token has as much of the name as a store can keep.
func TestWorkerNames(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"": "?", "\x00": "?", "a\x00b\xffc": "abc", strings.Repeat("€", 100): strings.Repeat("€", 85),
	} {
		eng := newEngine(t, flow.Linear("f", atom.Remote[struct{}, string]("a", "a")))
		if _, err := eng.Run(t.Context(), "r", engine.Unload()); !errors.Is(err, engine.ErrWaiting) {
			t.Fatal(err)
		}
		w, err := engine.LeaseWork(t.Context(), eng.Store(), storage.WorkRequest{Queues: []string{"a"}, Worker: given, Lease: time.Minute}, 0, nil)
		if err != nil {
			t.Errorf("%.10q: %v", given, err)
			continue
		}
		if tok, err := eng.Store().Token(t.Context(), w.Token); err != nil || tok.Worker != want {
			t.Errorf("%.10q is %q, %v", given, tok.Worker, err)
		}
	}
}

package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// memo is the memory of these tests' languages: lines of text.
func memo(ask *grow.Ask, more ...string) []string {
	var lines []string
	if ask.Memory != nil {
		_ = ask.Memory.Decode(&lines)
	}
	return append(lines, more...)
}

func textOf(v atom.Value) (s string) {
	_ = v.Decode(&s)
	return s
}

// timer is a node that ends after the given time.
func timer(ask *grow.Ask, name string, after time.Duration) grow.Spec {
	return grow.Spec{Name: name, Kind: grow.Timer, Due: ask.Now.Add(after)}
}

// served serves flows for the given time, in virtual time.
func served(t *testing.T, store backend.Store, all flows, d time.Duration) {
	t.Helper()
	servedUntil(t, store, all, d, func() bool { return false })
}

// servedUntil serves flows for the given time, or until a condition holds.
func servedUntil(t *testing.T, store backend.Store, all flows, d time.Duration, over func() bool) {
	t.Helper()
	eng := newEngine(t, flow.Growing("unused", lang(func(*grow.Ask) grow.Growth { return done(nil) })),
		engine.WithStore(store), engine.WithCatalog(all))
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for ctx.Err() == nil {
			select {
			case <-time.After(time.Second):
				if over() {
					cancel()
				}
			case <-ctx.Done():
			}
		}
	}()
	if err := eng.Serve(ctx); err != nil && !errors.Is(err, engine.ErrStopped) {
		t.Log(err)
	}
	cancel()
	<-watched
}

// runOf reads a run that must exist.
func runOf(t *testing.T, store backend.Store, id string) storage.Run {
	t.Helper()
	run, err := store.Run(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// TestKey gives a key to one open run at a time: with a start, for a child, and for a retry.
func TestKey(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		waits := lang(func(ask *grow.Ask) grow.Growth {
			switch c := &ask.Cause; c.Kind {
			case grow.Begin:
				return grow.Growth{Listen: true}
			case grow.Told:
				return failure(&atom.Failure{Code: c.Name})
			default:
				return grow.Growth{}
			}
		})
		catalog := flows{"waits": flow.Growing("waits", waits)}
		opts = append(opts, engine.WithCatalog(catalog))
		eng := newEngine(t, catalog["waits"], opts...)
		parent := newEngine(t, flow.Growing("outer", nest(grow.Child{Flow: "waits", Key: "k"}, false)), append(opts, engine.WithStore(eng.Store()))...)
		ctx := t.Context()
		if _, err := eng.Run(ctx, "one", engine.Key("k"), engine.Unload()); !errors.Is(err, engine.ErrWaiting) {
			t.Fatal(err)
		}
		for what, start := range map[string]func() error{
			"Run":   func() error { _, err := eng.Run(ctx, "two", engine.Key("k")); return err },
			"Start": func() error { return eng.Start(ctx, "two", engine.Key("k")) },
		} {
			if taken, is := errors.AsType[*storage.KeyTakenError](start()); !is || taken.Run != "one" {
				t.Errorf("%s: got %v, want that run one has the key", what, taken)
			}
		}
		_, err := parent.Run(ctx, "p")
		if f, ok := errors.AsType[*atom.Failure](err); !ok || f.Code != atom.CodeKeyTaken {
			t.Errorf("a child with a key that is taken: %v", err)
		}
		if err := eng.Store().Send(ctx, storage.Message{ToKey: "k", Kind: "event", Name: "Enough"}); err != nil {
			t.Fatal(err)
		}
		_, err = eng.Run(ctx, "one")
		if failed(t, err).Failures[0].Code != "Enough" {
			t.Errorf("got %v", err)
		}
		if _, err := eng.Run(ctx, "two", engine.Key("k"), engine.Unload()); !errors.Is(err, engine.ErrWaiting) {
			t.Errorf("the key is not free after the end: %v", err)
		}
		if _, err := eng.Command(ctx, "one", engine.RetryFrom("")); !errors.Is(err, engine.ErrRefused) {
			t.Errorf("a run was retried whose key another run has: %v", err)
		}
	})
}

// ways is a flow that ends as its input says.
var ways = lang(func(ask *grow.Ask) grow.Growth {
	f := &atom.Failure{Code: "Ended"}
	switch textOf(ask.Run.Input) {
	case "failed":
		return failure(f)
	case "timed out":
		return grow.Growth{End: &grow.End{Failure: f, TimedOut: true}}
	case "cancelled":
		return grow.Growth{End: &grow.End{Failure: f, Cancelled: true}}
	case "later":
		if ask.Cause.Kind == grow.Begin {
			return add(timer(ask, "wait", 3*time.Minute))
		}
	}
	return done("out")
})

// TestRunEnd: a run learns how each of its child runs ended.
func TestRunEnd(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		inputs := []string{"succeeded", "failed", "timed out", "cancelled"}
		outer := lang(func(ask *grow.Ask) grow.Growth {
			c := &ask.Cause
			if c.Kind == grow.Begin {
				var g grow.Growth
				for _, in := range inputs {
					g.Add = append(g.Add, grow.Spec{Name: in, Kind: grow.Nested, Input: atom.MustEncode(in), Child: &grow.Child{Flow: "ways"}})
				}
				return g
			}
			lines := memo(ask, c.Name+": "+c.End.String())
			if len(lines) < len(inputs) {
				return grow.Growth{Memory: atom.MustEncode(lines)}
			}
			slices.Sort(lines)
			return done(lines)
		})
		eng := newEngine(t, flow.Growing("outer", outer), append(opts, engine.WithCatalog(flows{"ways": flow.Growing("ways", ways)}))...)
		res, err := eng.Run(t.Context(), "r")
		if err != nil || res.Output().String() != `["cancelled: cancelled","failed: failed","succeeded: succeeded","timed out: timed out"]` {
			t.Errorf("ended with %s, %v", res.Output(), err)
		}
	})
}

// TestLeaveAtEnd ends a run in three ways. Each time, its answer starts or leaves child runs and sends a message. All
// others are cancelled.
//
// Guarantee (Waiting and time): The answer that ends a run, or hears that it is stopped, may leave child runs running
// and send messages.
func TestLeaveAtEnd(t *testing.T) {
	t.Parallel()
	child := func(name string) grow.Spec {
		return grow.Spec{Name: name, Kind: grow.Nested, Input: atom.MustEncode("later"), Child: &grow.Child{Flow: "ways"}}
	}
	free := child("free")
	free.Child = &grow.Child{Flow: "ways", Detached: true}
	leaves := lang(func(ask *grow.Ask) grow.Growth {
		say := []grow.Message{{ToKey: "hears", Kind: "swap", Name: ask.Cause.Kind.String()}}
		switch c := &ask.Cause; {
		case c.Kind == grow.Begin && ask.Run.ID == "ends":
			return grow.Growth{
				Add: []grow.Spec{child("left"), child("dropped"), free}, Leave: []string{"left"}, Send: say, End: &grow.End{Value: atom.Null},
			}
		case c.Kind == grow.Begin:
			g := add(child("left"), child("dropped"), free, timer(ask, "wait", 3*time.Minute))
			if ask.Run.ID == "overdue" {
				g.Deadline = ask.Now.Add(time.Minute)
			}
			return g
		case c.Kind == grow.Overdue:
			return grow.Growth{Leave: []string{"left"}, Send: say, End: &grow.End{Failure: c.Failure, TimedOut: true}}
		case c.Kind == grow.Stopped:
			after := child("after")
			after.Child = &grow.Child{Flow: "ways", Detached: true}
			return grow.Growth{Add: []grow.Spec{after, child("ignored")}, Leave: []string{"left"}, Send: say}
		default:
			return grow.Growth{}
		}
	})
	for how, outcome := range map[string]storage.Outcome{
		"ends": storage.Succeeded, "overdue": storage.TimedOut, "stopped": storage.Cancelled,
	} {
		synctest.Test(t, func(t *testing.T) {
			all := family()
			all["leaves"], all["ways"] = flow.Growing("leaves", leaves), flow.Growing("ways", ways)
			store := memstore.New()
			for _, run := range []storage.Run{{ID: "hears", Flow: "hears", Key: "hears"}, {ID: how, Flow: "leaves"}} {
				run.Due = time.Now()
				if err := store.Create(t.Context(), run); err != nil {
					t.Fatal(err)
				}
			}
			go func() {
				time.Sleep(2 * time.Minute)
				if how == "stopped" {
					if err := engine.Send(t.Context(), store, how, engine.Abandon("enough")); err != nil {
						t.Error(err)
					}
				}
			}()
			served(t, store, all, 10*time.Minute)
			if run := runOf(t, store, how); run.Outcome != outcome {
				t.Errorf("%s: the run is %+v", how, run)
			}
			for name, want := range map[string]storage.Outcome{
				"left": storage.Succeeded, "dropped": storage.Cancelled, "free": storage.Succeeded,
			} {
				if run := runOf(t, store, how+"/"+name); run.Outcome != want {
					t.Errorf("%s: the run of %s ended with %v, want %v", how, name, run.Outcome, want)
				}
			}
			if how == "stopped" {
				if run := runOf(t, store, how+"/after"); run.Outcome != storage.Succeeded {
					t.Errorf("the run of after ended with %v", run.Outcome)
				}
				if _, err := store.Run(t.Context(), how+"/ignored"); !errors.Is(err, storage.ErrNotFound) {
					t.Errorf("the end of a run begins a run to wait for: %v", err)
				}
			}
			said := map[string]string{"ends": "begin", "overdue": "overdue", "stopped": "stopped"}[how]
			if got := runOf(t, store, "hears").Output.Data.String(); got != fmt.Sprintf(`["swap %s from %s"]`, said, how) {
				t.Errorf("%s: the message was %s", how, got)
			}
		})
	}
}

// TestContinuedCommand sends commands to a run that another run continues. A sender that can be told is refused. A
// command that was already sent reaches the successor.
func TestContinuedCommand(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		goesOn := flow.Growing("goes on", lang(func(ask *grow.Ask) grow.Growth {
			if ask.Run.Continues == "" {
				return grow.Growth{End: &grow.End{Successor: &grow.Child{Flow: "goes on"}}}
			}
			return add(timer(ask, "wait", time.Hour))
		}))
		store := memstore.New()
		eng := newEngine(t, goesOn, engine.WithStore(store), engine.WithCatalog(flows{"goes on": goesOn}))
		res, err := eng.Run(t.Context(), "r")
		if err != nil || res.Run.Outcome != storage.Continued || res.Output().String() != `"r~2"` {
			t.Fatalf("ended with %+v, %v", res, err)
		}
		if _, err := eng.Command(t.Context(), "r", engine.Cancel("enough")); !errors.Is(err, engine.ErrRefused) {
			t.Errorf("got %v, want that it names the successor", err)
		}
		if err := engine.Send(t.Context(), store, "r", engine.Abandon("enough")); err != nil {
			t.Fatal(err)
		}
		served(t, store, flows{"goes on": goesOn}, time.Minute)
		if run := runOf(t, store, "r~2"); run.Outcome != storage.Cancelled {
			t.Errorf("the successor is %+v", run)
		}
	})
}

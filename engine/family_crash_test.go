package engine_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// family are flows that use keys, successors and receipts together.
func family() flows {
	asks := lang(func(ask *grow.Ask) grow.Growth {
		c := &ask.Cause
		note := func(line string) grow.Growth {
			lines := memo(ask, line)
			g := grow.Growth{Memory: atom.MustEncode(lines), Listen: true}
			if len(lines) == 5 {
				g.Add = []grow.Spec{timer(ask, "late", time.Minute)} // until then, a repeated message would be heard
			}
			return g
		}
		switch {
		case c.Kind == grow.Begin:
			send := func(to, key, receipt string) grow.Message {
				return grow.Message{To: to, ToKey: key, Kind: "swap", Name: receipt, Receipt: receipt, Note: atom.MustEncode(receipt + "!")}
			}
			return grow.Growth{
				Listen: true,
				Add:    []grow.Spec{{Name: "chain", Kind: grow.Nested, Input: atom.MustEncode(1), Child: &grow.Child{Flow: "chain", Key: "chain"}}},
				Send: []grow.Message{
					send("", "hears", "heard"), send("nobody", "", "nobody"), send("ends", "ends", "ends"),
					send("nobody", "hears", "other"),
				},
			}
		case c.Kind == grow.Receipt && c.Failure != nil:
			return note(c.Name + " " + textOf(c.Note) + " " + c.Failure.Code)
		case c.Kind == grow.Receipt:
			return note(c.Name + " " + textOf(c.Note) + " " + textOf(c.Result))
		case c.Name == "chain":
			return note("chain " + textOf(c.Result) + " " + c.End.String())
		default:
			lines := memo(ask)
			slices.Sort(lines)
			return done(lines)
		}
	})
	hears := lang(func(ask *grow.Ask) grow.Growth {
		switch c := &ask.Cause; c.Kind {
		case grow.Begin:
			return add(timer(ask, "until", 3*time.Minute))
		case grow.Told:
			return grow.Growth{Memory: atom.MustEncode(memo(ask, string(c.Message)+" "+c.Name+" from "+c.From))}
		default:
			return done(memo(ask))
		}
	})
	chain := lang(func(ask *grow.Ask) grow.Growth {
		var n int
		_ = ask.Run.Input.Decode(&n)
		switch {
		case ask.Cause.Kind == grow.Begin:
			return add(timer(ask, "wait", time.Second))
		case n < 4:
			return grow.Growth{End: &grow.End{Successor: &grow.Child{Flow: "chain", Key: ask.Run.Key, Input: atom.MustEncode(n + 1)}}}
		default:
			return done(fmt.Sprint("last, after ", ask.Run.Continues))
		}
	})
	return flows{
		"asks": flow.Growing("asks", asks), "hears": flow.Growing("hears", hears), "chain": flow.Growing("chain", chain),
		"ends": flow.Growing("ends", lang(func(*grow.Ask) grow.Growth { return done(nil) })),
	}
}

// checkFamily checks how the runs of family ended.
func checkFamily(t *testing.T, store backend.Store, when string) {
	t.Helper()
	var got []string
	r := runOf(t, store, "r")
	if !r.State.Ended() {
		_, inbox, err := backend.AllMessages(t.Context(), store, "r")
		t.Fatalf("%s: the run has not ended: %+v\ninbox: %+v, %v", when, r, inbox, err)
	}
	if err := r.Output.Data.Decode(&got); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"chain last, after r/chain~3 succeeded", "ends ends! Ebb.Undelivered", "heard heard! hears", "nobody nobody! Ebb.Undelivered",
		"other other! Ebb.Undelivered",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: the sender heard (-want +got):\n%s", when, diff)
	}
	if got := runOf(t, store, "hears").Output.Data.String(); got != `["swap heard from r"]` {
		t.Errorf("%s: the receiver heard %s", when, got)
	}
	id := "r/chain"
	for n := 2; n <= 4; n++ {
		run, next := runOf(t, store, id), fmt.Sprint("r/chain~", n)
		if run.Outcome != storage.Continued || textOf(run.Output.Data) != next || run.Parent != "r" || run.Key != "chain" {
			t.Errorf("%s: the run %s is %+v", when, id, run)
		}
		id = next
	}
	if run := runOf(t, store, id); run.Outcome != storage.Succeeded || run.Continues != "r/chain~3" {
		t.Errorf("%s: the last run is %+v", when, run)
	}
	for _, key := range []string{"boss", "chain", "ends", "hears"} {
		if run, err := store.OpenRun(t.Context(), key); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("%s: the key %q is held by %q, %v", when, key, run, err)
		}
	}
}

// startFamily creates the runs of family.
func startFamily(t *testing.T, store backend.Store) {
	t.Helper()
	for _, run := range []storage.Run{
		{ID: "ends", Flow: "ends", Key: "ends"}, {ID: "hears", Flow: "hears", Key: "hears"}, {ID: "r", Flow: "asks", Key: "boss"},
	} {
		run.Due = time.Now()
		if err := store.Create(t.Context(), run); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFamilyCrash lets the process die before each commit in turn. A receipt arrives once, a chain of successors is one
// child for its parent, and no key is left.
//
// Guarantee (Waiting and time): A run that continues as another ends in the commit that creates the other. Its parent
// waits for the last one.
// Also: (deaths), `TestContinuedCommand`.
func TestFamilyCrash(t *testing.T) {
	t.Parallel()
	died := true
	for n := 0; died; n++ {
		synctest.Test(t, func(t *testing.T) {
			records := memstore.New()
			startFamily(t, records)
			process := dies(records.Join(), n)
			servedUntil(t, process, family(), 5*time.Minute, process.dead) // no time passes after the death of a process
			if err := process.Close(); err != nil {
				t.Error(err)
			}
			died = process.dead()
			if died {
				served(t, records, family(), 5*time.Minute)
			}
			checkFamily(t, records, fmt.Sprint("after ", n, " commits"))
		})
		if t.Failed() || n > 200 {
			t.Fatalf("stopped after %d commits", n)
		}
	}
}

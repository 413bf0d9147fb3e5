package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
)

type parcel struct {
	Order string `json:"order"`
}

type label struct {
	Label string `json:"label"`
}

// labels is a flow that prints a label and hands over the parcel.
func labels(w *warehouse, fails *bool) *flow.LinearFlow {
	printed := atom.Pair("print", func(_ context.Context, in parcel) (label, error) {
		w.note("print " + in.Order)
		return label{"L-" + in.Order}, nil
	}, func(_ context.Context, in parcel, _ atom.Outcome[label]) error {
		w.note("tear up " + in.Order)
		return nil
	})
	hand := atom.Func("hand over", func(_ context.Context, in label) (struct{}, error) {
		if *fails {
			return struct{}{}, atom.Errorf("NoCourier", "nobody came")
		}
		w.note("hand over " + in.Label)
		return struct{}{}, nil
	})
	return flow.Linear("labels", printed, hand)
}

func bill(w *warehouse, fails bool) *atom.Atom {
	return atom.Func("bill", func(_ context.Context, in label) (struct{}, error) {
		if fails {
			return struct{}{}, errors.New("no money")
		}
		w.note("bill " + in.Label)
		return struct{}{}, nil
	})
}

// TestRunOfAFlow runs another flow as an atom, with the atom's input and output. The child run is undone with its
// parent, which its row names.
//
// Guarantee (Waiting and time): The run of a `flow.Run`, or of a `flow.Each`'s items, is undone with its parent, the
// last item first.
// Also: `TestEachIsUndone`, `TestEachOfAFlow`.
func TestRunOfAFlow(t *testing.T) {
	eachStore(t, func(t *testing.T, store backend.Store) {
		for _, c := range []struct {
			id            string
			inside, after bool
			want          []string
			failure       string
		}{
			{"good", false, false, []string{"print good", "hand over L-good", "bill L-good"}, ""},
			{"inside", true, false, []string{"print inside", "tear up inside"}, "ship/hand over: NoCourier: nobody came"},
			{"after", false, true, []string{"print after", "hand over L-after", "tear up after"}, "bill: Error: no money"},
		} {
			w := newWarehouse()
			root := flow.Linear("order", flow.Run[parcel, label]("ship", labels(w, &c.inside)), bill(w, c.after))
			e := newEngine(t, root, engine.WithStore(store), engine.WithInputs(orderKey))
			_, err := e.Run(t.Context(), c.id, engine.With(orderKey, c.id))
			reverted, is := errors.AsType[*engine.RevertedError](err)
			if c.failure == "" && err != nil || c.failure != "" && (!is || reverted.Failures[0].Error() != c.failure) {
				t.Fatalf("%s: %v", c.id, err)
			}
			if diff := cmp.Diff(c.want, w.lines); diff != "" {
				t.Errorf("%s: %s", c.id, diff)
			}
			run, err := store.Run(t.Context(), c.id+"/ship")
			want := states.FlowSuccess
			if c.failure != "" {
				want = states.FlowReverted
			}
			if err != nil || run.State != want || run.Parent != c.id || run.Flow != "labels" || run.Structure == "" {
				t.Errorf("%s: the child is %v, of %q, %v", c.id, run.State, run.Parent, err)
			}
		}
	})
}

// TestRunIsTriedAgain starts another run in each try of a retry around it.
func TestRunIsTriedAgain(t *testing.T) {
	w, fails := newWarehouse(), true
	hand := atom.Func("try", func(ctx context.Context, _ struct{}) (struct{}, error) {
		fails = atom.CurrentCall(ctx).Incarnation == 0
		return struct{}{}, nil
	})
	root := flow.Linear("order", hand, flow.Run[parcel, label]("ship", labels(w, &fails))).WithRetry(atom.Times(2, atom.Backoff{}))
	e := newEngine(t, root, engine.WithInputs(orderKey))
	if _, err := e.Run(t.Context(), "o", engine.With(orderKey, "o")); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]states.Flow{"o/ship": states.FlowReverted, "o/ship@2": states.FlowSuccess} {
		if run, err := e.Store().Run(t.Context(), id); err != nil || run.State != want {
			t.Errorf("run %q is %v, %v", id, run.State, err)
		}
	}
}

// TestRunDetached starts a run for which no other run waits. A server drives it, and undoing its parent does not change
// it.
func TestRunDetached(t *testing.T) {
	eachStore(t, func(t *testing.T, store backend.Store) {
		w, no := newWarehouse(), false
		root := flow.Linear("order", flow.Run[parcel, string]("ship", labels(w, &no), atom.As("shipment")).Detached(),
			atom.Func("fails", func(_ context.Context, in struct {
				Shipment string `json:"shipment"`
			},
			) (struct{}, error) {
				return struct{}{}, errors.New("after " + in.Shipment)
			}))
		e := newEngine(t, root, engine.WithStore(store), engine.WithInputs(orderKey))
		_, err := e.Run(t.Context(), "o", engine.With(orderKey, "o"))
		if err == nil || !strings.Contains(err.Error(), "after o/ship") {
			t.Fatalf("got %v", err)
		}
		var open []string
		for id, err := range e.Detached(t.Context(), "o") {
			if err != nil {
				t.Fatal(err)
			}
			open = append(open, id)
		}
		if diff := cmp.Diff([]string{"o/ship"}, open); diff != "" {
			t.Errorf("detached: %s", diff)
		}
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- e.Serve(ctx) }()
		if run := awaitEnd(t, store, "o/ship"); run.State != states.FlowSuccess {
			t.Errorf("the detached run is %v", run.State)
		}
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff([]string{"print o", "hand over L-o"}, w.lines); diff != "" {
			t.Error(diff)
		}
	})
}

// TestRunKeepsSecrets masks in the child the values that its atoms mark as secret, and in the parent the results of
// these.
func TestRunKeepsSecrets(t *testing.T) {
	type card struct {
		Card string `json:"card"`
	}
	key := atom.NewKey[string]("card")
	child := flow.Linear("pay", atom.Func("charge", func(_ context.Context, in card) (card, error) { return in, nil }, atom.Secret("card")))
	e := newEngine(t, flow.Linear("order", flow.Run[card, card]("pay it", child)), engine.WithInputs(key))
	if _, err := e.Run(t.Context(), "o", engine.With(key, "4711")); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"o", "o/pay it"} {
		run, err := e.Store().Run(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if got := run.Secrets.Mask("", atom.MustEncode(card{"4711"})).String(); got != `{"card":"***"}` {
			t.Errorf("run %q shows %s", id, got)
		}
	}
	skus := atom.NewKey[[]string]("skus")
	secret := atom.Func("look up", func(_ context.Context, sku string) (string, error) { return "pin of " + sku, nil }, atom.Secret())
	e = newEngine(t, flow.Each("pins", skus, secret), engine.WithInputs(skus))
	if _, err := e.Run(t.Context(), "o", engine.With(skus, []string{"a"})); err != nil {
		t.Fatal(err)
	}
	for id, path := range map[string]string{"o": "pins", "o/pins": "0"} {
		run, err := e.Store().Run(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if got := run.Secrets.Mask(path, atom.MustEncode("pin")).String(); got != `"***"` {
			t.Errorf("run %q shows %s", id, got)
		}
	}
}

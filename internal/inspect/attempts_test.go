package inspect_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/storage/memstore"
)

// fullTwice returns the function of a task that takes a second of virtual time. Its first two calls fail.
func fullTwice() func(context.Context, struct{}) (string, error) {
	calls := 0
	return func(context.Context, struct{}) (string, error) {
		time.Sleep(time.Second)
		if calls++; calls < 3 {
			return "", atom.Errorf("Full", "call %d", calls)
		}
		return "room", nil
	}
}

// TestAttempts lists the attempts of an atom and of its revert, with what each came to.
//
// Guarantee (Waiting and time): The history keeps the failure of each attempt, also of those that were retried.
func TestAttempts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		undos := 0
		book := atom.Pair("book", fullTwice(), func(context.Context, struct{}, atom.Outcome[string]) error {
			time.Sleep(2 * time.Second)
			if undos++; undos < 2 {
				return atom.Errorf("Busy", "undo %d", undos)
			}
			return nil
		}, atom.Attempts(5, atom.Constant(time.Minute)), atom.RevertAttempts(3, atom.Constant(0)))
		fails := atom.Func("fails", func(context.Context, struct{}) (struct{}, error) {
			return struct{}{}, atom.Errorf("No", "no")
		})
		store := memstore.New()
		e, err := engine.New(flow.Linear("order", book, fails), store)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Run(t.Context(), "o"); err == nil {
			t.Fatal("it did not fail")
		}
		run, err := store.Run(t.Context(), "o")
		if err != nil {
			t.Fatal(err)
		}
		a, err := store.Atom(t.Context(), "o", "book")
		if err != nil {
			t.Fatal(err)
		}
		all, more, err := inspect.AttemptsOf(t.Context(), store, &run, &a)
		if err != nil || more {
			t.Fatal(more, err)
		}
		var got []string
		for _, one := range all {
			took := "?"
			if !one.Began.IsZero() {
				took = one.Ended.Sub(one.Began).String()
			}
			what := fmt.Sprint(one.Number, " ", one.Undo, " ", took, " ", one.Result)
			if one.Retried {
				what += " retried"
			}
			if one.Failure != nil {
				what += " " + one.Failure.Message
			}
			got = append(got, what)
		}
		want := []string{"1 false 1s  retried call 1", "2 false 1s  retried call 2", `3 false 1s "room"`, "2 true 4s "}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		for v, err := range inspect.Visits(t.Context(), store, &run, nil, "book") {
			if err != nil || len(v.Attempts) != 3 || v.Ended.Sub(v.Started) != 2*time.Minute+3*time.Second ||
				v.Attempts[1].Attempt != 2 || v.Attempts[1].Failure.Message != "call 2" {
				t.Errorf("as a visit: %+v, %v", v, err)
			}
		}
	})
}

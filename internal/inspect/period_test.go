package inspect_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestPeriods: a step has each attempt with its result, and the pauses between them. It says what it waits for.
func TestPeriods(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		book := atom.Pair("book", fullTwice(), func(context.Context, struct{}, atom.Outcome[string]) error {
			time.Sleep(2 * time.Second)
			return nil
		}, atom.Attempts(5, atom.Constant(time.Minute)))
		paid := atom.Awaits[string]("wait", "paid", atom.Deferral{Deadline: time.Hour})
		store := memstore.New()
		e, err := engine.New(flow.Linear("order", book, paid), store)
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
		tree, err := inspect.Recorded(t.Context(), store, &run, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		add := func(what string, times *inspect.Times) {
			for _, p := range times.Periods() {
				got = append(got, fmt.Sprintf("%s: %s %d %s %v after %v", what, p.Kind, p.Number, p.Status,
					p.Ended.Sub(p.Began), p.Began.Sub(run.Started)))
			}
		}
		steps, _ := tree.Top.Shown()
		for _, s := range steps {
			add(s.Path+string(s.Wait), &s.Times)
		}
		for _, s := range tree.Undone {
			add("undo "+s.Path, &s.Undo)
		}
		want := []string{
			"book: attempt 1 FAILURE 1s after 0s", "book: pause 2  1m0s after 1s",
			"book: attempt 2 FAILURE 1s after 1m1s", "book: pause 3  1m0s after 1m2s",
			"book: attempt 3 SUCCESS 1s after 2m2s", "waitsignal: attempt 1 FAILURE 1h0m0s after 2m3s",
			"undo book: attempt 1 REVERTED 2s after 1h2m3s",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestPeriodsOfWorker: the time until a worker takes the work of a state is separate from the worker's own time. A task
// that starts at once is not divided.
func TestPeriodsOfWorker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const packers = "arn:aws:states:us-east-1:1:activity:packers"
		m, err := asl.Parse("m", []byte(`{"StartAt": "Pack", "States": {
			"Pack": {"Type": "Task", "Resource": "`+packers+`", "Next": "Pay"},
			"Pay": {"Type": "Task", "Resource": "exec:pay", "Retry": [{"ErrorEquals": ["Busy"]}], "End": true}}}`))
		if err != nil {
			t.Fatal(err)
		}
		store := memstore.New()
		eng, err := engine.New(m.Flow(), store, engine.WithTasks(busyOnce{new(atomic.Int64)}))
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(10 * time.Second)
			tok, err := store.TakeToken(t.Context(), storage.WorkRequest{Worker: "w", Queues: []string{packers}})
			if err != nil {
				t.Error(err)
			}
			time.Sleep(5 * time.Second)
			if _, err := store.EndToken(t.Context(), tok.ID, storage.TokenEnd{Take: tok.Take}); err != nil {
				t.Error(err)
			}
		}()
		if _, err := eng.Run(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		run, err := store.Run(t.Context(), "r")
		if err != nil {
			t.Fatal(err)
		}
		tree, err := inspect.Recorded(t.Context(), store, &run, m.Tracer())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		steps, _ := tree.Top.Shown()
		for _, s := range steps {
			for _, p := range s.Periods() {
				got = append(got, fmt.Sprintf("%s: %s %d %s %v", s.Path, p.Kind, p.Number, p.Status, p.Ended.Sub(p.Began)))
			}
		}
		want := []string{
			"Pack: queue 1  10s", "Pack: attempt 1 SUCCESS 5s",
			"Pay: attempt 1 FAILURE 1s", "Pay: pause 2  1s", "Pay: attempt 2 SUCCESS 1s",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

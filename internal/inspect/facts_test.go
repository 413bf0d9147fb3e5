package inspect_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestServer: a program that serves its flow is named as the server of the runs that it takes up, and of no others,
// until it stops. It writes its record once a minute, also if the record was deleted. The record says which
// workers ask for work.
func TestServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		root := flow.Linear("mine", atom.Awaits[string]("paid", "paid", atom.Deferral{Deadline: time.Hour}))
		eng, err := engine.New(root, store)
		if err != nil {
			t.Fatal(err)
		}
		if err := eng.Start(t.Context(), "r", engine.Labels(map[string]string{"needs.gpu": "a100"})); err != nil {
			t.Fatal(err)
		}
		run, err := store.Run(t.Context(), "r")
		if err != nil {
			t.Fatal(err)
		}
		served := func(change func(*storage.Run)) bool {
			t.Helper()
			asked := run
			if change != nil {
				change(&asked)
			}
			by, err := inspect.Server(t.Context(), store, &asked)
			if err != nil || by != nil && by.ID != store.Owner().ID {
				t.Fatalf("%+v serves the run (%v)", by, err)
			}
			return by != nil
		}
		records := func() []storage.NamedRecord {
			all, err := store.NamedRecords(t.Context(), storage.RecordQuery{Kind: engine.PresenceRecords})
			if err != nil {
				t.Fatal(err)
			}
			return all
		}
		dead := storage.RecordWrite{Kind: engine.PresenceRecords, Key: "dead", Was: storage.AnyRevision}
		if _, err := store.WriteRecords(t.Context(), dead); err != nil {
			t.Fatal(err)
		}
		if served(nil) {
			t.Error("before a server starts, one serves the run")
		}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		ended := make(chan error, 1)
		go func() { ended <- eng.Serve(ctx, engine.WithOffers(map[string]string{"gpu": "a100"})) }()
		synctest.Wait()
		if !served(nil) {
			t.Error("the program that serves the flow is not named")
		}
		for what, change := range map[string]func(*storage.Run){
			"another flow":      func(r *storage.Run) { r.Flow = "other" },
			"another structure": func(r *storage.Run) { r.Structure = "other" },
			"another need":      func(r *storage.Run) { r.Labels = map[string]string{"needs.gpu": "h100"} },
			"a held run":        func(r *storage.Run) { r.Hold = true },
		} {
			if served(change) {
				t.Errorf("%s is served", what)
			}
		}
		first := records()
		if len(first) != 1 || first[0].Key == "dead" {
			t.Fatalf("the records are %+v", first)
		}
		pollers := func(after time.Duration) []storage.Poller {
			time.Sleep(after)
			var p engine.Presence
			if err := records()[0].Body.Decode(&p); err != nil {
				t.Fatal(err)
			}
			return p.Pollers
		}
		request := storage.WorkRequest{Queues: []string{"gpu", "tpu"}, Worker: "box"}
		if _, err := store.AwaitToken(t.Context(), request, time.Second, nil); !errors.Is(err, storage.ErrNotFound) {
			t.Fatal(err)
		}
		asks := []storage.Poller{{Queue: "gpu", Workers: []string{"box"}}, {Queue: "tpu", Workers: []string{"box"}}}
		if got := pollers(10 * time.Second); !cmp.Equal(got, asks) {
			t.Errorf("the record says that %+v ask for work", got)
		}
		if got := pollers(time.Minute); len(got) > 0 {
			t.Errorf("a minute after the last worker asked, %+v ask for work", got)
		}
		gone := storage.RecordWrite{Kind: first[0].Kind, Key: first[0].Key, Was: storage.AnyRevision, Delete: true}
		if _, err := store.WriteRecords(t.Context(), gone); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute + time.Second)
		if again := records(); len(again) != 1 || again[0].Key != first[0].Key || !served(nil) {
			t.Errorf("a minute later the records are %+v", again)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if left := records(); len(left) > 0 || served(nil) {
			t.Errorf("after the end the records are %+v", left)
		}
	})
}

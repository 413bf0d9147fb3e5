package bulk_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/faultstore"
	"github.com/ebbflow/ebb/jobs/bulk"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// open creates runs that have not started.
func open(t *testing.T, store backend.Store, n int) {
	t.Helper()
	began := time.Now().Add(-time.Hour)
	for i := range n {
		at := began.Add(time.Duration(i/3) * time.Microsecond) // three with the same time
		run := storage.Run{ID: fmt.Sprint("r", i), Flow: "trip", Structure: "x", Created: at}
		if err := store.Create(t.Context(), run); err != nil {
			t.Fatal(err)
		}
	}
}

// end ends a run with success.
func end(t *testing.T, store backend.Store, id string) {
	t.Helper()
	claim, snap, err := store.Begin(t.Context(), id)
	if err == nil {
		err = store.Commit(t.Context(), claim, &backend.Checkpoint{Head: backend.Head{
			Seq: snap.Run.Seq, State: states.FlowSuccess, Outcome: storage.Succeeded, Time: time.Now(), Release: true,
		}})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// messages returns the number of messages to all runs, and the first message.
func messages(t *testing.T, store backend.Store, n int) (count int, first storage.Message) {
	t.Helper()
	for i := range n {
		_, all, err := backend.AllMessages(t.Context(), store, fmt.Sprint("r", i))
		if err != nil {
			t.Fatal(err)
		}
		if len(all) > 1 {
			t.Fatalf("run r%d got the command %d times", i, len(all))
		}
		if len(all) == 1 {
			first = all[0]
		}
		count += len(all)
	}
	return count, first
}

func given(o bulk.Input) []engine.RunOption {
	return []engine.RunOption{
		engine.With(atom.NewKey[string]("filter"), o.Filter), engine.With(atom.NewKey[string]("command"), o.Command),
		engine.With(atom.NewKey[string]("reason"), o.Reason),
	}
}

func newEngine(t *testing.T, store backend.Store) *engine.Engine {
	t.Helper()
	eng, err := engine.New(bulk.Flow(store, nil), store, engine.WithInputs(
		atom.NewKey[string]("filter"), atom.NewKey[string]("command"), atom.NewKey[string]("reason")))
	if err != nil {
		t.Fatal(err)
	}
	return eng
}

// TestBulk gives a command to 5,000 runs. One of them has ended, and refuses. The process dies repeatedly. Each other
// run gets the command once, with its sender.
//
// Guarantee (G5): A bulk command gives each run its command once, whatever process dies, and lists the runs that
// refuse.
func TestBulk(t *testing.T) {
	t.Parallel()
	const n = 5000
	store := memstore.New()
	open(t, store, n)
	end(t, store, "r17")
	in := bulk.Input{Filter: "flow:trip", Command: "cancel", Reason: "enough"}
	if would, err := bulk.Count(t.Context(), store, nil, in); would != n-1 || err != nil {
		t.Errorf("%d runs would get the command (%v)", would, err)
	}
	o := given(in)
	deaths := 0
	for ; deaths < 6; deaths++ {
		dying := faultstore.New(store, faultstore.From("Commit", 5+2*deaths, faultstore.Disk)) // few, because the number of items in a commit depends on the machine
		if _, err := newEngine(t, dying).Run(t.Context(), "bulk-1", o...); err == nil {
			break
		} else if !errors.Is(err, faultstore.ErrDisk) {
			t.Fatal(err)
		}
		next := store.Join()
		store.Die()
		store = next
	}
	if deaths < 2 {
		t.Errorf("the process died %d times", deaths)
	}
	defer func() { _ = store.Close() }()
	res, err := newEngine(t, store).Run(t.Context(), "bulk-1", o...)
	if err != nil || res.Run.State != states.FlowSuccess {
		t.Fatal(res, err)
	}
	count, first := messages(t, store, n)
	if count != n-1 || first.Kind != "cancel" || *first.Issuer != (storage.Issuer{Via: storage.ViaBulk, Name: "bulk-1"}) {
		t.Errorf("%d of %d runs got %+v", count, n, first)
	}
	refused := ""
	for _, id := range []string{"bulk-1/pages/0", "bulk-1/pages/1", "bulk-1/pages/2"} {
		run, err := store.Run(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		refused += run.Output.Data.String()
	}
	if strings.Count(refused, atom.CodeRefused) != 1 || !strings.Contains(refused, "run r17 is SUCCESS: it has ended") {
		t.Errorf("the output is %s", refused)
	}
}

// TestWrongOrders: invalid bulk commands fail before any run gets a command. So do those whose filter does not say which
// runs are meant, such as one of blanks.
func TestWrongOrders(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	defer func() { _ = store.Close() }()
	open(t, store, 3)
	wrong := []bulk.Input{{}, {Filter: "id:*", Command: "dance"}}
	for _, filter := range []string{
		"", " ", "\t\n", "\u00a0", "\u3000\u2028", "stat:x", "-flow:trip", "flow:*", "flow:a,* -state:SUCCESS", "parent:*,a", "-id:*",
	} {
		wrong = append(wrong, bulk.Input{Filter: filter, Command: "cancel"})
	}
	for i, o := range wrong {
		if o.Check() == nil {
			t.Errorf("%+v is right", o)
		}
		if _, err := newEngine(t, store).Run(t.Context(), fmt.Sprint("wrong-", i), given(o)...); err == nil {
			t.Errorf("%+v succeeds", o)
		}
	}
	if count, _ := messages(t, store, 3); count != 0 {
		t.Errorf("%d runs got a command", count)
	}
	for _, filter := range []string{"id:*", "-flow:trip id:*", "flow:t*", `flow:"*"`, "r1", "is:top -flow:trip"} {
		if err := (&bulk.Input{Filter: filter, Command: "cancel"}).Check(); err != nil {
			t.Errorf("%s: %v", filter, err)
		}
	}
}

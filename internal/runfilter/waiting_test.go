package runfilter_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/runfilter"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// waitingRun makes a run that has this atom in progress.
func waitingRun(t *testing.T, s backend.Store, id string, cp backend.Checkpoint) {
	t.Helper()
	if err := s.Create(t.Context(), storage.Run{ID: id, Flow: "trip"}); err != nil {
		t.Fatal(err)
	}
	claim, _, err := s.Begin(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	cp.Head.Time, cp.Head.Release = time.Now(), true
	if cp.Head.State == states.FlowPending {
		cp.Head.State = states.FlowRunning
	}
	for i := range cp.Atoms {
		a := &cp.Atoms[i]
		a.Live, a.Attempt, a.StartedAt = true, 1, time.Now().Add(-time.Minute)
		if a.State == 0 {
			a.State = states.TaskRunning
		}
	}
	cp.Head.Due = cp.Head.Due.UTC()
	if err := s.Commit(t.Context(), claim, &cp); err != nil {
		t.Fatal(err)
	}
}

// TestWaiting groups runs of all kinds by what they wait for, and agrees with what ebb why says of each of them.
func TestWaiting(t *testing.T) {
	t.Parallel()
	s := memstore.New()
	now := time.Now()
	one := func(a storage.Atom) backend.Checkpoint { return backend.Checkpoint{Atoms: []storage.Atom{a}} }
	for i := range 3 {
		waitingRun(t, s, fmt.Sprint("signal-", i), one(storage.Atom{Path: fmt.Sprintf("Ask[%d]", i), Signal: "go"}))
		cp := one(storage.Atom{Path: "Work"})
		cp.Tokens = []storage.Token{{ID: fmt.Sprint("w", i), Run: fmt.Sprint("worker-", i), Path: "Work", Queue: "gpu", Attempt: 1}}
		waitingRun(t, s, fmt.Sprint("worker-", i), cp)
	}
	if _, err := s.TakeToken(t.Context(), storage.WorkRequest{Queues: []string{"gpu"}, Worker: "me"}); err != nil {
		t.Fatal(err)
	}
	for _, worker := range []string{"box", "?", "disk"} { // each asks, and there is nothing yet
		request := storage.WorkRequest{Queues: []string{"tpu"}, Worker: worker}
		if _, err := s.AwaitToken(t.Context(), request, 0, nil); !errors.Is(err, storage.ErrNotFound) {
			t.Fatal(err)
		}
	}
	cp := one(storage.Atom{Path: "Work"})
	cp.Tokens = []storage.Token{{ID: "tpu", Run: "tpu", Path: "Work", Queue: "tpu", Attempt: 1}}
	waitingRun(t, s, "tpu", cp)
	cp = one(storage.Atom{Path: "Ship[3]/Sign#2"})
	cp.Tokens = []storage.Token{{ID: "t", Run: "token", Path: "Ship[3]/Sign#2", Attempt: 1}}
	waitingRun(t, s, "token", cp)
	cp = one(storage.Atom{Path: "Wait", Kind: storage.KindTimer, Due: now.Add(time.Hour / 2)})
	cp.Head.Due = now.Add(time.Hour / 2)
	waitingRun(t, s, "timer", cp)
	cp = one(storage.Atom{Path: "Wait", Kind: storage.KindTimer, Due: now.Add(time.Hour / 2)})
	cp.Head.Due, cp.Head.Memory = now.Add(time.Hour/2), atom.MustEncode("waits")
	waitingRun(t, s, "both", cp)
	cp = one(storage.Atom{Path: "Pay", State: states.TaskRetrying, Due: now.Add(time.Hour * 2)})
	cp.Head.Due = now.Add(time.Hour * 2)
	waitingRun(t, s, "retry", cp)
	cp = one(storage.Atom{Path: "Pay"})
	cp.Head.Hold, cp.Head.State = true, states.FlowSuspended
	waitingRun(t, s, "held", cp)
	cp = one(storage.Atom{Path: "Pay", State: states.TaskRevertFailure})
	cp.Head.State, cp.Head.Undo, cp.Head.Failure = states.FlowSuspended, storage.UndoFailed, &atom.Failure{Code: "C"}
	waitingRun(t, s, "stuck", cp)
	cp = one(storage.Atom{Path: "Pay"})
	cp.Head.Due = now.Add(-time.Minute)
	waitingRun(t, s, "idle", cp)
	waitingRun(t, s, "inbox", backend.Checkpoint{Outbox: []storage.Outgoing{
		{ID: "m", Target: "https://me:secret@example.com/in", Parked: true},
	}})
	waitingRun(t, s, "ended", backend.Checkpoint{Head: backend.Head{State: states.FlowSuccess, Ended: now}})

	search := inspect.WaitingSearch{
		Now: now.Add(time.Second), Clock: time.Now, Machine: func(_ context.Context, run *storage.Run) *grow.Waiting {
			if run.ID != "both" {
				return nil
			}
			paid := grow.WaitingGroup{Events: []string{"paid", "waived"}}
			return &grow.Waiting{Transitions: []grow.WaitingFor{{To: "Done", Groups: []grow.WaitingGroup{paid, {Events: []string{"came"}, Has: "came"}}}}}
		},
	}
	all, err := runfilter.Waiting(t.Context(), s, search)
	if err != nil {
		t.Fatal(err)
	}
	if all.Open != 15 || all.Least {
		t.Errorf("%d runs are open (%v)", all.Open, all.Least)
	}
	var got []string
	for _, g := range all.Groups {
		got = append(got, fmt.Sprintf("%s %s: %d/%d/%d", g.Kind, g.Name, g.Runs, g.Waits, g.Taken))
		if g.Kind == inspect.WaitsForWorker {
			got[len(got)-1] += ": " + g.Sentence()
		}
		f, err := runfilter.Parse(g.Filter)
		if err != nil {
			t.Fatal(err)
		}
		page, err := runfilter.Find(t.Context(), s, runfilter.Search{Filter: f, Now: now, Limit: 50, Waits: inspect.NewWaits(s, search)})
		if err != nil || len(page.Runs) != g.Runs {
			t.Errorf("the filter %s finds %d runs, want %d: %v", g.Filter, len(page.Runs), g.Runs, err)
		}
		for i := range page.Runs {
			agrees(t, s, &page.Runs[i], g.Kind)
		}
	}
	want := []string{
		"person : 1/1/0", "process trip: 2/2/0", "parked https://***@example.com/in: 1/1/0", "resume : 1/1/0",
		`worker gpu: 2/2/0: workers of "gpu"; no worker asks for it`, `worker tpu: 1/1/0: workers of "tpu"; "box" and "disk" ask for it`,
		"token Sign: 1/1/0",
		"signal go: 3/3/0", "event paid: 1/1/0", "event waived: 1/1/0", "inbox trip: 1/1/0", "retry within 1d: 1/1/0", "timer within 1h: 2/2/0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the groups are\n%q, want\n%q", got, want)
	}
}

// TestWaitsTerm finds and counts runs by what they wait for, on each kind of store.
func TestWaitsTerm(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s backend.Store) {
		for i := range 30 {
			cp := backend.Checkpoint{Atoms: []storage.Atom{{Path: "Ask", Signal: "go"}, {Path: "Tell", Signal: "go"}}}
			waitingRun(t, s, fmt.Sprint("go-", i), cp)
		}
		waitingRun(t, s, "stop", backend.Checkpoint{Atoms: []storage.Atom{{Path: "Ask", Signal: "stop now"}}})
		due := time.Now().Add(time.Hour / 2)
		cp := backend.Checkpoint{Atoms: []storage.Atom{{Path: "Wait", Kind: storage.KindTimer, Due: due}}}
		cp.Head.Due = due
		waitingRun(t, s, "timer", cp)
		waitingRun(t, s, "ended", backend.Checkpoint{Head: backend.Head{State: states.FlowSuccess, Ended: time.Now()}})
		for filter, want := range map[string]int{
			"waits:signal=go": 30, "waits:signal=g*": 30, "waits:signal": 31, "waits:timer": 1, `waits:signal="stop now",timer`: 2,
			"-waits:signal": 2, "waits:signal -waits:signal=go": 1, "waits:signal=go state:SUCCESS": 0, "waits:worker": 0,
		} {
			f, err := runfilter.Parse(filter)
			if err != nil || f.String() != filter {
				t.Fatalf("%s is %s, %v", filter, f, err)
			}
			now := time.Now()
			search := runfilter.Search{Filter: f, Now: now, Limit: 7, Waits: inspect.NewWaits(s, inspect.WaitingSearch{Now: now})}
			counts, err := runfilter.Count(t.Context(), s, search, 0, 0)
			found := 0
			for more := true; more && err == nil; more = search.Cursor.String() != "" {
				var page runfilter.Page
				page, err = runfilter.Find(t.Context(), s, search)
				found += len(page.Runs)
				search.Cursor = page.Next
			}
			if err != nil || found != want || counts.Total() != want || counts.More {
				t.Errorf("%s finds %d runs and counts %+v, want %d: %v", filter, found, counts, want, err)
			}
			search.Waits = nil
			if _, err := runfilter.Find(t.Context(), s, search); want > 0 && !errors.Is(err, storage.ErrInvalid) {
				t.Errorf("%s, where nothing says what runs wait for: %v", filter, err)
			}
		}
	})
	for field, value := range map[string]string{"label": "team=a b", "waits": "signal=a b"} {
		key, name, _ := strings.Cut(value, "=")
		if f, err := runfilter.Term(field, value); err != nil || f.String() != fmt.Sprintf("%s:%s=%q", field, key, name) {
			t.Errorf("the term of %s %s is %s, %v", field, value, f, err)
		}
	}
	if _, err := runfilter.Parse("waits:signl=go"); err == nil || !strings.Contains(err.Error(), "did you mean signal?") {
		t.Errorf("a misspelled kind: %v", err)
	}
}

// agrees compares the kind of a group with what ebb why says of a run of it.
func agrees(t *testing.T, s backend.Store, run *storage.Run, kind inspect.WaitKind) {
	t.Helper()
	w, err := inspect.Diagnose(t.Context(), s, *run)
	if err != nil {
		t.Fatal(err)
	}
	has := slices.ContainsFunc(w.Waits(time.Now()), func(one inspect.Wait) bool { return one.Kind == kind })
	switch kind {
	case inspect.WaitsForWorker:
		has = has && strings.Contains(strings.Join(w.Sentences(time.Now()), "\n"), "No worker asks for it.") == (run.ID != "tpu")
	case inspect.WaitsForEvent:
		has = run.ID == "both"
	case inspect.WaitsForPerson:
		has = run.NeedsPerson()
	case inspect.WaitsForProcess:
		has = !w.Alive() && run.Due.Before(time.Now())
	case inspect.WaitsForOperator:
		has = run.Hold
	case inspect.WaitsForParked:
		has = len(w.Sends) == 1 && w.Sends[0].Parked
	case inspect.WaitsForMessage:
		has = len(w.Waits(time.Now())) == 0
	default:
	}
	if !has {
		t.Errorf("run %s is in the group %s, and waits for %v", run.ID, kind, w.Waits(time.Now()))
	}
}

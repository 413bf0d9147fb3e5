package runfilter_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestDescribe: a list of runs says what each of them waits for, and where.
func TestDescribe(t *testing.T) {
	t.Parallel()
	s := memstore.New()
	now := time.Now()
	put := func(id string, a storage.Atom, queue string) {
		cp := backend.Checkpoint{Atoms: []storage.Atom{a}}
		if a.Kind == storage.KindTask && a.Signal == "" && queue != "no" {
			cp.Tokens = []storage.Token{{ID: id, Run: id, Path: a.Path, Queue: queue, Attempt: 1}}
		}
		waitingRun(t, s, id, cp)
	}
	put("signal", storage.Atom{Path: "Ask", Signal: "go"}, "")
	put("taken", storage.Atom{Path: "Work"}, "gpu")
	if _, err := s.TakeToken(t.Context(), storage.WorkRequest{Queues: []string{"gpu"}, Worker: "me"}); err != nil {
		t.Fatal(err)
	}
	put("unasked", storage.Atom{Path: "Each[2]/Work"}, "cpu")
	put("token", storage.Atom{Path: "Sign"}, "")
	put("timer", storage.Atom{Path: "Day", Kind: storage.KindTimer, Due: now.Add(time.Hour / 2)}, "")
	put("retry", storage.Atom{Path: "Pay", State: states.TaskRetrying, Due: now.Add(48 * time.Hour)}, "no")
	put("undo", storage.Atom{Path: "Book", State: states.TaskReverting}, "no")
	put("task", storage.Atom{Path: "Pay"}, "no")
	if err := s.Create(t.Context(), storage.Run{ID: "new", Flow: "trip"}); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"signal": `Ask waits for the signal "go"`, "taken": `Work waits for "me", a worker of "gpu" that has the work`,
		"unasked": `Each[2]/Work waits for workers of "cpu"; no worker asks for it`, "token": "Sign waits for the holder of its token",
		"timer": "Day waits for a timer, within 1h", "retry": "Pay waits for a retry, in more than 1d",
		"undo": "Book is being undone", "task": "Pay executes", "new": `waits for a message or an event for "trip"`,
	}
	runs, err := s.Runs(t.Context(), storage.RunQuery{Limit: len(want)})
	if err != nil {
		t.Fatal(err)
	}
	found, err := inspect.NewWaits(s, inspect.WaitingSearch{Now: now}).Describe(t.Context(), runs)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for i := range runs {
		for _, one := range found[i] {
			got[runs[i].ID] += one.Sentence()
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDescribeIsBounded: a run with very many atoms in progress does not make a list slow, and no run waits for what it
// does not wait for.
func TestDescribeIsBounded(t *testing.T) {
	t.Parallel()
	s := memstore.New()
	for _, id := range []string{"a", "b", "c"} {
		var cp backend.Checkpoint
		for i := range 1200 {
			cp.Atoms = append(cp.Atoms, storage.Atom{Path: fmt.Sprintf("Ask[%d]", i), Signal: "go"})
		}
		waitingRun(t, s, id, cp)
	}
	runs, err := s.Runs(t.Context(), storage.RunQuery{Limit: 3})
	found, wrong := inspect.NewWaits(s, inspect.WaitingSearch{Now: time.Now()}).Describe(t.Context(), runs)
	if err := errors.Join(err, wrong); err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, waits := range found {
		for _, one := range waits {
			if told++; one.Kind != inspect.WaitsForSignal {
				t.Errorf("a run waits for %v", one)
			}
		}
	}
	if told != 1 { // only the first of them was read
		t.Errorf("%d runs tell what they wait for", told)
	}
}

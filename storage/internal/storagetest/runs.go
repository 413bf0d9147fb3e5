package storagetest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

func testCreate(t *testing.T, m Maker) {
	s := m.open(t)
	r := storage.Run{
		ID: "trip-1", Flow: "trip", Definition: "d1", Structure: "s1", Parent: "tour", Trace: "00-abc-01",
		Labels: map[string]string{"customer": "ann", "kind": "test"},
		Input:  inline(map[string]int{"days": 3}), Attrs: value("strict"), Created: at(0), Due: at(9),
		Secrets: storage.Secrets{Symbols: []string{"pin", "ä"}, Atoms: []string{"Login"}},
	}
	create(t, s, r)
	r.Updated = r.Created
	same(t, "run", r, load(t, s, r.ID))

	r.Labels["customer"], r.Secrets.Symbols[0] = "changed by the caller", "changed"
	if got := load(t, s, r.ID).Labels["customer"]; got != "ann" {
		t.Errorf("the stored label follows the caller's map: %q", got)
	}
	if got := load(t, s, r.ID).Secrets.Symbols[0]; got != "pin" {
		t.Errorf("the stored secret follows the caller's list: %q", got)
	}
	want(t, "Create again", s.Create(t.Context(), run("trip-1")), storage.ErrExists)

	forged := run("forged")
	forged.Seq, forged.Fence, forged.Owner, forged.ClaimID, forged.Wakeups, forged.Entries = 7, 7, "me", "mine", 7, 7
	create(t, s, forged)
	wantRun := run("forged")
	wantRun.Updated = at(0)
	same(t, "counters are the store's", wantRun, load(t, s, "forged"))

	for _, bad := range []storage.Run{
		{},
		{ID: strings.Repeat("x", backend.MaxID+1)},
		{ID: "x", Input: storage.Held{Ref: 1}},
		{ID: "x", Labels: map[string]string{"": "v"}},
		{ID: "x", Secrets: storage.Secrets{Symbols: []string{""}}},
		{ID: "x", Secrets: storage.Secrets{Atoms: []string{strings.Repeat("a", backend.MaxSecret+1)}}},
		{ID: "x", Secrets: storage.Secrets{Symbols: slices.Repeat([]string{"s"}, backend.MaxSecrets+1)}},
		{ID: "x", Labels: map[string]string{"k": strings.Repeat("v", backend.MaxLabel+1)}},
		{ID: "x", Labels: labels("", backend.MaxLabels+1)},
		{ID: "x", Labels: labels(backend.NeedLabel, backend.MaxLabels+1)},
	} {
		want(t, fmt.Sprintf("Create %.40v", bad), s.Create(t.Context(), bad), storage.ErrInvalid)
	}
	for name, bad := range map[string]storage.Job{
		"labels": {RunLabels: labels("", 51)}, "needs": {Labels: labels("", 51)},
	} {
		bad.ID, bad.Run, bad.Flow = "x", "x", "f"
		want(t, "a job with too many "+name, s.PostJob(t.Context(), bad), storage.ErrInvalid)
		is := backend.Schedule{ID: "x", Spec: "@daily", Flow: "f", Labels: bad.RunLabels, Needs: bad.Labels}
		want(t, "a schedule with too many "+name, s.PutSchedule(t.Context(), is), storage.ErrInvalid)
	}
	both := labels("", backend.MaxLabels)
	maps.Copy(both, labels(backend.NeedLabel, backend.MaxLabels))
	must(t, "Create with all labels", s.Create(t.Context(), storage.Run{ID: "labels", Labels: both}))
	want(t, "nothing was created", errOf(s.Run(t.Context(), "x")), storage.ErrNotFound)
}

// labels returns that many labels.
func labels(prefix string, n int) map[string]string {
	all := map[string]string{}
	for i := range n {
		all[prefix+strconv.Itoa(i)] = "v"
	}
	return all
}

// errOf returns only the error of a call.
func errOf[T any](_ T, err error) error { return err }

func testCreateLargeInput(t *testing.T, m Maker) {
	s := m.open(t)
	r := run("a")
	r.Input = storage.Held{Data: large("in")}
	create(t, s, r)
	got := load(t, s, "a")
	same(t, "input", storage.Held{Ref: 1, Data: large("in")}, got.Input)
	if got.Refs != 1 {
		t.Fatalf("the run has %d payloads, want 1", got.Refs)
	}
	p := begin(t, s, "a")
	p.write(t, backend.Checkpoint{
		Payloads: []backend.Payload{{Data: large("out")}},
		Atoms:    []storage.Atom{{Path: "x", Result: storage.Held{Ref: 2}, Input: storage.Held{Ref: 1}}},
	})
	same(t, "atom", storage.Atom{
		Path: "x", Result: storage.Held{Ref: 2, Data: large("out")}, Input: storage.Held{Ref: 1, Data: large("in")},
	}, ask[storage.Atom](t, "Atom")(s.Atom(t.Context(), "a", "x")))
}

// ids returns the ids of the listed runs.
func ids(t tester, s backend.Store, q storage.RunQuery) string {
	t.Helper()
	return joined(ask[[]storage.Run](t, "Runs")(s.Runs(t.Context(), q)), func(r storage.Run) string { return r.ID })
}

func testRuns(t *testing.T, m Maker) {
	s := m.open(t)
	for i, id := range []string{"a", "b", "c", "d", "e"} {
		r := run(id)
		r.Labels = map[string]string{"odd": strconv.FormatBool(i%2 == 1), "id": id}
		if i > 2 {
			r.Flow, r.Parent = "tour", "a"
		}
		create(t, s, r)
	}
	begin(t, s, "b").finish(t, states.FlowSuccess)
	begin(t, s, "d").finish(t, states.FlowReverted)
	begin(t, s, "c").write(t, backend.Checkpoint{Head: backend.Head{
		State: states.FlowFailure, Outcome: storage.FailedOutcome, Undo: storage.UndoFailed, Ended: at(1), Release: true,
	}})
	for id, outcome := range map[string]storage.Outcome{"a": storage.Unfinished, "e": storage.Cancelled} {
		begin(t, s, id).write(t, backend.Checkpoint{Head: backend.Head{
			State: states.FlowSuspended, Outcome: outcome, Hold: true, Failure: &atom.Failure{Code: "C"}, Release: true,
		}})
	}
	place := func(id string) *storage.Run { r := load(t, s, id); return &r }
	for _, c := range []struct {
		name string
		q    storage.RunQuery
		want string
	}{
		{"all", storage.RunQuery{}, "edcba"},
		{"limit", storage.RunQuery{Limit: 2}, "ed"},
		{"page", storage.RunQuery{Limit: 2, After: place("d")}, "cb"},
		{"last page", storage.RunQuery{Limit: 9, After: place("b")}, "a"},
		{"beyond", storage.RunQuery{After: place("a")}, ""},
		{"begun by no other", storage.RunQuery{Top: true}, "cba"},
		{"need a person", storage.RunQuery{Stuck: true}, "ca"},
		{"flow", storage.RunQuery{Flow: "tour"}, "ed"},
		{"state", storage.RunQuery{States: []states.Flow{states.FlowSuccess}}, "b"},
		{"states", storage.RunQuery{States: []states.Flow{states.FlowSuccess, states.FlowReverted}}, "db"},
		{"label", storage.RunQuery{Labels: map[string]string{"odd": "false"}}, "eca"},
		{"labels", storage.RunQuery{Labels: map[string]string{"odd": "false", "id": "c"}}, "c"},
		{"labels that exclude each other", storage.RunQuery{Labels: map[string]string{"odd": "true", "id": "c"}}, ""},
		{"no such label", storage.RunQuery{Labels: map[string]string{"color": "red"}}, ""},
		{"all of it", storage.RunQuery{
			Flow: "tour", States: []states.Flow{states.FlowReverted},
			Labels: map[string]string{"id": "d"}, Limit: 1, After: place("e"),
		}, "d"},
	} {
		if got := ids(t, s, c.q); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func testRunsDue(t *testing.T, m Maker) {
	s := m.open(t)
	for id, due := range map[string]time.Time{"late": at(9), "soon": at(3), "first": at(1), "never": {}} {
		r := run(id)
		r.Due = due
		create(t, s, r)
	}
	due := func(by int) string { t.Helper(); return ids(t, s, storage.RunQuery{Due: at(by)}) }
	if got := due(5); got != "firstsoon" {
		t.Errorf("due by 5: %q", got)
	}
	first := load(t, s, "first")
	if got := ids(t, s, storage.RunQuery{Due: at(9), After: &first, Limit: 1}); got != "soon" {
		t.Errorf("second page: %q", got)
	}
	p := begin(t, s, "first")
	if got := due(5); got != "soon" {
		t.Errorf("due while first is owned: %q", got)
	}
	must(t, "Release", s.Release(t.Context(), p.claim, 0, at(4)))
	if got := due(5); got != "soonfirst" {
		t.Errorf("due after release: %q", got)
	}
	must(t, "Send", s.Send(t.Context(), storage.Message{Run: "never", Kind: "signal"}))
	later := time.Now().Add(time.Minute)
	if got := ids(t, s, storage.RunQuery{Due: later}); got != "soonfirstlatenever" {
		t.Errorf("due after a message: %q", got)
	}
}

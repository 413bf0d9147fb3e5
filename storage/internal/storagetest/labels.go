package storagetest

import (
	"strconv"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// testCommitLabels changes the labels of a run, and finds the run by them.
func testCommitLabels(t *testing.T, m Maker) {
	s := m.open(t)
	a := run("a")
	a.Labels = map[string]string{"tenant": "x", "order": "1"}
	create(t, s, a, run("b"))
	p := begin(t, s, "a")
	find := func(key, value, want string) {
		t.Helper()
		if got := ids(t, s, storage.RunQuery{Labels: map[string]string{key: value}}); got != want {
			t.Errorf("with %s=%s are the runs %q; want %q", key, value, got, want)
		}
	}
	before := ask[storage.Run](t, "Run")(s.Run(t.Context(), "a"))
	p.write(t, backend.Checkpoint{Labels: map[string]string{"order": "2", "paid": "yes", "never": ""}})
	p.write(t, backend.Checkpoint{})
	find("order", "1", "")
	find("order", "2", "a")
	find("paid", "yes", "a")
	find("tenant", "x", "a")
	p.write(t, backend.Checkpoint{Labels: map[string]string{"tenant": ""}})
	find("tenant", "x", "")
	same(t, "labels", map[string]string{"order": "2", "paid": "yes"},
		ask[storage.Run](t, "Run")(s.Run(t.Context(), "a")).Labels)
	same(t, "labels that were read before", map[string]string{"tenant": "x", "order": "1"}, before.Labels)

	q := begin(t, s, "b")
	q.write(t, backend.Checkpoint{Labels: map[string]string{"order": "2"}})
	find("order", "2", "ba")
	long := p.next(backend.Checkpoint{Labels: map[string]string{strings.Repeat("k", backend.MaxLabel+1): "v"}})
	want(t, "Commit of a long label", s.Commit(t.Context(), p.claim, long), storage.ErrInvalid)
}

// testLabeled finds runs that have not ended by many labels at once.
func testLabeled(t *testing.T, m Maker) {
	s := m.open(t)
	odd := "a \"key\" of \\ and ' % \u00fc\u2028"
	for id, labels := range map[string]map[string]string{
		"b": {"x": "waits", "y": "waits"}, "a": {"x": "waits"}, "c": {"x": "not"}, "d": nil, "e": {odd: "waits"},
		"over": {"x": "waits"},
	} {
		r := run(id)
		r.Labels = labels
		if id == "over" {
			r.State = states.FlowReverted
		}
		create(t, s, r)
	}
	find := func(want map[string][]string, keys ...string) {
		t.Helper()
		same(t, "runs by labels", want, ask[map[string][]string](t, "Labeled")(s.Labeled(t.Context(), "waits", keys...)))
	}
	find(nil)
	find(nil, "z", "not")
	find(map[string][]string{"x": {"a", "b"}}, "x")
	find(map[string][]string{"x": {"a", "b"}, "y": {"b"}, odd: {"e"}}, "x", "y", "x", odd)
	many := make([]string, 40_000) // more than any database accepts as arguments of a statement
	for i := range many {
		many[i] = "k" + strconv.Itoa(i)
	}
	many[39_000] = "y"
	find(map[string][]string{"y": {"b"}}, many...)

	p := begin(t, s, "b")
	p.write(t, backend.Checkpoint{Head: backend.Head{State: states.FlowSuccess}})
	find(map[string][]string{"x": {"a"}}, "x", "y")
	for _, key := range []string{"", "a\x00b", "\xff", strings.Repeat("k", backend.MaxLabel+1)} {
		_, err := s.Labeled(t.Context(), "waits", "x", key)
		want(t, "Labeled by what is no key", err, storage.ErrInvalid)
	}
}

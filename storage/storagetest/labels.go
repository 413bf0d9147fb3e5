package storagetest

import (
	"strings"
	"testing"

	"github.com/ebbflow/ebb/storage"
)

// testCommitLabels changes the labels of a run, by which it is then found.
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
	p.write(t, storage.Checkpoint{Labels: map[string]string{"order": "2", "paid": "yes", "never": ""}})
	p.write(t, storage.Checkpoint{})
	find("order", "1", "")
	find("order", "2", "a")
	find("paid", "yes", "a")
	find("tenant", "x", "a")
	p.write(t, storage.Checkpoint{Labels: map[string]string{"tenant": ""}})
	find("tenant", "x", "")
	same(t, "labels", map[string]string{"order": "2", "paid": "yes"}, ask[storage.Run](t, "Run")(s.Run(t.Context(), "a")).Labels)
	same(t, "labels that were read before", map[string]string{"tenant": "x", "order": "1"}, before.Labels)

	q := begin(t, s, "b")
	q.write(t, storage.Checkpoint{Labels: map[string]string{"order": "2"}})
	find("order", "2", "ba")
	long := p.next(storage.Checkpoint{Labels: map[string]string{strings.Repeat("k", storage.MaxLabel+1): "v"}})
	want(t, "Commit of a long label", s.Commit(t.Context(), p.claim, long), storage.ErrInvalid)
}

package storagetest

import (
	"fmt"
	"testing"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// descendant returns a child of parent, of the given generation below root.
func descendant(id, parent, root string, depth int64) storage.Run {
	r := run(id)
	r.Parent, r.Root, r.Depth = parent, root, depth
	return r
}

// testFamilies counts the descendants of a run until the last of the family is purged.
// Any descendant may create them.
func testFamilies(t *testing.T, m Maker) {
	s := m.open(t)
	other := m.join(t, s)
	born := func(what string, want int64) {
		t.Helper()
		for _, s := range []backend.Store{s, other} {
			same(t, what, want, ask[int64](t, "Descendants")(s.Descendants(t.Context(), "a")))
		}
	}
	create(t, s, run("a"), run("b"))
	born("without children", 0)
	p := begin(t, s, "a")
	first := p.next(backend.Checkpoint{Children: []storage.Run{
		descendant("c", "a", "a", 1),
		descendant("d", "a", "a", 1),
	}})
	must(t, "Commit", p.commit(t.Context(), first))
	born("two children", 2)
	if got := load(t, other, "c"); got.Root != "a" || got.Depth != 1 || got.Parent != "a" {
		t.Errorf("a child is %+v", got)
	}
	must(t, "the same again", s.Commit(t.Context(), p.claim, first))
	taken := backend.Checkpoint{Children: []storage.Run{descendant("e", "a", "a", 1), descendant("d", "a", "a", 1)}}
	want(t, "a child that is there", p.commit(t.Context(), p.next(taken)), storage.ErrExists)
	born("one commit twice, and one that failed", 2)

	q := begin(t, other, "c")
	q.write(t, backend.Checkpoint{Children: []storage.Run{
		descendant("c1", "c", "a", 2), run("apart"),
		descendant("of b", "b", "b", 1),
	}})
	born("a child of a child", 3)
	same(t, "of b", int64(1), ask[int64](t, "Descendants")(s.Descendants(t.Context(), "b")))
	must(t, "Step", s.Step(t.Context(), "d", func(snap *backend.Snapshot) (*backend.Checkpoint, error) {
		cp := &backend.Checkpoint{Head: headOf(&snap.Run), Children: []storage.Run{descendant("d1", "d", "a", 2)}}
		cp.Head.Time = at(3)
		return cp, nil
	}))
	born("of a step", 4)

	purge := func(ids ...string) {
		t.Helper()
		for _, id := range ids {
			if r := load(t, s, id); r.Owner == "" {
				begin(t, s, id).finish(t, states.FlowSuccess)
			}
		}
		if n := ask[int](t, "Purge")(s.Purge(t.Context(), ids...)); n != len(ids) {
			t.Errorf("purged %d of %q", n, ids)
		}
	}
	p.finish(t, states.FlowSuccess)
	q.finish(t, states.FlowSuccess)
	must(t, "Purge", errOf(s.Purge(t.Context(), "a", "c")))
	purge("c1", "d")
	born("with all purged but one", 4)
	purge("d1")
	born("with all purged", 0)
	same(t, "of b, still", int64(1), ask[int64](t, "Descendants")(s.Descendants(t.Context(), "b")))
}

// testStopping looks for a stop that is on its way to a run, in its inbox and in those of its ancestors.
func testStopping(t *testing.T, m Maker) {
	s := m.open(t)
	look := func(what, from string, ancestors int, want ...string) {
		t.Helper()
		got := ask[[]string](t, "Stopping")(s.Stopping(t.Context(), from, ancestors))
		same(t, what, fmt.Sprint(want), fmt.Sprint(got))
	}
	create(t, s, run("a"))
	a := begin(t, s, "a")
	a.write(t, backend.Checkpoint{Children: []storage.Run{descendant("b", "a", "a", 1), descendant("b2", "a", "a", 1)}})
	begin(t, s, "b").write(t, backend.Checkpoint{Children: []storage.Run{descendant("c", "b", "a", 2)}})
	look("no stop", "c", 9)
	look("no run", "x", 9)
	must(t, "Send", s.Send(t.Context(), storage.Message{Run: "a", Kind: backend.MessageSuspend},
		storage.Message{Run: "b2", Kind: backend.MessageCancel}))
	look("a suspension, and a stop beside it", "c", 9)
	look("its own stop", "b2", 0, "b2")
	must(t, "Send", s.Send(t.Context(), storage.Message{Run: "a", Kind: backend.MessageRevert}))
	look("a stop of the first ancestor", "c", 2, "c", "b", "a")
	look("too far above", "c", 1)
	must(t, "Send", s.Send(t.Context(), storage.Message{Run: "b", Kind: backend.MessageCancel}))
	look("the nearest", "c", 9, "c", "b")
	_, taken, err := s.Messages(t.Context(), "a", 0)
	must(t, "Messages", err)
	a.write(t, backend.Checkpoint{Taken: []int64{taken[len(taken)-1].N}})
	look("an applied stop", "a", 9)
}

// testRaceFamilies lets several runs of two stores create descendants of the same roots at once, in different orders.
// Each is counted once.
func testRaceFamilies(t *testing.T, m Maker) {
	s := m.open(t)
	stores := []backend.Store{s, m.join(t, s)}
	const runs, commits = 8, 10
	pens := make([]*pen, runs)
	for i := range pens {
		id := fmt.Sprint("r", i)
		create(t, s, run(id))
		pens[i] = begin(t, stores[i%2], id)
	}
	race(runs, func(i int) {
		for n := range commits {
			var children []storage.Run
			for k := range 2 {
				id := pens[i].claim.Run
				children = append(children, descendant(fmt.Sprintf("%s/%d-%d", id, n, k), id, fmt.Sprint("root", (i+k)%2), 1))
			}
			if err := pens[i].commit(t.Context(), pens[i].next(backend.Checkpoint{Children: children})); err != nil {
				t.Errorf("Commit: %v", err)
				return
			}
		}
	})
	for _, root := range []string{"root0", "root1"} {
		same(t, root, int64(runs*commits), ask[int64](t, "Descendants")(s.Descendants(t.Context(), root)))
	}
}

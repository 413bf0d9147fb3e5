package storagetest

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

func testBegin(t *testing.T, m Maker) {
	s := m.open(t)
	other := m.join(t, s)
	create(t, s, run("a"))
	want(t, "Begin of no run", errOf2(s.Begin(t.Context(), "zz")), storage.ErrNotFound)

	p := begin(t, s, "a")
	if p.claim.Run != "a" || p.claim.Fence != 1 || p.claim.ID == "" {
		t.Fatalf("claim is %+v", p.claim)
	}
	same(t, "run", storage.Run{
		ID: "a", Flow: "trip", Created: at(0), Updated: at(0), Fence: 1, ClaimID: p.claim.ID, Owner: s.Owner().ID,
	}, p.snap.Run)

	for name, begin := range map[string]backend.Store{"the same owner": s, "another owner": other} {
		_, _, err := begin.Begin(t.Context(), "a")
		var owned *storage.OwnedError
		if !errors.As(err, &owned) {
			t.Fatalf("Begin by %s: %v", name, err)
		}
		if owned.Run != "a" || owned.Owner.ID != s.Owner().ID || owned.Owner.PID != s.Owner().PID || !owned.Owner.Alive {
			t.Errorf("Begin by %s: owner is %+v", name, owned)
		}
	}
	must(t, "Release", s.Release(t.Context(), p.claim, 0, time.Time{}))
	q := begin(t, other, "a")
	if q.claim.Fence != 2 || q.claim.ID == p.claim.ID || q.snap.Run.Owner != other.Owner().ID {
		t.Errorf("the second claim is %+v of %q", q.claim, q.snap.Run.Owner)
	}
	want(t, "Commit under the old claim", p.commit(t.Context(), p.next(backend.Checkpoint{})), storage.ErrFenced)
}

func errOf2[T, U any](_ T, _ U, err error) error { return err }

func testBeginAfterOwnerClosed(t *testing.T, m Maker) {
	s := m.open(t)
	other := m.Join(t, s)
	create(t, s, run("a"))
	p := begin(t, other, "a")
	p.write(t, backend.Checkpoint{Head: backend.Head{State: states.FlowRunning}})
	must(t, "Close", other.Close())
	if got := ids(t, s, storage.RunQuery{Due: time.Now().Add(time.Minute)}); got != "a" {
		t.Errorf("runs of a closed owner that are due: %q", got)
	}
	q := begin(t, s, "a")
	same(t, "run", storage.Run{
		ID: "a", Flow: "trip", State: states.FlowRunning, Created: at(0), Updated: at(1), Seq: 1,
		Fence: 2, ClaimID: q.claim.ID, Owner: s.Owner().ID,
	}, q.snap.Run)
	want(t, "Commit by the closed store", p.commit(t.Context(), p.next(backend.Checkpoint{})), storage.ErrClosed)
}

func testRelease(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"))
	p := begin(t, s, "a")
	must(t, "Send", s.Send(t.Context(), storage.Message{Run: "a", Kind: "signal"}))
	want(t, "Release at an old wakeup counter", s.Release(t.Context(), p.claim, 0, at(9)), storage.ErrNewMessages)
	if got := load(t, s, "a"); got.Owner != s.Owner().ID {
		t.Fatalf("a refused release changed the owner to %q", got.Owner)
	}
	p.write(t, backend.Checkpoint{Taken: []int64{1}})
	must(t, "Release", s.Release(t.Context(), p.claim, 1, at(9)))
	got := load(t, s, "a")
	if got.Owner != "" || !got.Due.Equal(at(9)) || got.Seq != 1 {
		t.Fatalf("released run is %+v", got)
	}
	want(t, "Release twice", s.Release(t.Context(), p.claim, 1, at(9)), storage.ErrFenced)
	want(t, "Commit after release", p.commit(t.Context(), p.next(backend.Checkpoint{})), storage.ErrFenced)
}

func testStep(t *testing.T, m Maker) {
	s := m.open(t)
	r := run("a")
	r.Due = at(5)
	create(t, s, r)
	must(t, "Send", s.Send(t.Context(), storage.Message{Run: "a", Kind: "signal", Name: "go", Sent: at(0)}))
	boom := errors.New("boom")
	for _, c := range []struct {
		name string
		step func(*backend.Snapshot) (*backend.Checkpoint, error)
		err  error
	}{
		{"an error", func(*backend.Snapshot) (*backend.Checkpoint, error) { return nil, boom }, boom},
		{"a gap", func(s *backend.Snapshot) (*backend.Checkpoint, error) {
			cp := &backend.Checkpoint{Head: headOf(&s.Run)}
			cp.Head.Entries++
			return cp, nil
		}, storage.ErrInvalid},
		{"another commit's number", func(s *backend.Snapshot) (*backend.Checkpoint, error) {
			cp := &backend.Checkpoint{Head: headOf(&s.Run)}
			cp.Head.Seq++
			return cp, nil
		}, storage.ErrInvalid},
	} {
		before := load(t, s, "a")
		want(t, c.name, s.Step(t.Context(), "a", c.step), c.err)
		same(t, c.name, before, load(t, s, "a"))
	}
	must(t, "Step", s.Step(t.Context(), "a", func(snap *backend.Snapshot) (*backend.Checkpoint, error) {
		if len(snap.Messages) != 1 || snap.Messages[0].Name != "go" || snap.Run.Fence != 1 {
			t.Errorf("the step got %+v", snap)
		}
		cp := backend.Checkpoint{
			Head:  backend.Head{State: states.FlowRunning, Due: at(77)},
			Atoms: []storage.Atom{{Path: "x", Live: true}}, History: []storage.Entry{{Path: "x"}}, Taken: []int64{1},
		}
		number(&cp, headOf(&snap.Run), snap.Run.Undos)
		return &cp, nil
	}))
	got := load(t, s, "a")
	same(t, "run", storage.Run{
		ID: "a", Flow: "trip", State: states.FlowRunning, Created: at(0), Updated: at(1), Seq: 1, Entries: 1,
		Fence: 1, Wakeups: 1, Due: at(77),
	}, got, cmpopts.IgnoreFields(storage.Run{}, "ClaimID"))

	must(t, "Step that does nothing", s.Step(t.Context(), "a", idle))
	got.Fence = 2
	same(t, "run", got, load(t, s, "a"), cmpopts.IgnoreFields(storage.Run{}, "ClaimID"))

	p := begin(t, s, "a")
	err := s.Step(t.Context(), "a", func(*backend.Snapshot) (*backend.Checkpoint, error) { return nil, boom })
	if _, owned := errors.AsType[*storage.OwnedError](err); !owned {
		t.Fatalf("Step of an owned run: %v", err)
	}
	must(t, "Release", s.Release(t.Context(), p.claim, 1, time.Time{}))
	must(t, "Step", s.Step(t.Context(), "a", idle))
	want(t, "Commit under a claim from before a step", p.commit(t.Context(), p.next(backend.Checkpoint{})),
		storage.ErrFenced)
	want(t, "Step of no run", s.Step(t.Context(), "zz", nil), storage.ErrNotFound)
}

// idle is a step that does nothing.
func idle(*backend.Snapshot) (cp *backend.Checkpoint, err error) { return cp, err }

// testStepPanics: if a step panics, the caller gets the panic, and the store continues.
func testStepPanics(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"))
	before := load(t, s, "a")
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was lost")
			}
		}()
		_ = s.Step(t.Context(), "a", func(*backend.Snapshot) (*backend.Checkpoint, error) { panic("step") })
	}()
	same(t, "run", before, load(t, s, "a"))
	begin(t, s, "a").finish(t, states.FlowSuccess)
}

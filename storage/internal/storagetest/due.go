package storagetest

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// dueOf returns the ids of the runs that are due.
func dueOf(t tester, s backend.Store, q backend.DueQuery) (string, []backend.Due, time.Time) {
	t.Helper()
	due, next, err := s.Due(t.Context(), q)
	must(t, "Due", err)
	return joined(due, func(d backend.Due) string { return d.Run }), due, next
}

func dueRun(id string, due time.Time) storage.Run {
	r := run(id)
	r.Due = due
	return r
}

func testDue(t *testing.T, m Maker) {
	s := m.open(t)
	other := m.join(t, s)
	held, elsewhere := dueRun("h", at(1)), dueRun("e", at(2))
	held.Hold, elsewhere.Flow = true, "tour"
	create(t, s, dueRun("c", at(3)), dueRun("a", at(1)), dueRun("b", at(2)), dueRun("later", at(50)), run("never"), held,
		elsewhere, dueRun("owned", at(1)))
	begin(t, other, "owned")
	for _, c := range []struct {
		name string
		q    backend.DueQuery
		want string
		next time.Time
	}{
		{"all", backend.DueQuery{By: at(9)}, "abec", at(50)},
		{"of a flow", backend.DueQuery{By: at(9), Flows: []string{"trip"}}, "abc", at(50)},
		{"of several flows", backend.DueQuery{By: at(9), Flows: []string{"other", "trip"}}, "abc", at(50)},
		{"of no flow that there is", backend.DueQuery{By: at(9), Flows: []string{"other"}}, "", at(50)},
		{"all but some", backend.DueQuery{By: at(9), Flows: []string{"trip"}, Except: []string{"a", "c", "x"}}, "b", at(50)},
		{"by an earlier time", backend.DueQuery{By: at(1)}, "a", at(2)},
		{"everything", backend.DueQuery{By: at(99), Except: []string{"e"}}, "abclater", time.Time{}},
	} {
		got, _, next := dueOf(t, s, c.q)
		if got != c.want || !next.Equal(c.next) {
			t.Errorf("%s: due are %q, next at %v; want %q, %v", c.name, got, next, c.want, c.next)
		}
	}
	if got, _, next := dueOf(t, s, backend.DueQuery{By: at(9), Limit: 2}); got != "ab" || next.IsZero() ||
		next.After(at(9)) {
		t.Errorf("the first two: %q, next at %v", got, next)
	}
}

// testDueHeld: a run on hold becomes due by each command for it, and by no other message.
func testDueHeld(t *testing.T, m Maker) {
	s := m.open(t)
	for _, kind := range []grow.MessageKind{
		backend.MessageResume, backend.MessageCancel, backend.MessageRevert, backend.MessageRevertTo, backend.MessageRetry,
		backend.MessageRetryRevert, backend.MessageSkip, backend.MessageSuspend, backend.MessageToken, grow.MessageSignal,
	} {
		held, other := run(string(kind)), storage.Message{Run: string(kind), Kind: grow.MessageSignal}
		held.Hold, held.State = true, states.FlowSuspended
		create(t, s, held)
		send := func(l storage.Message, want string) {
			t.Helper()
			must(t, "Send", s.Send(t.Context(), l))
			if got, _, _ := dueOf(t, s, backend.DueQuery{By: time.Now().Add(time.Minute)}); got != want {
				t.Errorf("after %q: due are %q, want %q", l.Kind, got, want)
			}
		}
		send(other, "")
		reaches := storage.Message{Run: held.ID, Kind: kind}
		want := ""
		if backend.ReachesHeld(reaches) {
			want = held.ID
		}
		send(reaches, want)
		send(other, want)
		claim, snap, err := s.Begin(t.Context(), held.ID)
		must(t, "Begin", err)
		p := &pen{store: s, claim: claim, snap: snap, head: headOf(&snap.Run), undos: snap.Run.Undos}
		if !snap.Run.Hold || len(snap.Messages) != 3 {
			t.Fatalf("taken over with %d messages, hold %t", len(snap.Messages), snap.Run.Hold)
		}
		must(t, "Commit", p.commit(t.Context(), p.next(backend.Checkpoint{
			Head: backend.Head{State: states.FlowSuspended, Hold: true, Release: true, Due: at(1)}, Taken: []int64{2},
		})))
		if got, _, _ := dueOf(t, s, backend.DueQuery{By: time.Now().Add(time.Minute)}); got != "" {
			t.Errorf("after %q was taken: due are %q", kind, got)
		}
	}
}

// testDueClaim takes runs over with the first commit of a claim, for good or only for that commit.
func testDueClaim(t *testing.T, m Maker) {
	s := m.open(t)
	other := m.join(t, s)
	create(t, s, dueRun("a", at(1)))
	take := func(by backend.Store) *pen {
		t.Helper()
		_, due, _ := dueOf(t, by, backend.DueQuery{By: at(99)})
		if len(due) != 1 {
			t.Fatalf("%d runs are due", len(due))
		}
		snap := due[0].Snapshot
		return &pen{store: by, claim: due[0].Claim, snap: snap, head: headOf(&snap.Run), undos: snap.Run.Undos}
	}
	commit := func(p *pen, cp backend.Checkpoint) error { return p.commit(t.Context(), p.next(cp)) }

	p := take(s)
	before := load(t, s, "a")
	if before.Owner != "" || before.Fence != 0 || p.claim.Fence != 1 {
		t.Fatalf("it was taken by looking at it: %+v, claim %+v", before, p.claim)
	}
	rival, waiting := take(other), backend.Checkpoint{
		Head:  backend.Head{State: states.FlowRunning, Release: true, Due: at(7)},
		Atoms: []storage.Atom{{Path: "x", Live: true}}, Timers: []storage.TimerRow{{Path: "x", Due: at(7)}},
		Tokens: []storage.Token{{ID: "t", Path: "x"}}, Push: []storage.Undo{{Path: "x"}},
	}
	must(t, "Commit", commit(p, waiting))
	must(t, "the same again",
		s.Commit(t.Context(), p.claim, &backend.Checkpoint{Head: backend.Head{
			State: states.FlowRunning, Release: true,
			Time: at(1),
		}}))
	want(t, "the rival's commit", commit(rival, waiting), storage.ErrFenced)
	got := load(t, s, "a")
	if got.Owner != "" || got.Fence != 1 || got.Seq != 1 || got.Undos != 1 || !got.Due.Equal(at(7)) {
		t.Fatalf("after a commit that releases: %+v", got)
	}
	want(t, "a second commit after the release", commit(p, backend.Checkpoint{}), storage.ErrFenced)

	p = take(other)
	if snap := p.snap; len(snap.Atoms) != 1 || len(snap.Timers) != 1 || len(snap.Tokens) != 1 || len(snap.Messages) != 0 {
		t.Fatalf("loaded %+v", snap)
	}
	must(t, "Send", s.Send(t.Context(), storage.Message{Run: "a"}))
	want(t, "a commit after a message has come", commit(p, backend.Checkpoint{}), storage.ErrFenced)
	p = take(other)
	if len(p.snap.Messages) != 1 {
		t.Fatalf("%d messages", len(p.snap.Messages))
	}
	must(t, "Commit that takes it over", commit(p, backend.Checkpoint{Taken: []int64{1}}))
	if got := load(t, s, "a"); got.Owner != other.Owner().ID || !got.Due.IsZero() || got.Fence != 2 {
		t.Fatalf("owner %q, due %v, fence %d", got.Owner, got.Due, got.Fence)
	}
	if _, due, _ := dueOf(t, s, backend.DueQuery{By: time.Now()}); len(due) != 0 {
		t.Error("a run that is owned is due")
	}
	must(t, "Commit as its owner", commit(p, backend.Checkpoint{Head: backend.Head{State: states.FlowRunning}}))
	must(t, "Release", other.Release(t.Context(), p.claim, 1, at(1)))

	for what, hurry := range map[string]func() error{
		"a Begin": func() error {
			claim, _, err := other.Begin(t.Context(), "a")
			if err == nil {
				err = other.Release(t.Context(), claim, 1, at(1))
			}
			return err
		},
		"a Step": func() error {
			return other.Step(t.Context(), "a", func(snap *backend.Snapshot) (*backend.Checkpoint, error) {
				cp := &backend.Checkpoint{Head: backend.Head{Due: at(1)}}
				number(cp, headOf(&snap.Run), snap.Run.Undos)
				return cp, nil
			})
		},
	} {
		p := take(s)
		must(t, what, hurry())
		want(t, "a commit after "+what, commit(p, backend.Checkpoint{}), storage.ErrFenced)
	}
	p = take(s)
	want(t, "a gap", s.Commit(t.Context(), p.claim, p.next(backend.Checkpoint{Pop: 2})), storage.ErrInvalid)
	want(t, "Release of what was not begun", s.Release(t.Context(), p.claim, 1, at(1)), storage.ErrFenced)
	p.finish(t, states.FlowSuccess)
	if got := load(t, s, "a"); got.State != states.FlowSuccess || got.Owner != "" || !got.Due.IsZero() {
		t.Fatalf("after its end: %+v", got)
	}
}

// testRaceDue lets many goroutines take due runs while messages arrive. Each acknowledged checkpoint follows the one
// before, and in the end each message is processed.
func testRaceDue(t *testing.T, m Maker) {
	s := m.open(t)
	stores := []backend.Store{s, m.join(t, s)}
	const runs = 4
	for i := range runs {
		create(t, s, dueRun(fmt.Sprint("run", i), at(1)))
	}
	messages := int64(rounds())
	var sent, done atomic.Int64
	race(6, func(i int) {
		if i == 0 {
			for n := range messages {
				if err := s.Send(t.Context(), storage.Message{Run: fmt.Sprint("run", n%runs)}); err != nil {
					t.Errorf("Send: %v", err)
				}
				sent.Add(1)
			}
			return
		}
		store := stores[i%2]
		for done.Load() < messages {
			due, _, err := store.Due(t.Context(), backend.DueQuery{By: time.Now(), Limit: 1 + i%3})
			if err != nil {
				t.Errorf("Due: %v", err)
				return
			}
			for _, d := range due {
				done.Add(takeMessages(t, store, &d, i%3 == 0))
			}
			runtime.Gosched()
		}
	})
	for i := range runs {
		id := fmt.Sprint("run", i)
		got := load(t, s, id)
		if _, left, err := s.Messages(t.Context(), id, 0); err != nil || len(left) > 0 {
			t.Errorf("%s has %d messages left: %v", id, len(left), err)
		}
		if got.Entries != got.Seq {
			t.Errorf("%s is at %d, with %d entries", id, got.Seq, got.Entries)
		}
	}
	if done.Load() != sent.Load() {
		t.Errorf("%d messages were sent, %d taken", sent.Load(), done.Load())
	}
}

// takeMessages commits that the messages of a run were processed, and returns how many. It returns 0 if another process
// was faster.
func takeMessages(t *testing.T, s backend.Store, d *backend.Due, own bool) int64 {
	t.Helper()
	snap := d.Snapshot
	cp := backend.Checkpoint{
		Head:    backend.Head{Release: !own, Wakeups: snap.Run.Wakeups},
		History: []storage.Entry{{Path: "x"}},
	}
	for _, l := range snap.Messages {
		cp.Taken = append(cp.Taken, l.N)
	}
	p := &pen{store: s, claim: d.Claim, snap: snap, head: headOf(&snap.Run)}
	err := p.commit(t.Context(), p.next(cp))
	if err != nil {
		want(t, "Commit", err, storage.ErrFenced)
		return 0
	}
	if own {
		must(t, "Commit", p.commit(t.Context(), p.next(backend.Checkpoint{
			Head: backend.Head{Release: true, Wakeups: snap.Run.Wakeups}, History: []storage.Entry{{Path: "x"}},
		})))
	}
	return int64(len(cp.Taken))
}

// testDueTaken takes over due runs, except those that a limit counts.
func testDueTaken(t *testing.T, m Maker) {
	s := m.open(t)
	other := m.join(t, s)
	create(t, s, dueRun("a", at(1)), dueRun("b", at(2)), dueRun("later", at(50)))
	got, due, _ := dueOf(t, other, backend.DueQuery{By: at(9), Take: true})
	if got != "ab" || due[0].Claim.Begins != 0 {
		t.Fatalf("took %q, claim %+v; want a and b, under claims that have begun", got, due[0].Claim)
	}
	if a := load(t, s, "a"); a.Owner != other.Owner().ID || a.Fence != 1 || !a.Due.IsZero() {
		t.Errorf("owner %q, fence %d, due %v; want the other process and no time", a.Owner, a.Fence, a.Due)
	}
	if again, _, _ := dueOf(t, s, backend.DueQuery{By: at(9), Take: true}); again != "" {
		t.Errorf("%q are due for another process", again)
	}
	snap := due[0].Snapshot
	p := &pen{store: other, claim: due[0].Claim, snap: snap, head: headOf(&snap.Run), undos: snap.Run.Undos}
	must(t, "Commit", p.commit(t.Context(), p.next(backend.Checkpoint{Head: backend.Head{State: states.FlowRunning}})))
	must(t, "Release", other.Release(t.Context(), due[1].Claim, due[1].Snapshot.Run.Wakeups, at(3)))
	must(t, "SetLimit", s.SetLimit(t.Context(), storage.Limit{Flow: "trip", Runs: 2}))
	got, due, _ = dueOf(t, s, backend.DueQuery{By: at(9), Take: true})
	if got != "b" || due[0].Claim.Begins == 0 {
		t.Fatalf("found %q, want b, under a claim that has not begun", got)
	}
}

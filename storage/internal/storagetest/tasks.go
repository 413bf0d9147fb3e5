package storagetest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// testLoad loads runs without taking them over. Only the first Commit does, and only if nothing has changed.
func testLoad(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"), run("b"))
	want(t, "Load of none", errOf2(s.Load(t.Context(), "none")), storage.ErrNotFound)
	loaded := func() *pen {
		t.Helper()
		claim, snap, err := s.Load(t.Context(), "a")
		must(t, "Load", err)
		if snap.Run.Owner != "" || snap.Run.Fence+1 != claim.Fence || claim.Begins != snap.Run.Seq+1 {
			t.Errorf("loaded %+v under %+v", snap.Run, claim)
		}
		return &pen{store: s, claim: claim, snap: snap, head: headOf(&snap.Run), undos: snap.Run.Undos}
	}
	left := func() backend.Checkpoint { return backend.Checkpoint{Head: backend.Head{Release: true, Due: at(50)}} }
	first, second := loaded(), loaded()
	if row := load(t, s, "a"); row.Fence != 0 || row.Owner != "" {
		t.Errorf("Load has changed the run: %+v", row)
	}
	first.write(t, left())
	want(t, "the slower one", second.commit(t.Context(), second.next(left())), storage.ErrFenced)
	if row := load(t, s, "a"); row.Seq != 1 || row.Owner != "" || !row.Due.Equal(at(50)) {
		t.Errorf("after the commit: %+v", row)
	}
	third := loaded()
	must(t, "Send", s.Send(t.Context(), storage.Message{Run: "a", Kind: "signal"}))
	want(t, "after a message", third.commit(t.Context(), third.next(left())), storage.ErrFenced)
	if snap := loaded().snap; len(snap.Messages) != 1 {
		t.Errorf("%d messages", len(snap.Messages))
	}
	begin(t, s, "b")
	_, _, err := s.Load(t.Context(), "b")
	if owned, is := errors.AsType[*storage.OwnedError](err); !is || owned.Run != "b" {
		t.Errorf("Load of a driven run: %v", err)
	}
	_, _, err = m.join(t, s).Load(t.Context(), "b")
	if !errors.As(err, new(*storage.OwnedError)) {
		t.Errorf("Load of a run that another process drives: %v", err)
	}
}

// testLoadOfDead loads a run whose owner has died. A step of such a run leaves it due, since its owner may have left it
// amid something.
func testLoadOfDead(t *testing.T, m Maker) {
	if m.Die == nil {
		t.Skip("the store has no owners that die")
	}
	s := m.open(t)
	create(t, s, run("a"), run("b"))
	other := m.join(t, s)
	begin(t, other, "a")
	begin(t, other, "b")
	m.Die(t, other)
	must(t, "Step", s.Step(t.Context(), "b", func(snap *backend.Snapshot) (*backend.Checkpoint, error) {
		cp := backend.Checkpoint{Head: backend.Head{Due: snap.Run.Due}, History: []storage.Entry{{Path: "x"}}}
		number(&cp, headOf(&snap.Run), snap.Run.Undos)
		return &cp, nil
	}))
	if b := load(t, s, "b"); b.Due.IsZero() || b.Due.After(time.Now()) || b.Owner != "" {
		t.Errorf("after a step of the run of a dead owner, the run is due at %v, and its owner is %q", b.Due, b.Owner)
	}
	claim, snap, err := s.Load(t.Context(), "a")
	must(t, "Load", err)
	p := &pen{store: s, claim: claim, snap: snap, head: headOf(&snap.Run)}
	p.write(t, backend.Checkpoint{Head: backend.Head{Release: true}})
}

// testTokenUses changes tokens in a checkpoint. If a token has changed meanwhile, nothing of the checkpoint is written.
func testTokenUses(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"))
	p := begin(t, s, "a")
	queued := func(id string) storage.Token {
		return storage.Token{
			ID: id, Run: "a", Path: id, Attempt: 1, Beat: at(1), Since: at(1), Queue: "q", Heartbeat: time.Hour,
		}
	}
	p.write(t, backend.Checkpoint{Tokens: []storage.Token{queued("t1"), queued("t2"), queued("t3")}})
	taken := queued("t1")
	taken.Worker, taken.Take, taken.Beat, taken.Since, taken.Lease = "w", 1, at(2), at(2), at(90)
	p.write(t, backend.Checkpoint{Used: []backend.TokenUse{{Token: taken}}})
	token := func(id string) storage.Token {
		t.Helper()
		return ask[storage.Token](t, "Token")(s.Token(t.Context(), id))
	}
	same(t, "taken token", taken, token("t1"))
	refused := func(what string, uses ...backend.TokenUse) {
		t.Helper()
		cp := p.next(backend.Checkpoint{Used: uses, Timers: []storage.TimerRow{{Path: "x", Due: at(9)}}})
		want(t, what, p.commit(t.Context(), cp), storage.ErrTaken)
		same(t, "timers", []storage.TimerRow(nil), ask[[]storage.TimerRow](t, "RunTimers")(s.RunTimers(t.Context(), "a")))
		if row := load(t, s, "a"); row.Seq != p.head.Seq {
			t.Errorf("%s: the run is at %d", what, row.Seq)
		}
	}
	refused("taken since", backend.TokenUse{Token: taken})
	other := queued("t2")
	other.Worker, other.Take = "w", 1
	refused("one of two was taken since", backend.TokenUse{Token: other}, backend.TokenUse{Token: taken})
	if got := token("t2"); got.Take != 0 {
		t.Errorf("a refused commit took a token: %+v", got)
	}
	refused("no such token", backend.TokenUse{Token: queued("none")})
	must(t, "EndToken", errOf(s.EndToken(t.Context(), "t2", storage.TokenEnd{})))
	refused("ended", backend.TokenUse{Token: other})

	done := taken
	done.State, done.Result = storage.TokenCompleted, value("r")
	again := queued("t1b")
	p.write(t, backend.Checkpoint{Used: []backend.TokenUse{{Token: done, Was: 1}}, Tokens: []storage.Token{again}})
	same(t, "ended token", done, token("t1"))
	refused("a second time", backend.TokenUse{Token: done, Was: 1})

	p.write(t, backend.Checkpoint{GiveUp: []string{"t3", "t1", "none"}})
	if a, b := token("t3"), token("t1"); !a.GiveUp || b.GiveUp {
		t.Errorf("give up: %v and %v", a.GiveUp, b.GiveUp)
	}
	// No worker can take work that was to be given up before it was taken. Its token can still be ended.
	if n := ask[int64](t, "CountQueued")(s.CountQueued(t.Context(), "q", 9)); n != 1 {
		t.Errorf("%d are queued", n)
	}
	q := storage.WorkRequest{Queues: []string{"q"}, Worker: "w", Lease: time.Hour}
	if got := ask[storage.Token](t, "TakeToken")(s.TakeToken(t.Context(), q)); got.ID != "t1b" {
		t.Errorf("took %s", got.ID)
	}
	want(t, "TakeToken of what is to be given up", errOf(s.TakeToken(t.Context(), q)), storage.ErrNotFound)
	must(t, "EndToken", errOf(s.EndToken(t.Context(), "t3", storage.TokenEnd{})))
}

// testHeartbeats stores the reports of workers.
func testHeartbeats(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"))
	p := begin(t, s, "a")
	p.write(t, backend.Checkpoint{Tokens: []storage.Token{
		{ID: "t", Run: "a", Path: "x", Queue: "q", Worker: "w", Take: 2, Lease: at(1)},
	}})
	keep := func(k storage.Heartbeat) storage.Token {
		t.Helper()
		return ask[storage.Token](t, "KeepToken")(s.KeepToken(t.Context(), "t", k))
	}
	got := keep(storage.Heartbeat{Take: 2, Lease: time.Hour, Progress: 0.25, Details: value("a quarter")})
	if got.Progress != 0.25 || string(got.Details) != string(value("a quarter")) || got.GiveUp || got.Lease.IsZero() {
		t.Errorf("%+v", got)
	}
	lease := got.Lease
	got = keep(storage.Heartbeat{})
	if got.Progress != 0.25 || string(got.Details) != string(value("a quarter")) || !got.Lease.Equal(lease) {
		t.Errorf("a heartbeat that reports nothing: %+v", got)
	}
	p.write(t, backend.Checkpoint{GiveUp: []string{"t"}})
	got = keep(storage.Heartbeat{Take: 2, Details: value("half")})
	if !got.GiveUp || string(got.Details) != string(value("half")) ||
		!got.Lease.IsZero() {
		t.Errorf("%+v", got)
	}
	for _, k := range []storage.Heartbeat{{Take: -1}, {Lease: -1}, {Progress: 1.5}, {Progress: -1}} {
		want(t, "KeepToken", errOf(s.KeepToken(t.Context(), "t", k)), storage.ErrInvalid)
	}
	must(t, "EndToken", errOf(s.EndToken(t.Context(), "t", storage.TokenEnd{})))
	if got := ask[storage.Token](t, "Token")(s.Token(t.Context(), "t")); got.Progress != 0.25 || got.Details == nil {
		t.Errorf("what was reported is gone with the end: %+v", got)
	}
}

// testQueueOrder takes work by priority, then by age, then in the order of the checkpoint.
func testQueueOrder(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"), run("b"))
	put := func(p *pen, tokens ...storage.Token) {
		t.Helper()
		for i := range tokens {
			tokens[i].Run, tokens[i].Path = p.claim.Run, tokens[i].ID
		}
		p.write(t, backend.Checkpoint{Tokens: tokens})
	}
	a, b := begin(t, s, "a"), begin(t, s, "b")
	put(a, storage.Token{ID: "z1", Queue: "q", Beat: at(2)}, storage.Token{ID: "y1", Queue: "q", Beat: at(2)},
		storage.Token{ID: "x1", Queue: "q", Beat: at(2), Priority: 3},
		storage.Token{ID: "w1", Queue: "q", Beat: at(2), Priority: -3},
		storage.Token{ID: "v1", Queue: "q", Beat: at(2)})
	put(b, storage.Token{ID: "a1", Queue: "p", Beat: at(3), Priority: 3}, storage.Token{ID: "b1", Queue: "q", Beat: at(1)},
		storage.Token{ID: "c1", Queue: "other", Beat: at(0), Priority: 9},
		storage.Token{ID: "d1", Queue: "q", Beat: at(0), Worker: "w", Take: 1})
	order := []string{"x1", "a1", "b1", "z1", "y1", "v1", "w1"}
	queues := []string{"q", "p"}
	for most := range len(order) + 2 {
		got := ask[[]string](t, "QueuedTokens")(s.QueuedTokens(t.Context(), queues, most))
		if want := order[:min(most, len(order))]; !slices.Equal(got, want) {
			t.Errorf("the first %d are %s; want %s", most, got, want)
		}
	}
	for most, want := range map[int64]int64{0: 0, 4: 4, 6: 6, 99: 6} {
		if n := ask[int64](t, "CountQueued")(s.CountQueued(t.Context(), "q", most)); n != want {
			t.Errorf("%d wait, counted up to %d", n, most)
		}
	}
	for _, want := range order {
		tok := ask[storage.Token](t, "TakeToken")(s.TakeToken(t.Context(), storage.WorkRequest{Queues: queues, Worker: "w"}))
		if tok.ID != want {
			t.Errorf("%s was taken instead of %s", tok.ID, want)
		}
	}
	if n := ask[int64](t, "CountQueued")(s.CountQueued(t.Context(), "q", 9)); n != 0 {
		t.Errorf("%d wait", n)
	}
}

// testAwaitWork lets a caller that takes work itself wait for it.
func testAwaitWork(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"))
	p := begin(t, s, "a")
	ctx, stop := context.WithTimeout(t.Context(), prompt)
	defer stop()
	looks := make(chan bool, 100)
	take := func(ctx context.Context) error {
		looks <- true
		found, err := s.QueuedTokens(ctx, []string{"q"}, 1)
		if err == nil && len(found) == 0 {
			err = storage.ErrNotFound
		}
		return err
	}
	want(t, "AwaitWork for no time", s.AwaitWork(ctx, taking("q", "w"), 0, nil, take), storage.ErrNotFound)
	<-looks
	over := make(chan error, 1)
	go func() { over <- s.AwaitWork(ctx, taking("q", "w"), prompt, nil, take) }()
	<-looks
	p.write(t, backend.Checkpoint{Tokens: []storage.Token{{ID: "t", Run: "a", Path: "x", Queue: "q", Beat: at(1)}}})
	must(t, "AwaitWork", <-over)
}

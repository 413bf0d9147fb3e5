package storagetest

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

func testTokens(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"), run("b"))
	p := begin(t, s, "a")
	open := storage.Token{
		ID: "t1", Run: "a", Path: "x", Incarnation: 1, Attempt: 2,
		Deadline: at(9), Heartbeat: 3 * time.Second, Beat: at(1), Worker: "w",
	}
	p.write(t, backend.Checkpoint{Tokens: []storage.Token{
		open,
		{ID: "t2", Run: "a", Path: "y"},
		{ID: "t3", Run: "a", Path: "z"},
	}})
	same(t, "open tokens", []storage.Token{open, {ID: "t2", Run: "a", Path: "y"}, {ID: "t3", Run: "a", Path: "z"}},
		ask[[]storage.Token](t, "RunTokens")(s.RunTokens(t.Context(), "a")))
	token := func() storage.Token {
		t.Helper()
		return ask[storage.Token](t, "Token")(s.Token(t.Context(), "t1"))
	}
	same(t, "token", open, token())

	beaten := ask[storage.Token](t, "Beat")(s.Beat(t.Context(), "t1"))
	if time.Since(beaten.Beat) > time.Minute {
		t.Errorf("beat at %v", beaten.Beat)
	}
	same(t, "beaten token", beaten, token())

	done := ask[storage.Token](t, "EndToken")(s.EndToken(t.Context(), "t1", storage.TokenEnd{Result: value("result")}))
	wantDone := beaten
	wantDone.State, wantDone.Result = storage.TokenCompleted, value("result")
	same(t, "completed token", wantDone, done)
	same(t, "completed token", wantDone, token())
	why := &atom.Failure{Code: "C"}
	failed := ask[storage.Token](t, "EndToken")(s.EndToken(t.Context(), "t2", storage.TokenEnd{Failure: why}))
	same(t, "failed token", storage.Token{
		ID: "t2", Run: "a", Path: "y", State: storage.TokenFailed, Failure: &atom.Failure{Code: "C"},
	}, failed)
	wakeups, messages, err := s.Messages(t.Context(), "a", 0)
	must(t, "Messages", err)
	if wakeups != 2 {
		t.Errorf("the wakeup counter is at %d, want 2", wakeups)
	}
	same(t, "messages", []storage.Message{
		{N: 1, Run: "a", Kind: backend.MessageToken, Path: "x", Incarnation: 1, Name: "t1", Body: value("result")},
		{N: 2, Run: "a", Kind: backend.MessageToken, Path: "y", Name: "t2", Failure: &atom.Failure{Code: "C"}},
	}, messages, cmpopts.IgnoreFields(storage.Message{}, "Sent"))

	for _, id := range []string{"t1", "t2"} {
		want(t, "EndToken again", errOf(s.EndToken(t.Context(), id, storage.TokenEnd{Result: value(1)})), storage.ErrGone)
		want(t, "Beat of an ended token", errOf(s.Beat(t.Context(), id)), storage.ErrGone)
	}
	want(t, "EndToken of none", errOf(s.EndToken(t.Context(), "zz", storage.TokenEnd{})), storage.ErrNotFound)
	want(t, "Beat of none", errOf(s.Beat(t.Context(), "zz")), storage.ErrNotFound)
	want(t, "Token of none", errOf(s.Token(t.Context(), "zz")), storage.ErrNotFound)

	// The owner's end of a token loses against an earlier end, and wins against a later one.
	p.write(t, backend.Checkpoint{Tokens: []storage.Token{
		{ID: "t1", Run: "a", Path: "x", State: storage.TokenExpired},
		{ID: "t3", Run: "a", Path: "z", State: storage.TokenGone},
	}})
	same(t, "token that ended before", wantDone, token())
	want(t, "EndToken of one that is gone", errOf(s.EndToken(t.Context(), "t3", storage.TokenEnd{Result: value(1)})),
		storage.ErrGone)

	p.write(t, backend.Checkpoint{Tokens: []storage.Token{{ID: "t4", Run: "a", Path: "z"}}})
	same(t, "open tokens", []storage.Token{{ID: "t4", Run: "a", Path: "z"}},
		ask[[]storage.Token](t, "RunTokens")(s.RunTokens(t.Context(), "a")))
	must(t, "Release", s.Release(t.Context(), p.claim, 2, time.Time{}))
	same(t, "open tokens", []storage.Token{{ID: "t4", Run: "a", Path: "z"}}, begin(t, s, "a").snap.Tokens)

	q := begin(t, s, "b")
	err = q.commit(t.Context(), q.next(backend.Checkpoint{Tokens: []storage.Token{{ID: "t4", Run: "b", Path: "z"}}}))
	want(t, "a token of another run", err, storage.ErrExists)
}

func testQueues(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"), run("b"))
	p, q := begin(t, s, "a"), begin(t, s, "b")
	p.write(t, backend.Checkpoint{Tokens: []storage.Token{
		{ID: "t2", Run: "a", Path: "y", Queue: "q", Beat: at(2)},
		{ID: "t9", Run: "a", Path: "z", Beat: at(0)},
		{ID: "t3", Run: "a", Path: "w", Queue: "other", Beat: at(0)},
	}})
	q.write(t, backend.Checkpoint{Tokens: []storage.Token{
		{ID: "t4", Run: "b", Path: "y", Queue: "q", Beat: at(3), Incarnation: 1},
		{ID: "t5", Run: "b", Path: "z", Queue: "q", Beat: at(4)},
	}})
	want(t, "TakeToken without a queue", errOf(s.TakeToken(t.Context(), taking("", "w"))), storage.ErrInvalid)
	want(t, "TakeToken without a name", errOf(s.TakeToken(t.Context(), taking("q", ""))), storage.ErrInvalid)
	want(t, "TakeToken of an unknown queue", errOf(s.TakeToken(t.Context(), taking("none", "w"))), storage.ErrNotFound)
	must(t, "EndToken", errOf(s.EndToken(t.Context(), "t5", storage.TokenEnd{Result: value(2)})))
	for _, id := range []string{"t2", "t4"} {
		taken := ask[storage.Token](t, "TakeToken")(s.TakeToken(t.Context(), taking("q", "w")))
		if taken.ID != id || taken.Worker != "w" || time.Since(taken.Beat) > time.Minute {
			t.Errorf("took %+v, want %s", taken, id)
		}
		same(t, "taken token", taken, ask[storage.Token](t, "Token")(s.Token(t.Context(), id)))
	}
	want(t, "TakeToken of an empty queue", errOf(s.TakeToken(t.Context(), taking("q", "w"))), storage.ErrNotFound)
	_, messages, err := s.Messages(t.Context(), "b", 0)
	must(t, "Messages", err)
	same(t, "messages", []storage.Message{
		{N: 1, Run: "b", Kind: backend.MessageToken, Path: "z", Name: "t5", Body: value(2)},
		{N: 2, Run: "b", Kind: backend.MessageTaken, Path: "y", Incarnation: 1, Name: "t4", Body: value("w")},
	}, messages, cmpopts.IgnoreFields(storage.Message{}, "Sent"))
	must(t, "EndToken of a taken one", errOf(s.EndToken(t.Context(), "t4", storage.TokenEnd{Result: value(1)})))
}

func taking(queue, worker string) storage.WorkRequest {
	return storage.WorkRequest{Queues: []string{queue}, Worker: worker}
}

// testLeases: another worker may take work whose lease has run out. The store then refuses
// the calls of the first worker. Until then, the first worker may renew its lease, even late.
// keepTaken extends the lease of the worker that took a token first.
func keepTaken(s backend.Store, id string, lease time.Duration) (storage.Token, error) {
	return s.KeepToken(context.Background(), id, storage.Heartbeat{Take: 1, Lease: lease})
}

// Guarantee (Workers): Leases hold in every store.
func testLeases(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"))
	p := begin(t, s, "a")
	work := value("what to do")
	p.write(t, backend.Checkpoint{Tokens: []storage.Token{
		{ID: "t1", Run: "a", Path: "x", Queue: "q", Beat: at(1), Work: work},
		{ID: "t2", Run: "a", Path: "y", Queue: "r", Beat: at(0)},
	}})
	take := func(lease time.Duration, queues ...string) storage.Token {
		t.Helper()
		return ask[storage.Token](t, "TakeToken")(s.TakeToken(t.Context(), storage.WorkRequest{
			Queues: queues, Worker: "w",
			Lease: lease,
		}))
	}
	if second := take(time.Hour, "q", "r"); second.ID != "t2" || second.Take != 1 ||
		time.Until(second.Lease) < time.Minute {
		t.Errorf("took %+v, want t2, which has waited longer", second)
	}
	first := take(time.Nanosecond, "q", "r")
	if first.ID != "t1" || first.Take != 1 || first.Lease.IsZero() {
		t.Errorf("took %+v, want t1", first)
	}
	same(t, "its work", work, first.Work)
	kept := ask[storage.Token](t, "KeepToken, late")(keepTaken(s, "t1", time.Hour))
	if time.Until(kept.Lease) < time.Minute || kept.Beat.Before(first.Beat) {
		t.Errorf("kept %+v", kept)
	}
	want(t, "TakeToken of what is kept", errOf(s.TakeToken(t.Context(), taking("q", "v"))), storage.ErrNotFound)
	must(t, "KeepToken for no time", errOf(keepTaken(s, "t1", time.Nanosecond)))
	clockMoves() // and the lease has expired
	again := take(0, "q")
	if again.ID != "t1" || again.Take != 2 || !again.Lease.IsZero() {
		t.Errorf("took %+v, want t1 again", again)
	}
	same(t, "its work", work, again.Work)
	want(t, "KeepToken of what another has", errOf(keepTaken(s, "t1", time.Hour)), storage.ErrTaken)
	want(t, "EndToken of what another has",
		errOf(s.EndToken(t.Context(), "t1", storage.TokenEnd{Take: 1, Result: value(1)})), storage.ErrTaken)
	want(t, "TakeToken without an end", errOf(s.TakeToken(t.Context(), taking("q", "v"))), storage.ErrNotFound)
	must(t, "KeepToken with an end", errOf(s.KeepToken(t.Context(), "t1", storage.Heartbeat{Take: 2, Lease: 1})))
	clockMoves()
	if third := take(0, "q"); third.ID != "t1" || third.Take != 3 {
		t.Errorf("took %+v, want t1, which its worker got a lease for", third)
	}
	must(t, "KeepToken to give back", errOf(s.KeepToken(t.Context(), "t1", storage.Heartbeat{Take: 3, GiveBack: true})))
	clockMoves()
	fourth := take(0, "q")
	if fourth.ID != "t1" || fourth.Take <= 3 || fourth.Takes() != 3 {
		t.Errorf("took %+v, want t1, which was given back", fourth)
	}
	want(t, "EndToken of what was given back",
		errOf(s.EndToken(t.Context(), "t1", storage.TokenEnd{Take: 3, Result: value(1)})), storage.ErrTaken)
	want(t, "KeepToken to give back without a take",
		errOf(s.KeepToken(t.Context(), "t1", storage.Heartbeat{GiveBack: true})), storage.ErrInvalid)
	end := storage.TokenEnd{Take: fourth.Take, Result: value(2)}
	done := ask[storage.Token](t, "EndToken")(s.EndToken(t.Context(), "t1", end))
	if done.State != storage.TokenCompleted || done.Work != nil || done.Take != fourth.Take {
		t.Errorf("finished as %+v", done)
	}
	want(t, "EndToken again", errOf(s.EndToken(t.Context(), "t1", end)), storage.ErrGone)
	want(t, "KeepToken of what has ended", errOf(keepTaken(s, "t1", time.Hour)), storage.ErrGone)
	want(t, "KeepToken of none", errOf(keepTaken(s, "zz", time.Hour)), storage.ErrNotFound)
	want(t, "EndToken of none", errOf(s.EndToken(t.Context(), "zz", storage.TokenEnd{Take: 1})), storage.ErrNotFound)
	_, messages, err := s.Messages(t.Context(), "a", 0)
	must(t, "Messages", err)
	same(t, "messages", []storage.Message{ // none if a worker takes a token with Work of its own
		{N: 1, Run: "a", Kind: backend.MessageTaken, Path: "y", Name: "t2", Body: value("w")},
		{N: 2, Run: "a", Kind: backend.MessageToken, Path: "x", Name: "t1", Body: value(2)},
	}, messages, cmpopts.IgnoreFields(storage.Message{}, "Sent"))
}

// testWorkLimits: the store keeps the time that limits count from. Each time a worker takes
// the work, that time starts anew and the run is told. The end of untaken work is refused
// once a worker has taken the work.
func testWorkLimits(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"))
	p := begin(t, s, "a")
	open := storage.Token{
		ID: "t1", Run: "a", Path: "x", Queue: "q", Beat: at(1), Since: at(2), Work: value("what to do"),
		ScheduleToStart: 90 * time.Millisecond, StartToClose: 5 * time.Second,
	}
	p.write(t, backend.Checkpoint{Tokens: []storage.Token{
		open, {ID: "t2", Run: "a", Path: "y", Queue: "r", Beat: at(2), Since: at(2), StartToClose: time.Hour},
	}})
	token := func(id string) storage.Token {
		t.Helper()
		return ask[storage.Token](t, "Token")(s.Token(t.Context(), id))
	}
	same(t, "token", open, token("t1"))
	take := func(queue string, lease time.Duration) storage.Token {
		t.Helper()
		taken := ask[storage.Token](t,
			"TakeToken")(s.TakeToken(t.Context(), storage.WorkRequest{Queues: []string{queue}, Worker: "w", Lease: lease}))
		same(t, "taken token", taken, token(taken.ID))
		if !taken.Since.Equal(taken.Beat) || time.Since(taken.Since) > time.Minute {
			t.Errorf("%s was taken at %v, and heard of at %v", taken.ID, taken.Since, taken.Beat)
		}
		return taken
	}
	first := take("q", time.Nanosecond)
	if limit, due := first.Due(); limit != storage.StartToClose || !due.Equal(first.Since.Add(5*time.Second)) {
		t.Errorf("%v is due at %v", limit, due)
	}
	kept := ask[storage.Token](t, "KeepToken")(keepTaken(s, "t1", time.Nanosecond))
	if !kept.Since.Equal(first.Since) {
		t.Errorf("kept since %v, and taken %v", kept.Since, first.Since)
	}
	clockMoves() // and the lease has expired
	if second := take("q", 0); second.Take != 2 || !second.Since.After(first.Since) {
		t.Errorf("taken %+v after %+v", second, first)
	}
	want(t, "EndToken of what was taken",
		errOf(s.EndToken(t.Context(), "t1", storage.TokenEnd{Take: storage.Untaken, Failure: &atom.Failure{Code: "C"}})),
		storage.ErrTaken)
	must(t, "EndToken of a token that no worker has taken",
		errOf(s.EndToken(t.Context(), "t2", storage.TokenEnd{Take: storage.Untaken, Failure: &atom.Failure{Code: "C"}})))
	want(t, "EndToken by a heartbeat that is not the last one", errOf(s.EndToken(t.Context(), "t1",
		storage.TokenEnd{Take: 2, Beat: first.Beat, Failure: &atom.Failure{Code: "C"}})), storage.ErrTaken)
	_, messages, err := s.Messages(t.Context(), "a", 0)
	must(t, "Messages", err)
	same(t, "messages", []storage.Message{
		{N: 1, Run: "a", Kind: backend.MessageTaken, Path: "x", Name: "t1", Body: value("w")},
		{N: 2, Run: "a", Kind: backend.MessageRetaken, Path: "x", Name: "t1", Body: value("w")},
		{N: 3, Run: "a", Kind: backend.MessageToken, Path: "y", Name: "t2", Failure: &atom.Failure{Code: "C"}},
	}, messages, cmpopts.IgnoreFields(storage.Message{}, "Sent"))
}

// clockMoves waits until the clock shows another time.
func clockMoves() {
	for now := time.Now(); !time.Now().After(now); {
		time.Sleep(time.Microsecond)
	}
}

package storagetest

import (
	"context"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/storage"
)

func testLetters(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"), run("b"))
	full := storage.Letter{
		Run: "a", Kind: "signal", Path: "x", Incarnation: 2, Name: "go", Key: "k1", Body: value(1),
		Failure: &atom.Failure{Code: "C"}, Sent: at(1),
	}
	must(t, "Send", s.Send(t.Context(), full, storage.Letter{Run: "b", Kind: "cancel", Sent: at(1)}))
	must(t, "Send", s.Send(t.Context(),
		full, // the key was there
		storage.Letter{Run: "a", Kind: "signal", Name: "again", Sent: at(2)},
		storage.Letter{Run: "a", Kind: "signal", Name: "again", Sent: at(2)}, // no key: not recognised
		storage.Letter{Run: "b", Kind: "signal", Key: "k1", Sent: at(2)},     // another run's key
	))
	full.N = 1
	box := []storage.Letter{
		full,
		{N: 2, Run: "a", Kind: "signal", Name: "again", Sent: at(2)},
		{N: 3, Run: "a", Kind: "signal", Name: "again", Sent: at(2)},
	}
	expect := func(want []storage.Letter, wantBell int64) {
		t.Helper()
		bell, letters, err := s.Bell(t.Context(), "a")
		must(t, "Bell", err)
		same(t, "letters", want, letters)
		if bell != wantBell {
			t.Fatalf("the bell is at %d, want %d", bell, wantBell)
		}
	}
	expect(box, 3)
	p := begin(t, s, "a")
	same(t, "letters in the snapshot", box, p.snap.Letters)
	p.write(t, storage.Checkpoint{Taken: []int64{1, 3, 77}})
	expect(box[1:2], 3)
	must(t, "Send", s.Send(t.Context(), storage.Letter{Run: "a", Kind: "signal", Key: "k1", Sent: at(3)}))
	expect(box[1:2], 3) // a key is remembered when its letter is gone
	p.write(t, storage.Checkpoint{Taken: []int64{2}, Letters: []storage.Letter{
		{Run: "b", Kind: "signal", Name: "from a", Sent: at(4)},
		{Run: "b", Kind: "signal", Key: "k1", Sent: at(4)},
		{Run: "nobody", Kind: "signal"},
	}})
	must(t, "Send", s.Send(t.Context(), storage.Letter{Run: "a", Kind: "signal", Sent: at(5)}))
	expect([]storage.Letter{{N: 4, Run: "a", Kind: "signal", Sent: at(5)}}, 4) // numbers are not used again
	if bell, letters, err := s.Bell(t.Context(), "b"); err != nil || bell != 3 || letters[2].Name != "from a" {
		t.Errorf("b's bell is at %d, letters %+v, %v", bell, letters, err)
	}

	err := s.Send(t.Context(), storage.Letter{Run: "a", Kind: "signal"}, storage.Letter{Run: "zz", Kind: "signal"})
	want(t, "Send to no run", err, storage.ErrNotFound)
	err = s.Send(t.Context(), storage.Letter{Run: "a", Key: strings.Repeat("k", storage.MaxID+1)})
	want(t, "Send with an endless key", err, storage.ErrInvalid)
	expect([]storage.Letter{{N: 4, Run: "a", Kind: "signal", Sent: at(5)}}, 4)

	must(t, "Send without a time", s.Send(t.Context(), storage.Letter{Run: "b", Kind: "signal"}))
	_, letters, err := s.Bell(t.Context(), "b")
	must(t, "Bell", err)
	if sent := letters[len(letters)-1].Sent; time.Since(sent) > time.Minute {
		t.Errorf("sent at %v", sent)
	}
}

func testTokens(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"), run("b"))
	p := begin(t, s, "a")
	open := storage.Token{
		ID: "t1", Run: "a", Path: "x", Incarnation: 1, Attempt: 2,
		Deadline: at(9), Heartbeat: 3 * time.Second, Beat: at(1), Worker: "w",
	}
	p.write(t, storage.Checkpoint{Tokens: []storage.Token{open, {ID: "t2", Run: "a", Path: "y"}, {ID: "t3", Run: "a", Path: "z"}}})
	token := func(id string) storage.Token {
		t.Helper()
		return ask[storage.Token](t, "Token")(s.Token(t.Context(), id))
	}
	same(t, "token", open, token("t1"))

	beaten := ask[storage.Token](t, "Beat")(s.Beat(t.Context(), "t1"))
	if time.Since(beaten.Beat) > time.Minute {
		t.Errorf("beat at %v", beaten.Beat)
	}
	same(t, "beaten token", beaten, token("t1"))

	done := ask[storage.Token](t, "EndToken")(s.EndToken(t.Context(), "t1", value("result"), nil))
	wantDone := beaten
	wantDone.State, wantDone.Result = storage.TokenCompleted, value("result")
	same(t, "completed token", wantDone, done)
	same(t, "completed token", wantDone, token("t1"))
	failed := ask[storage.Token](t, "EndToken")(s.EndToken(t.Context(), "t2", nil, &atom.Failure{Code: "C"}))
	same(t, "failed token", storage.Token{
		ID: "t2", Run: "a", Path: "y", State: storage.TokenFailed, Failure: &atom.Failure{Code: "C"},
	}, failed)
	bell, letters, err := s.Bell(t.Context(), "a")
	must(t, "Bell", err)
	if bell != 2 {
		t.Errorf("the bell is at %d, want 2", bell)
	}
	same(t, "letters", []storage.Letter{
		{N: 1, Run: "a", Kind: storage.LetterToken, Path: "x", Incarnation: 1, Name: "t1", Body: value("result")},
		{N: 2, Run: "a", Kind: storage.LetterToken, Path: "y", Name: "t2", Failure: &atom.Failure{Code: "C"}},
	}, letters, cmpopts.IgnoreFields(storage.Letter{}, "Sent"))

	for _, id := range []string{"t1", "t2"} {
		want(t, "EndToken again", errOf(s.EndToken(t.Context(), id, value(1), nil)), storage.ErrGone)
		want(t, "Beat of an ended token", errOf(s.Beat(t.Context(), id)), storage.ErrGone)
	}
	want(t, "EndToken of none", errOf(s.EndToken(t.Context(), "zz", nil, nil)), storage.ErrNotFound)
	want(t, "Beat of none", errOf(s.Beat(t.Context(), "zz")), storage.ErrNotFound)
	want(t, "Token of none", errOf(s.Token(t.Context(), "zz")), storage.ErrNotFound)

	// The owner's end of a token loses against an earlier one, and beats a later.
	p.write(t, storage.Checkpoint{Tokens: []storage.Token{
		{ID: "t1", Run: "a", Path: "x", State: storage.TokenExpired},
		{ID: "t3", Run: "a", Path: "z", State: storage.TokenGone},
	}})
	same(t, "token that ended before", wantDone, token("t1"))
	want(t, "EndToken of one that is gone", errOf(s.EndToken(t.Context(), "t3", value(1), nil)), storage.ErrGone)

	p.write(t, storage.Checkpoint{Tokens: []storage.Token{{ID: "t4", Run: "a", Path: "z"}}})
	must(t, "Release", s.Release(t.Context(), p.claim, 2, time.Time{}))
	same(t, "open tokens", []storage.Token{{ID: "t4", Run: "a", Path: "z"}}, begin(t, s, "a").snap.Tokens)

	q := begin(t, s, "b")
	err = q.commit(t.Context(), q.next(storage.Checkpoint{Tokens: []storage.Token{{ID: "t4", Run: "b", Path: "z"}}}))
	want(t, "a token of another run", err, storage.ErrExists)
}

// cancelled returns a context that is cancelled.
func cancelled(t testing.TB) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// calls calls every method that may fail, and yields the errors.
func calls(t testing.TB, s storage.Store, p *pen) iter.Seq2[string, error] {
	return callsIn(t.Context(), s, p)
}

func callsIn(ctx context.Context, s storage.Store, p *pen) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, c := range []struct {
			name string
			err  error
		}{
			{"Create", s.Create(ctx, run("x"))},
			{"Begin", errOf2(s.Begin(ctx, "a"))},
			{"Commit", s.Commit(ctx, p.claim, p.next(storage.Checkpoint{}))},
			{"Release", s.Release(ctx, p.claim, 0, at(1))},
			{"Step", s.Step(ctx, "a", func(*storage.Snapshot) (*storage.Checkpoint, error) { return nil, nil })},
			{"Send", s.Send(ctx, storage.Letter{Run: "a"})},
			{"EndToken", errOf(s.EndToken(ctx, "t", nil, nil))},
			{"Beat", errOf(s.Beat(ctx, "t"))},
			{"Bell", errOf2(s.Bell(ctx, "a"))},
			{"Run", errOf(s.Run(ctx, "a"))},
			{"Runs", errOf(s.Runs(ctx, storage.RunQuery{}))},
			{"Atoms", errOf(s.Atoms(ctx, "a"))},
			{"Atom", errOf(s.Atom(ctx, "a", "x"))},
			{"History", errOf(s.History(ctx, "a", 0, 0))},
			{"Undos", errOf(s.Undos(ctx, "a", 0))},
			{"Timers", errOf(s.Timers(ctx, at(1), 0))},
			{"RunTimers", errOf(s.RunTimers(ctx, "a"))},
			{"Token", errOf(s.Token(ctx, "t"))},
			{"PutDefinition", errOf(s.PutDefinition(ctx, storage.Definition{Hash: "h"}))},
			{"Definition", errOf(s.Definition(ctx, "h"))},
			{"Outgoing", errOf(s.Outgoing(ctx, at(1), 0))},
			{"Sent", s.Sent(ctx, 1)},
			{"Unsent", s.Unsent(ctx, storage.Outgoing{N: 1})},
			{"Purge", errOf(s.Purge(ctx, "a"))},
			{"Owners", errOf(s.Owners(ctx))},
			{"PostJob", s.PostJob(ctx, storage.Job{ID: "j"})},
			{"ClaimJobs", errOf(s.ClaimJobs(ctx, storage.JobClaim{}))},
			{"RenewJob", s.RenewJob(ctx, "j", 1, "", time.Second)},
			{"EndJob", s.EndJob(ctx, storage.JobEnd{Job: "j"})},
			{"Job", errOf(s.Job(ctx, "j"))},
			{"JobList", errOf(s.JobList(ctx, storage.JobQuery{}))},
		} {
			if !yield(c.name, c.err) {
				return
			}
		}
	}
}

func testNotFound(t *testing.T, m Maker) {
	s := m.open(t)
	ctx := t.Context()
	for name, err := range map[string]error{
		"Release":   s.Release(ctx, storage.Claim{Run: "zz"}, 0, at(1)),
		"Bell":      errOf2(s.Bell(ctx, "zz")),
		"Run":       errOf(s.Run(ctx, "zz")),
		"Atoms":     errOf(s.Atoms(ctx, "zz")),
		"Atom":      errOf(s.Atom(ctx, "zz", "x")),
		"History":   errOf(s.History(ctx, "zz", 0, 0)),
		"Undos":     errOf(s.Undos(ctx, "zz", 0)),
		"RunTimers": errOf(s.RunTimers(ctx, "zz")),
		"RenewJob":  s.RenewJob(ctx, "zz", 1, "", time.Second),
		"EndJob":    s.EndJob(ctx, storage.JobEnd{Job: "zz"}),
		"Job":       errOf(s.Job(ctx, "zz")),
	} {
		want(t, name, err, storage.ErrNotFound)
	}
}

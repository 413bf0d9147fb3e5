package storagetest

import (
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/longtest"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// rounds is the number of rounds of each race.
func rounds() int { return longtest.Count(10, 60, 60) }

// race starts n goroutines at once and waits for them.
func race(n int, f func(i int)) {
	var start, done sync.WaitGroup
	start.Add(1)
	for i := range n {
		done.Go(func() {
			start.Wait()
			f(i)
		})
	}
	start.Done()
	done.Wait()
}

// testRaceFence lets a former owner continue to commit while others take over. The store has the acknowledged commits
// and no others, and after a takeover none of an earlier claim.
//
// Guarantee (G6): Racing owners never both write, even before a loser notices. `make fencing` races over 100,000
// checkpoints.
// Also: `TestStore/RaceBegin`, `TestStore/Fencing`.
func testRaceFence(t *testing.T, m Maker) {
	s := m.open(t)
	stores := []backend.Store{s, m.join(t, s)}
	for round := range rounds() {
		id := fmt.Sprint("run", round)
		create(t, s, run(id))
		p := begin(t, s, id)
		var old, fresh int64
		race(2, func(i int) {
			if i == 0 {
				old = commitUntilFenced(t, p)
				return
			}
			for range round % 7 {
				runtime.Gosched()
			}
			fresh = takeOver(t, p, stores[round%2])
		})
		got := load(t, s, id)
		if n := old + fresh; got.Seq != n || got.Entries != n {
			t.Fatalf("%d commits were acknowledged, %d written", n, got.Seq)
		}
		history := ask[[]storage.Entry](t, "History")(s.History(t.Context(), id, 0, 0))
		for i, e := range history {
			if before := int64(i) < old; before != (e.Path == "old") {
				t.Fatalf("of %d commits before the takeover and %d after it, number %d is by the %s owner", old, fresh, i+1, e.Path)
			}
		}
	}
}

// commitUntilFenced commits as an owner that does not notice that it has lost the run. It returns the number of
// acknowledged commits.
func commitUntilFenced(t *testing.T, p *pen) (n int64) {
	t.Helper()
	for {
		err := p.commit(t.Context(), p.next(backend.Checkpoint{History: []storage.Entry{{Path: "old"}}}))
		if err == nil {
			n++
			continue
		}
		if !errors.Is(err, storage.ErrFenced) {
			t.Errorf("Commit of the old owner: %v", err)
		}
		return n
	}
}

// takeOver releases a run in the name of its owner, takes it over, and commits. It returns the number of acknowledged
// commits.
func takeOver(t *testing.T, p *pen, by backend.Store) (n int64) {
	t.Helper()
	if err := p.store.Release(t.Context(), p.claim, 0, time.Time{}); err != nil {
		t.Errorf("Release: %v", err)
		return 0
	}
	claim, snap, err := by.Begin(t.Context(), p.claim.Run)
	if err != nil {
		t.Errorf("Begin of the new owner: %v", err)
		return 0
	}
	q := &pen{store: by, claim: claim, snap: snap, head: headOf(&snap.Run)}
	for range 3 {
		if err := q.commit(t.Context(), q.next(backend.Checkpoint{History: []storage.Entry{{Path: "new"}}})); err != nil {
			t.Errorf("Commit of the new owner: %v", err)
			return n
		}
		n++
	}
	return n
}

// testRaceBegin lets many goroutines take one run. One gets it.
func testRaceBegin(t *testing.T, m Maker) {
	s := m.open(t)
	stores := []backend.Store{s, m.join(t, s), m.join(t, s)}
	for round := range rounds() {
		id := fmt.Sprint("run", round)
		create(t, s, run(id))
		var got atomic.Int64
		race(6, func(i int) {
			_, _, err := stores[i%3].Begin(t.Context(), id)
			var owned *storage.OwnedError
			switch {
			case err == nil:
				got.Add(1)
			case !errors.As(err, &owned):
				t.Errorf("Begin: %v", err)
			}
		})
		if got.Load() != 1 || load(t, s, id).Fence != 1 {
			t.Fatalf("%d owners, fence %d", got.Load(), load(t, s, id).Fence)
		}
	}
}

// testRaceWakeups lets messages arrive while the owner releases the run. Afterwards, the owner knows of each message,
// or the run is due.
func testRaceWakeups(t *testing.T, m Maker) {
	raceMessages(t, m, func(t *testing.T, s backend.Store, p *pen) bool {
		err := s.Release(t.Context(), p.claim, 0, time.Time{})
		if err != nil && !errors.Is(err, storage.ErrNewMessages) {
			t.Errorf("Release: %v", err)
		}
		return err == nil
	})
}

// testRaceCommitRelease does the same with a release within a commit. A commit is never refused because of messages.
func testRaceCommitRelease(t *testing.T, m Maker) {
	raceMessages(t, m, func(t *testing.T, _ backend.Store, p *pen) bool {
		err := p.commit(t.Context(), p.next(backend.Checkpoint{Head: backend.Head{Release: true, Wakeups: 0}}))
		if err != nil {
			t.Errorf("Commit: %v", err)
		}
		return err == nil
	})
}

func raceMessages(t *testing.T, m Maker, release func(*testing.T, backend.Store, *pen) bool) {
	s := m.open(t)
	other := m.join(t, s)
	released, kept := 0, 0
	for round := range rounds() * 2 {
		id := fmt.Sprint("run", round)
		create(t, s, run(id))
		p := begin(t, s, id)
		var gone bool
		senders := 1 + round%3
		race(1+senders, func(i int) {
			if i == 0 {
				for range round % 5 {
					runtime.Gosched()
				}
				gone = release(t, s, p)
				return
			}
			from := other
			if i%2 == 0 {
				from = s
			}
			if err := from.Send(t.Context(), storage.Message{Run: id, Kind: "signal"}); err != nil {
				t.Errorf("Send: %v", err)
			}
		})
		r := load(t, s, id)
		if r.Wakeups != int64(senders) {
			t.Fatalf("%d messages, wakeup counter at %d", senders, r.Wakeups)
		}
		if gone {
			released++
			if r.Owner != "" || r.Due.IsZero() || r.Due.After(time.Now()) {
				t.Fatalf("a run without an owner has messages and is not due: owner %q, due %v", r.Owner, r.Due)
			}
			continue
		}
		kept++
		if r.Owner != s.Owner().ID {
			t.Fatalf("the release was refused, but the owner is %q", r.Owner)
		}
	}
	t.Logf("released %d times, kept %d times", released, kept)
}

// testRaceTokens lets many goroutines end one token, including its owner. One wins, and the messages say which.
func testRaceTokens(t *testing.T, m Maker) {
	s := m.open(t)
	other := m.join(t, s)
	for round := range rounds() {
		id, token := fmt.Sprint("run", round), fmt.Sprint("token", round)
		create(t, s, run(id))
		p := begin(t, s, id)
		p.write(t, backend.Checkpoint{Tokens: []storage.Token{{ID: token, Run: id, Path: "x"}}})
		var won atomic.Int64
		var winner atomic.Int64
		race(5, func(i int) {
			if i == 0 {
				err := p.commit(t.Context(), p.next(backend.Checkpoint{
					Tokens: []storage.Token{{ID: token, Run: id, Path: "x", State: storage.TokenExpired}},
				}))
				if err != nil {
					t.Errorf("Commit: %v", err)
				}
				return
			}
			end := other
			if i%2 == 0 {
				end = s
			}
			var failure *atom.Failure
			if i == 3 {
				failure = &atom.Failure{Code: "C"}
			}
			_, err := end.EndToken(t.Context(), token, storage.TokenEnd{Result: value(i), Failure: failure})
			switch {
			case err == nil:
				won.Add(1)
				winner.Store(int64(i))
			case !errors.Is(err, storage.ErrGone):
				t.Errorf("EndToken: %v", err)
			}
		})
		got := ask[storage.Token](t, "Token")(s.Token(t.Context(), token))
		wakeups, messages, err := s.Messages(t.Context(), id, 0)
		must(t, "Messages", err)
		if n := won.Load(); n > 1 || wakeups != n || int64(len(messages)) != n {
			t.Fatalf("%d won, %d messages", n, len(messages))
		}
		if won.Load() == 0 {
			if got.State != storage.TokenExpired {
				t.Fatalf("no caller ended the token, its state is %d", got.State)
			}
			continue
		}
		wantState, wantResult := storage.TokenCompleted, value(int(winner.Load()))
		if winner.Load() == 3 {
			wantState, wantResult = storage.TokenFailed, nil
		}
		if got.State != wantState || got.Result.String() != wantResult.String() {
			t.Fatalf("%d won, but the token is %+v", winner.Load(), got)
		}
	}
}

// testRaceSteps lets many goroutines step one run. Each step sees the result of the one before.
func testRaceSteps(t *testing.T, m Maker) {
	s := m.open(t)
	stores := []backend.Store{s, m.join(t, s)}
	create(t, s, run("a"))
	n := rounds()
	race(4, func(i int) {
		for range n {
			err := stores[i%2].Step(t.Context(), "a", func(snap *backend.Snapshot) (*backend.Checkpoint, error) {
				count := 0
				if err := snap.Run.Memory.Decode(&count); err != nil {
					return nil, err
				}
				cp := backend.Checkpoint{
					Head:    backend.Head{State: states.FlowRunning, Memory: value(count + 1)},
					History: []storage.Entry{{Path: "x"}},
				}
				number(&cp, headOf(&snap.Run), 0)
				return &cp, nil
			})
			if err != nil {
				t.Errorf("Step: %v", err)
			}
		}
	})
	got := load(t, s, "a")
	if all := int64(4 * n); got.Seq != all || got.Entries != all || got.Memory.String() != strconv.FormatInt(all, 10) {
		t.Errorf("%d steps: run is at %d, memory %s", all, got.Seq, got.Memory)
	}
}

// testRaceClaims lets many goroutines claim jobs. Each job is claimed once.
func testRaceClaims(t *testing.T, m Maker) {
	s := m.open(t)
	stores := []backend.Store{s, m.join(t, s)}
	n := rounds()
	for i := range n {
		post(t, s, storage.Job{ID: strconv.Itoa(i), Created: at(0)})
	}
	var mu sync.Mutex
	claimed := map[string]int{}
	race(4, func(i int) {
		for {
			jobs, err := stores[i%2].ClaimJobs(t.Context(), backend.JobClaim{Lease: time.Hour, Limit: 1 + i})
			if err != nil {
				t.Errorf("ClaimJobs: %v", err)
			}
			if len(jobs) == 0 {
				return
			}
			mu.Lock()
			for _, j := range jobs {
				claimed[j.ID]++
			}
			mu.Unlock()
		}
	})
	if len(claimed) != n {
		t.Errorf("%d of %d jobs were claimed", len(claimed), n)
	}
	for id, times := range claimed {
		if times != 1 {
			t.Errorf("job %s was claimed %d times", id, times)
		}
	}
}

// testChanged lets one store wait for a write of another. The deadline only matters for a store that loses a
// notification.
func testChanged(t *testing.T, m Maker) {
	s := m.open(t)
	other := m.join(t, s)
	create(t, s, run("a"))
	p := begin(t, s, "a")
	for name, do := range map[string]func() error{
		"a message of this store": func() error { return s.Send(t.Context(), storage.Message{Run: "a", Kind: "signal"}) },
		"a message of another store": func() error {
			return other.Send(t.Context(),
				storage.Message{Run: "a", Kind: "signal"})
		},
		"a run": func() error { return other.Create(t.Context(), run("b")) },
		"a job": func() error { return other.PostJob(t.Context(), storage.Job{ID: "j"}) },
		"a child of this store": func() error {
			return p.commit(t.Context(), p.next(backend.Checkpoint{Children: []storage.Run{run("c")}}))
		},
	} {
		changed, version := s.Changed(), s.Version()
		if err := do(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		select {
		case <-changed:
			if name != "a job" && s.Version() == version {
				t.Errorf("%s notifies, but the version is the same", name)
			}
		case <-time.After(20 * time.Second):
			t.Errorf("%s does not notify", name)
		}
	}
}

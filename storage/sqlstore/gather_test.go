package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// TestServerGather lets many goroutines write at once. Some of their writes share no
// transaction. Each write gets its turn, and none waits while there is a free session.
func TestServerGather(t *testing.T) {
	t.Parallel()
	s, _ := openOnServer(t)
	const writers, writes = 40, 25
	var done atomic.Int64
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			for k := range writes {
				one := &write{alone: (i+k)%3 == 0, do: func(ctx context.Context, w *session) error {
					var now int64
					return w.Get(ctx, &now, selectClock)
				}}
				if err := s.writer.run(t.Context(), one); err != nil {
					t.Error(err)
				}
				done.Add(1)
			}
		})
	}
	wg.Wait()
	if n := done.Load(); n != writers*writes {
		t.Errorf("%d of %d writes were done", n, writers*writes)
	}
	for _, w := range []*writer{s.writer, s.writer.apart} {
		w.mu.Lock()
		if len(w.free) != w.sessions {
			t.Errorf("%d of %d sessions are free", len(w.free), w.sessions)
		}
		w.mu.Unlock()
	}
}

// TestServerTransactHoldsNobodyUp keeps as many users' transactions open as there are sessions for separate writes, and
// writes to the run of one of them. Checkpoints of other runs continue, and the waiting writes get their turn
// afterwards.
func TestServerTransactHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	_, dsn := openOnServer(t)
	s := openFile(t, dsn+"&lock_timeout=0") // a statement waits for a lock until the lock is free
	const commits = 20
	other := beginRun(t, s, "other")
	open, leave := make(chan struct{}), make(chan struct{})
	var waiting sync.WaitGroup
	for i := range singleSessions {
		claim := beginWithToken(t, s, fmt.Sprint(i))
		waiting.Go(func() {
			_, err := s.Transact(t.Context(), claim, "key", func(*sql.Tx) (atom.Value, error) {
				open <- struct{}{}
				<-leave
				return nil, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
		<-open
	}
	waiting.Go(func() {
		if err := s.Send(t.Context(), storage.Message{Run: "0", Name: "late"}); err != nil {
			t.Error(err)
		}
	})
	waiting.Go(func() {
		if tok, err := s.EndToken(t.Context(), "0", storage.TokenEnd{}); err != nil || tok.State != storage.TokenCompleted {
			t.Errorf("the token of a run that a transaction held: %+v, %v", tok, err)
		}
	})
	waitQueued(s.writer.apart, 2)
	for n := range int64(commits) {
		if err := s.Commit(t.Context(), other, nth(n)); err != nil {
			t.Fatal(err)
		}
	}
	close(leave)
	waiting.Wait()
	if r, err := s.Run(t.Context(), "other"); err != nil || r.Seq != commits {
		t.Errorf("the other run stands at %d, %v", r.Seq, err)
	}
}

// beginWithToken begins a run with a token of the same name, which a worker of the queue "q" can take.
func beginWithToken(t *testing.T, s *store, id string) backend.Claim {
	t.Helper()
	claim := beginRun(t, s, id)
	cp := nth(0)
	cp.Tokens = []storage.Token{{ID: id, Path: "a", State: storage.TokenOpen, Queue: "q"}}
	if err := s.Commit(t.Context(), claim, cp); err != nil {
		t.Fatal(err)
	}
	return claim
}

// TestServerTasksShareATransaction blocks the shared transaction while workers take and end tasks. All of them go into
// the next transaction, and each gets its own task.
func TestServerTasksShareATransaction(t *testing.T) {
	t.Parallel()
	s, _ := openOnServer(t)
	const tasks = 10
	for i := range tasks {
		beginWithToken(t, s, fmt.Sprint(i))
	}
	begun, leave := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		do := func(context.Context, *session) error { close(begun); <-leave; return nil }
		if err := s.writer.run(t.Context(), &write{do: do}); err != nil {
			t.Error(err)
		}
	})
	<-begun
	var taken sync.Map
	for i := range tasks {
		wg.Go(func() {
			if i%2 == 0 {
				if _, err := s.EndToken(t.Context(), fmt.Sprint(i), storage.TokenEnd{}); err != nil {
					t.Error(err)
				}
				return
			}
			tok, err := s.TakeToken(t.Context(), storage.WorkRequest{Worker: "w", Queues: []string{"q"}})
			if _, again := taken.LoadOrStore(tok.ID, true); again || err != nil {
				t.Errorf("a worker got %q, %v", tok.ID, err)
			}
		})
	}
	waitQueued(s.writer, tasks)
	before := s.Counts()
	close(leave)
	wg.Wait()
	if after := s.Counts(); after.Commits != before.Commits+1 || after.Writes < before.Writes+tasks {
		t.Errorf("%d commits of %d writes; want one of %d", after.Commits-before.Commits, after.Writes-before.Writes, tasks)
	}
}

// TestServerFullBatch blocks a transaction that many may share. New writes wait to share the next one. Once they fill a
// whole transaction, that one does not wait.
func TestServerFullBatch(t *testing.T) {
	t.Parallel()
	s, _ := openOnServer(t)
	begun, leave := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	put := func(do func(context.Context, *session) error) {
		wg.Go(func() {
			if err := s.writer.run(t.Context(), &write{do: do}); err != nil {
				t.Error(err)
			}
		})
	}
	put(func(context.Context, *session) error { close(begun); <-leave; return nil })
	<-begun
	done := make(chan struct{}, fullBatch)
	other := func(context.Context, *session) error { done <- struct{}{}; return nil }
	for range fullBatch - 1 {
		put(other)
	}
	waitQueued(s.writer, fullBatch-1)
	if n := len(done); n != 0 {
		t.Errorf("%d writes went beside another, where fewer than %d waited", n, fullBatch)
	}
	put(other)
	for range fullBatch {
		<-done
	}
	close(leave)
	wg.Wait()
}

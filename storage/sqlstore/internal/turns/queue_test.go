package turns_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/storage/sqlstore/internal/turns"
)

// TestTurnAfterGatesWereDeleted opens the gates just before another process deletes them: the turn excludes those
// that open them afterwards.
func TestTurnAfterGatesWereDeleted(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "runs.db")
	open := func() *turns.Queue {
		q, err := turns.Open(file, hclog.NewNullLogger(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	end := func(q *turns.Queue, alone bool) {
		if err := q.Close(func() bool { return alone }); err != nil {
			t.Error(err)
		}
	}
	early, last := open(), open()
	end(last, true)
	late := open()
	if err := early.Enter(nil); err != nil {
		t.Fatal(err)
	}
	passed := make(chan struct{})
	close(passed)
	if err := late.Enter(passed); !errors.Is(err, turns.ErrNoTurn) {
		t.Errorf("two have the turn: %v", err)
	}
	if _, err := early.Leave(); err != nil {
		t.Error(err)
	}
	end(early, false)
	end(late, false)
}

// TestGatesDeletedBesideOpen lets many users of a database open it, write in turn and close it. The last of them
// deletes the gates, perhaps while the next has just opened them. Two never have the turn, and at the end no gate
// exists.
func TestGatesDeletedBesideOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var users, writers, deleted atomic.Int64
	var all sync.WaitGroup
	visit := func() error {
		q, err := turns.Open(filepath.Join(dir, "runs.db"), hclog.NewNullLogger(), nil)
		if err != nil {
			return err
		}
		write := func() error {
			if err := q.Enter(nil); err != nil {
				return err
			}
			if n := writers.Add(1); n != 1 {
				t.Errorf("%d have the turn", n)
			}
			writers.Add(-1)
			_, err := q.Leave()
			return err
		}
		if err := write(); err != nil { // no other process knows of this user yet
			return err
		}
		users.Add(1)
		q.Keep()
		for range 3 {
			if err := write(); err != nil {
				return err
			}
		}
		users.Add(-1)
		return q.Close(func() bool {
			alone := users.Load() == 0
			if alone {
				deleted.Add(1)
			}
			return alone
		})
	}
	for range 4 {
		all.Go(func() {
			for range 200 {
				if err := visit(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 || deleted.Load() < 2 {
		t.Errorf("left are %v (%v), after %d times alone", left, err, deleted.Load())
	}
}

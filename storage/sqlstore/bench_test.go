package sqlstore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// stepper commits what one step of a linear flow writes: the end of one atom
// with a result of 100 bytes, the begin of the next, and a line of history for
// each.
type stepper struct {
	store backend.Store
	claim backend.Claim
	cp    backend.Checkpoint
	i     int64
}

func newStepper(tb testing.TB, s backend.Store, run string) *stepper {
	tb.Helper()
	made, err := stepperOf(context.Background(), s, run)
	if err != nil {
		tb.Fatal(err)
	}
	return made
}

// stepperOf makes a run and steps it.
func stepperOf(ctx context.Context, s backend.Store, run string) (*stepper, error) {
	if err := s.Create(ctx, storage.Run{ID: run, Flow: "bench"}); err != nil {
		return nil, err
	}
	claim, _, err := s.Begin(ctx, run)
	return &stepper{store: s, claim: claim}, err
}

func (s *stepper) step() error {
	now := time.Now()
	done, next := fmt.Sprint("task-", s.i), fmt.Sprint("task-", s.i+1)
	result := make(atom.Value, 100)
	result[0] = atom.CodecJSON
	s.cp = backend.Checkpoint{
		Head: backend.Head{Seq: s.i, State: states.FlowRunning, Entries: 2*s.i + 2, Time: now},
		Atoms: []storage.Atom{
			{Path: done, Live: true, State: states.TaskSuccess, Attempt: 1, Result: storage.Held{Data: result}, StartedAt: now, EndedAt: now},
			{Path: next, Live: true, State: states.TaskRunning, Attempt: 1, StartedAt: now},
		},
		History: []storage.Entry{
			{Seq: 2*s.i + 1, Kind: storage.EntryAtom, Path: done, From: 1, To: 2, Time: now, Body: storage.Held{Data: result}},
			{Seq: 2*s.i + 2, Kind: storage.EntryAtom, Path: next, To: 1, Time: now},
		},
	}
	s.i++
	return s.store.Commit(context.Background(), s.claim, &s.cp)
}

func openBench(b *testing.B) *sqlstore.Store {
	b.Helper()
	s := open(b, filepath.Join(b.TempDir(), "bench.db"))
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	return s
}

// BenchmarkCommit is one run alone: each commit waits for the disk.
func BenchmarkCommit(b *testing.B) {
	file := filepath.Join(b.TempDir(), "bench.db")
	store := open(b, file)
	s := newStepper(b, store, "a")
	b.ReportAllocs()
	for b.Loop() {
		if err := s.step(); err != nil {
			b.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(info.Size())/float64(s.i), "file-B/op")
}

// BenchmarkCommitMany is many runs at once, which share commits.
func BenchmarkCommitMany(b *testing.B) {
	for _, runs := range []int{2, 8, 64, 1000} {
		b.Run(fmt.Sprint(runs), func(b *testing.B) {
			store := openBench(b)
			steppers := make([]*stepper, runs)
			for i := range steppers {
				steppers[i] = newStepper(b, store, fmt.Sprint("run", i))
			}
			var left atomic.Int64
			left.Store(int64(b.N))
			b.ReportAllocs()
			b.ResetTimer()
			done := make(chan error, runs)
			for _, s := range steppers {
				go func() {
					for left.Add(-1) >= 0 {
						if err := s.step(); err != nil {
							done <- err
							return
						}
					}
					done <- nil
				}()
			}
			for range runs {
				if err := <-done; err != nil {
					b.Error(err)
				}
			}
		})
	}
}

// BenchmarkBegin takes a run of a hundred atoms over and releases it.
func BenchmarkBegin(b *testing.B) {
	store := openBench(b)
	s := newStepper(b, store, "a")
	for range 100 {
		if err := s.step(); err != nil {
			b.Fatal(err)
		}
	}
	claim := s.claim
	b.ReportAllocs()
	for b.Loop() {
		if err := store.Release(b.Context(), claim, 0, time.Time{}); err != nil {
			b.Fatal(err)
		}
		var err error
		if claim, _, err = store.Begin(b.Context(), "a"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRunsWithMessages has an owner of 10,000 runs ask which have new messages
// when one has, beside as many runs without an owner that have messages.
func BenchmarkRunsWithMessages(b *testing.B) {
	const runs = 10_000
	for name, s := range map[string]backend.Store{"sqlite": openBench(b), "memory": memstore.New()} {
		b.Run(name, func(b *testing.B) {
			own := fmt.Sprint(name, "-", b.N, "-")
			race(64, func(i int) {
				for ; i < runs; i += 64 {
					mine, other := fmt.Sprint(own, i), fmt.Sprint(own, "other-", i)
					err := errors.Join(
						s.Create(b.Context(), storage.Run{ID: mine}), s.Create(b.Context(), storage.Run{ID: other}),
						s.Send(b.Context(), storage.Message{Run: mine, Kind: "old"}, storage.Message{Run: other, Kind: "old"}),
					)
					if _, _, begun := s.Begin(b.Context(), mine); err != nil || begun != nil {
						b.Error(err, begun)
					}
				}
			})
			_, now, err := s.RunsWithMessages(b.Context(), 0)
			if err != nil {
				b.Fatal(err)
			}
			if err := s.Send(b.Context(), storage.Message{Run: own + "77", Kind: "new"}); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				changed, _, err := s.RunsWithMessages(b.Context(), now)
				if err != nil || len(changed) != 1 || changed[0].Wakeups != 2 {
					b.Fatal(changed, err)
				}
			}
		})
	}
}

// BenchmarkTransact is a user's row written with its record.
func BenchmarkTransact(b *testing.B) {
	s := openBench(b)
	claim := newStepper(b, s, "a").claim
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := add(b.Context(), s, claim, fmt.Sprint(i)); err != nil {
			b.Fatal(err)
		}
	}
}

// race calls f on n goroutines and waits for them.
func race(n int, f func(i int)) {
	var done sync.WaitGroup
	for i := range n {
		done.Go(func() { f(i) })
	}
	done.Wait()
}

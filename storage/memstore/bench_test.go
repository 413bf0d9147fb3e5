package memstore_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// BenchmarkMemoryCommit writes what one step of a flow writes: the end of an
// atom with its result, and the two lines of history that go with a step.
func BenchmarkMemoryCommit(b *testing.B) {
	s := memstore.New()
	if err := s.Create(b.Context(), storage.Run{ID: "a"}); err != nil {
		b.Fatal(err)
	}
	claim, _, err := s.Begin(b.Context(), "a")
	if err != nil {
		b.Fatal(err)
	}
	paths := make([]string, 1000)
	for i := range paths {
		paths[i] = fmt.Sprintf("task-%d", i)
	}
	result, now := atom.MustEncode(map[string]int{"n": 1}), time.Now()
	cp := backend.Checkpoint{
		Atoms:   []storage.Atom{{Live: true, State: states.TaskSuccess, Attempt: 1, Result: storage.Held{Data: result}, StartedAt: now, EndedAt: now}},
		History: []storage.Entry{{Kind: storage.EntryAtom, To: 1, Time: now}, {Kind: storage.EntryAtom, From: 1, To: 2, Time: now}},
	}
	b.ReportAllocs()
	for i := int64(0); b.Loop(); i++ {
		path := paths[i%1000]
		cp.Head.Seq, cp.Head.Entries = i, 2*i+2
		cp.Atoms[0].Path, cp.History[0].Path, cp.History[1].Path = path, path, path
		cp.History[0].Seq, cp.History[1].Seq = 2*i+1, 2*i+2
		if err := s.Commit(b.Context(), claim, &cp); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMemoryHeap reports the live heap of a stored task with its history.
func BenchmarkMemoryHeap(b *testing.B) {
	const tasks = 200_000
	paths := make([]string, tasks)
	for i := range paths {
		paths[i] = fmt.Sprintf("task-%d", i)
	}
	result, now := atom.MustEncode(map[string]int{"n": 1}), time.Now()
	for b.Loop() {
		before := heap()
		s := memstore.New()
		if err := s.Create(b.Context(), storage.Run{ID: "a"}); err != nil {
			b.Fatal(err)
		}
		claim, _, err := s.Begin(b.Context(), "a")
		if err != nil {
			b.Fatal(err)
		}
		for i := range int64(tasks) {
			path := paths[i]
			if err := s.Commit(b.Context(), claim, &backend.Checkpoint{
				Head: backend.Head{Seq: i, Entries: 2*i + 2},
				Atoms: []storage.Atom{{
					Path: path, Live: true, State: states.TaskSuccess, Attempt: 1,
					Result: storage.Held{Data: result}, StartedAt: now, EndedAt: now,
				}},
				History: []storage.Entry{
					{Seq: 2*i + 1, Kind: storage.EntryAtom, Path: path, Time: now},
					{Seq: 2*i + 2, Kind: storage.EntryAtom, Path: path, To: 2, Time: now},
				},
			}); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(heap()-before)/tasks, "heap-B/task")
		runtime.KeepAlive(s)
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

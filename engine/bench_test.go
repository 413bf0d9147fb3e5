package engine_test

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/internal/longtest"
	"github.com/ebbflow/ebb/storage/memstore"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

type order struct {
	ID    string `json:"id"`
	Count int    `json:"count"`
	Paid  bool   `json:"paid"`
}

func noop(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil }

func passOn(_ context.Context, in order) (order, error) { in.Count++; return in, nil }

// tasks returns n tasks, empty or with a struct of three fields as input and output.
func tasks(n int, structs bool) []flow.Node {
	nodes := make([]flow.Node, n)
	for i := range nodes {
		if structs {
			nodes[i] = atom.Func(fmt.Sprintf("t%d", i), passOn)
		} else {
			nodes[i] = atom.Func(fmt.Sprintf("t%d", i), noop)
		}
	}
	return nodes
}

// TestTwoHundredThousand compiles and runs 200,000 tasks. At most 1 KiB of heap a task remains.
func TestTwoHundredThousand(t *testing.T) {
	longtest.Needs(t)
	const n = 200_000
	for name, pattern := range map[string]func(string, ...flow.Node) flow.Node{
		"linear":    func(s string, nodes ...flow.Node) flow.Node { return flow.Linear(s, nodes...) },
		"unordered": func(s string, nodes ...flow.Node) flow.Node { return flow.Unordered(s, nodes...) },
	} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		begin := time.Now()
		eng, err := engine.New(pattern("f", tasks(n, false)...), memstore.New())
		if err != nil {
			t.Fatal(err)
		}
		res, err := eng.Run(t.Context(), "r")
		if err != nil {
			t.Fatal(err)
		}
		took := time.Since(begin)
		runtime.GC()
		runtime.ReadMemStats(&after)
		perTask := (after.HeapAlloc - before.HeapAlloc) / n
		runtime.KeepAlive(eng)
		runtime.KeepAlive(res)
		t.Logf("%s: %v with compiling, %d B of live heap a task", name, took.Round(time.Millisecond), perTask)
		if perTask > 1024 {
			t.Errorf("%s: %d B of live heap a task; want at most 1024", name, perTask)
		}
	}
}

func benchmark(b *testing.B, f flow.Node, n int, opts ...engine.Option) {
	b.Helper()
	eng, err := engine.New(f, memstore.New(), opts...)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := eng.Run(b.Context(), fmt.Sprint("r", i)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/task")
}

// BenchmarkSQLite runs a linear flow of no-op tasks on a file with synchronous=FULL, with one commit a task.
func BenchmarkSQLite(b *testing.B) {
	store, err := sqlstore.Open(b.Context(), "sqlite:"+filepath.Join(b.TempDir(), "ebb.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			b.Error(err)
		}
	}()
	const n = 1000
	benchmark(b, flow.Linear("f", tasks(n, false)...), n, engine.WithStore(store))
}

// BenchmarkProgress measures the cost of a task's progress reports.
func BenchmarkProgress(b *testing.B) {
	eng, err := engine.New(atom.Func("a", func(ctx context.Context, _ struct{}) (struct{}, error) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			atom.Progress(ctx, float64(i%100)/100, nil)
		}
		return struct{}{}, nil
	}), memstore.New())
	if err != nil {
		b.Fatal(err)
	}
	if _, err := eng.Run(b.Context(), "r"); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkLoop walks a loop of 10,000 transitions of states that only compute,
// with history kept.
func BenchmarkLoop(b *testing.B) {
	m, err := asl.Parse("loop", []byte(`{"StartAt":"Add","States":{
		"Add":{"Type":"Pass","Parameters":{"n.$":"States.MathAdd($.n, 1)"},"Next":"Enough"},
		"Enough":{"Type":"Choice","Choices":[{"Variable":"$.n","NumericLessThan":5000,"Next":"Add"}],"Default":"Done"},
		"Done":{"Type":"Succeed"}}}`))
	if err != nil {
		b.Fatal(err)
	}
	store := memstore.New()
	eng, err := engine.New(m.Flow(), store)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		id := fmt.Sprint("r", i)
		if _, err := eng.Run(b.Context(), id, engine.Input(atom.MustEncode(map[string]int{"n": 0}))); err != nil {
			b.Fatal(err)
		}
		if _, err := store.Purge(b.Context(), id); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*10_000), "ns/transition")
}

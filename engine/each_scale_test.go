package engine_test

import (
	"context"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage/memstore"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

var numbersKey = atom.NewKey[[]int]("numbers")

// numbers returns a list of n numbers.
func numbers(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// TestScaleEach runs over two lists, one of which is ten times as long. The live heap, without the list itself, must be
// the same, also while the results are read.
//
// Guarantee (Waiting and time): Live heap of a `flow.Each` grows only with the list.
func TestScaleEach(t *testing.T) {
	long := min(scale(t, 20_000), 100_000)
	short := long / 10
	small, _ := eachHeap(t, short)
	large, took := eachHeap(t, long)
	t.Logf("live heap %.1f MiB over %d items and %.1f MiB over %d items; %.0f items/s",
		float64(small)/mib, short, float64(large)/mib, long, float64(long)/took.Seconds())
	list := int64(len(atom.MustEncode(numbers(long))))
	if large > small+3*list+2*mib {
		t.Errorf("the heap grows with the items: %d bytes for %d, %d bytes for %d", small, short, large, long)
	}
}

// eachHeap returns the live heap, beyond the initial one, while a body ran for the second half of n items, and while a
// task read their results: the larger of both. It takes the lowest of several measurements, because other tests
// allocate meanwhile.
func eachHeap(t *testing.T, n int) (heap int64, took time.Duration) {
	t.Helper()
	store, _ := openScale(t)
	begin := time.Now()
	result := strings.Repeat("x", 300) // much more than an item
	before := int64(0)
	look := func(least *int64, i int) {
		if i >= n/2 && i%(n/20) == 0 {
			*least = min(*least, liveHeap()-before)
		}
	}
	picking, reading := int64(math.MaxInt64), int64(math.MaxInt64)
	body := atom.Pair("pick", func(_ context.Context, i int) (string, error) {
		look(&picking, i)
		return strconv.Itoa(i) + result, nil
	}, func(context.Context, int, atom.Outcome[string]) error { return nil })
	read := atom.Func("read", func(ctx context.Context, in struct {
		Picked atom.List[string] `json:"picked"`
	},
	) (int, error) {
		i := 0
		for text, err := range in.Picked.All(ctx) {
			if err != nil {
				return 0, err
			}
			if text != strconv.Itoa(i)+result {
				return 0, atom.Errorf("Order", "element %d is %.20q", i, text)
			}
			look(&reading, i)
			i++
		}
		return i, nil
	}, atom.As("count"))
	e := newEngine(t, flow.Linear("f", flow.Each("picked", numbersKey, body), read), engine.WithStore(store), engine.WithInputs(numbersKey))
	list := numbers(n)
	before = liveHeap()
	res, err := e.Run(t.Context(), "r", engine.With(numbersKey, list))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := engine.Get(res, atom.NewKey[int]("count")); err != nil || got != n {
		t.Fatalf("read %d of %d results, %v", got, n, err)
	}
	return max(picking, reading), time.Since(begin)
}

// TestScaleEachResumes stops in the middle of a long list. Another process continues there. It calls only the items a
// second time that were running.
func TestScaleEachResumes(t *testing.T) {
	n := min(scale(t, 5_000), 100_000)
	store, _ := openScale(t)
	calls := make([]int, n)
	ctx, stop := context.WithCancel(t.Context())
	body := atom.Func("pick", func(ctx context.Context, i int) (int, error) {
		calls[i]++
		if i == n/2 && calls[i] == 1 {
			stop()
			<-ctx.Done()
			return 0, ctx.Err()
		}
		return i, nil
	})
	root := flow.Each("picked", numbersKey, body)
	first := newEngine(t, root, engine.WithStore(store), engine.WithInputs(numbersKey))
	if _, err := first.Run(ctx, "r", engine.With(numbersKey, numbers(n))); err == nil {
		t.Fatal("the process was not stopped")
	}
	second := newEngine(t, root, engine.WithStore(store), engine.WithInputs(numbersKey))
	res, err := second.Run(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	for v, err := range engine.Elements(t.Context(), res, atom.NewKey[[]int]("picked")) {
		if err != nil || v != i {
			t.Fatalf("element %d is %d, %v", i, v, err)
		}
		i++
	}
	again := 0
	for _, c := range calls {
		again += c - 1
	}
	if i != n || again < 1 || again > flow.DefaultItems {
		t.Errorf("%d of %d results; %d items were called again, want %d at most", i, n, again, flow.DefaultItems)
	}
}

// BenchmarkEach compares an Each with the same number of single tasks. In SQLite, a run of the items commits each item,
// as Unordered does.
func BenchmarkEach(b *testing.B) {
	const n = 200
	do := func(context.Context, int) (int, error) { return 1, nil }
	unordered := flow.Unordered("f")
	for i := range n {
		unordered.Add(atom.Func("t"+strconv.Itoa(i), do, atom.From("one"), atom.As("r"+strconv.Itoa(i))))
	}
	one := atom.NewKey[int]("one")
	for name, c := range map[string]struct {
		root  flow.Node
		input engine.InputOption
	}{
		"each":      {flow.Each("r", numbersKey, atom.Func("t", do)), engine.With(numbersKey, numbers(n))},
		"flows":     {flow.Each("r", numbersKey, flow.Linear("one", atom.Func("t", do, atom.From("item")))), engine.With(numbersKey, numbers(n))},
		"unordered": {unordered, engine.With(one, 1)},
	} {
		for kind, open := range map[string]func(b *testing.B) backend.Store{"memory": memoryStore, "sqlite": sqliteStore} {
			b.Run(name+"/"+kind, func(b *testing.B) {
				e, err := engine.New(c.root, open(b), c.input)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				runs := 0
				for b.Loop() {
					runs++
					if _, err := e.Run(b.Context(), "r"+strconv.Itoa(runs)); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(runs*n)/b.Elapsed().Seconds(), "steps/s")
			})
		}
	}
}

func memoryStore(*testing.B) backend.Store { return memstore.New() }

func sqliteStore(b *testing.B) backend.Store {
	b.Helper()
	store, err := sqlstore.Open(b.Context(), "sqlite:"+filepath.Join(b.TempDir(), "ebb.db"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = store.Close() })
	return store
}

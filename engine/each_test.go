package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/longtest"
	"github.com/ebbflow/ebb/states"
)

// A line is an item of an order.
type line struct {
	SKU   string `json:"sku"`
	Count int    `json:"count"`
}

// A pick is the result of a line.
type pick struct {
	SKU string `json:"sku"`
	Bin string `json:"bin"`
}

var (
	linesKey = atom.NewKey[[]line]("lines")
	orderKey = atom.NewKey[string]("order")
)

// lines returns n lines of an order.
func lines(n int) []line {
	list := make([]line, n)
	for i := range list {
		list[i] = line{SKU: "s" + strconv.Itoa(i), Count: 1}
	}
	return list
}

// A warehouse is the world of the orders. It records their effects.
type warehouse struct {
	mu    sync.Mutex
	lines []string
	stock map[string]int
	bad   func(sku string) error
}

func newWarehouse() *warehouse { return &warehouse{stock: map[string]int{}} }

func (w *warehouse) note(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, text)
}

type toPick struct {
	Order string `json:"order"`
	SKU   string `json:"sku"`
	Count int    `json:"count"`
}

// A picker takes the goods of a line from stock.
type picker struct{ w *warehouse }

func (p picker) Execute(_ context.Context, in toPick) (pick, error) {
	if p.w.bad != nil {
		if err := p.w.bad(in.SKU); err != nil {
			return pick{}, err
		}
	}
	p.w.note("pick " + in.SKU)
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	p.w.stock[in.SKU] -= in.Count
	return pick{in.SKU, in.Order + "/" + in.SKU}, nil
}

func (p picker) Revert(_ context.Context, in toPick, did atom.Outcome[pick]) error {
	if _, done := did.Done(); !done {
		return nil
	}
	p.w.note("put back " + in.SKU)
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	p.w.stock[in.SKU] += in.Count
	return nil
}

// bins is a task that requires the results of all lines at once.
func bins() *atom.Atom {
	return atom.Func("bins", func(_ context.Context, in struct {
		Picks []pick `json:"picks"`
	},
	) (string, error) {
		list := make([]string, len(in.Picks))
		for i, p := range in.Picks {
			list[i] = p.Bin
		}
		return strings.Join(list, " "), nil
	}, atom.As("bins"))
}

// onOrder runs an order of the lines on an engine for orders.
func onOrder(t *testing.T, e *engine.Engine, id string, list []line) (*engine.Result, error) {
	t.Helper()
	return e.Run(t.Context(), id, engine.With(linesKey, list), engine.With(orderKey, id))
}

func orderEngine(t *testing.T, root flow.Node, opts ...engine.Option) *engine.Engine {
	t.Helper()
	return newEngine(t, root, append(opts, engine.WithInputs(linesKey, orderKey))...)
}

// TestEachOfEverySize lets one engine run orders of different sizes, with as many items at once as allowed. The results
// are in the order of the items, also if they are too many for one value.
func TestEachOfEverySize(t *testing.T) {
	eachStore(t, func(t *testing.T, store backend.Store) {
		count := atom.Func("count", func(ctx context.Context, in struct {
			Picks atom.List[pick] `json:"picks"`
		},
		) (int, error) {
			n := 0
			for p, err := range in.Picks.All(ctx) {
				if err != nil {
					return 0, err
				}
				if p.SKU != "s"+strconv.Itoa(n) {
					return 0, fmt.Errorf("%s is at %d", p.SKU, n)
				}
				n++
			}
			if n != in.Picks.Len() {
				return 0, fmt.Errorf("%d of %d", n, in.Picks.Len())
			}
			return n, nil
		}, atom.As("count"))
		var running, most atomic.Int64
		body := atom.Func("pick", func(_ context.Context, in toPick) (pick, error) {
			now := running.Add(1)
			defer running.Add(-1)
			for before := most.Load(); now > before && !most.CompareAndSwap(before, now); {
				before = most.Load()
			}
			return pick{in.SKU, in.Order + "/" + in.SKU}, nil
		})
		e := orderEngine(t, flow.Linear("order", flow.Each("picks", linesKey, body).WithParallelism(3), count, bins()), engine.WithStore(store))
		for _, n := range []int{0, 1, 7, longtest.Count(300, 1200, 1200)} {
			res, err := onOrder(t, e, "o"+strconv.Itoa(n), lines(n))
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for i := range n {
				want = append(want, fmt.Sprintf("o%d/s%d", n, i))
			}
			if got, err := engine.Get(res, atom.NewKey[string]("bins")); err != nil || got != strings.Join(want, " ") {
				t.Errorf("%d items: %.100q, %v", n, got, err)
			}
			if got, err := engine.Get(res, atom.NewKey[int]("count")); err != nil || got != n {
				t.Errorf("%d items: counted %d, %v", n, got, err)
			}
			i := 0
			for p, err := range engine.Elements(t.Context(), res, atom.NewKey[[]pick]("picks")) {
				if err != nil || p.SKU != "s"+strconv.Itoa(i) {
					t.Fatalf("element %d is %v, %v", i, p, err)
				}
				i++
			}
			if i != n {
				t.Errorf("%d elements of %d", i, n)
			}
		}
		if most.Load() > 3 {
			t.Errorf("%d items ran at once; want 3 at most", most.Load())
		}
	})
}

// TestEachIsUndone fails an order after its lines were picked. They are put back, the last one first.
func TestEachIsUndone(t *testing.T) {
	eachStore(t, func(t *testing.T, store backend.Store) {
		w := newWarehouse()
		ship := atom.Func("ship", func(context.Context, struct{}) (struct{}, error) {
			return struct{}{}, atom.Errorf("NoTruck", "no truck")
		})
		e := orderEngine(t, flow.Linear("order", flow.Each("picks", linesKey, atom.Task("pick", picker{w})).WithParallelism(1), ship),
			engine.WithStore(store))
		_, err := onOrder(t, e, "o", lines(3))
		if _, is := errors.AsType[*engine.RevertedError](err); !is || !strings.Contains(err.Error(), "NoTruck") {
			t.Fatalf("got %v", err)
		}
		want := []string{"pick s0", "pick s1", "pick s2", "put back s2", "put back s1", "put back s0"}
		if diff := cmp.Diff(want, w.lines); diff != "" {
			t.Error(diff)
		}
		child, err := store.Run(t.Context(), "o/picks")
		if err != nil || child.State != states.FlowReverted || child.Parent != "o" {
			t.Errorf("the run of the items: %v, parent %q, %v", child.State, child.Parent, err)
		}
	})
}

// TestEachFails lets one item fail. No other item starts, finished items are undone, and the failure names the item.
func TestEachFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWarehouse()
		w.bad = func(sku string) error {
			switch sku {
			case "s0", "s1":
				return nil
			case "s2":
				return atom.Errorf("OutOfStock", "none left")
			default:
				time.Sleep(time.Second) // the engine has heard of the failure by then
				return nil
			}
		}
		e := orderEngine(t, flow.Linear("order", flow.Each("picks", linesKey, atom.Task("pick", picker{w})).WithParallelism(2)))
		_, err := onOrder(t, e, "o", lines(50))
		reverted, is := errors.AsType[*engine.RevertedError](err)
		if !is || reverted.Failures[0].Error() != "picks/2: OutOfStock: none left" {
			t.Fatalf("got %v", err)
		}
		if n := len(w.lines); n > 2*4 {
			t.Errorf("%d things were done after one of the first failed: %v", n, w.lines)
		}
		for sku, n := range w.stock {
			if n != 0 {
				t.Errorf("%s: %d", sku, n)
			}
		}
	})
}

// TestEachTolerates leaves out failed items, up to a number of them.
func TestEachTolerates(t *testing.T) {
	for bad, ok := range map[int]bool{0: true, 2: true, 3: false} {
		w := newWarehouse()
		w.bad = func(sku string) error {
			if n, _ := strconv.Atoi(sku[1:]); n%3 == 1 && n < 3*bad {
				return errors.New("damaged")
			}
			return nil
		}
		each := flow.Each("picks", linesKey, atom.Task("pick", picker{w})).Tolerate(2).FailuresAs("lost")
		res, err := onOrder(t, orderEngine(t, flow.Linear("order", each, bins())), "o", lines(12))
		if (err == nil) != ok {
			t.Errorf("with %d failures: %v", bad, err)
		}
		if err != nil {
			if !strings.Contains(err.Error(), "more than 2 items have failed") {
				t.Errorf("the failure does not tell of the tolerance: %v", err)
			}
			continue
		}
		got, err := engine.Get(res, atom.NewKey[string]("bins"))
		if list := strings.Fields(got); err != nil || len(list) != 12-bad || slices.Contains(list, "o/s1") != (bad == 0) {
			t.Errorf("with %d failures: %v, %v", bad, got, err)
		}
		want := []flow.ItemFailure{}
		for i := range bad {
			want = append(want, flow.ItemFailure{Index: 3*i + 1, Code: atom.CodeError, Message: "damaged"})
		}
		lost, err := engine.Get(res, atom.NewKey[[]flow.ItemFailure]("lost"))
		if diff := cmp.Diff(want, lost); err != nil || diff != "" {
			t.Errorf("the failures: %v, %s", err, diff)
		}
	}
}

// TestEachListsFailuresOfMany lists failures beside results that are too many for one value.
func TestEachListsFailuresOfMany(t *testing.T) {
	w := newWarehouse()
	w.bad = func(sku string) error {
		if len(sku) == len("s1000") {
			return errors.New("damaged")
		}
		return nil
	}
	each := flow.Each("picks", linesKey, atom.Task("pick", picker{w})).Tolerate(5000).FailuresAs("lost")
	res, err := onOrder(t, orderEngine(t, each), "o", lines(2100))
	if err != nil {
		t.Fatal(err)
	}
	lost, err := engine.Get(res, atom.NewKey[[]flow.ItemFailure]("lost"))
	if err != nil || len(lost) != flow.MaxItemFailures || !slices.IsSortedFunc(lost, func(a, b flow.ItemFailure) int {
		return a.Index - b.Index
	}) {
		t.Errorf("%d failures, %v", len(lost), err)
	}
	n := 0
	for _, err := range engine.Elements(t.Context(), res, atom.NewKey[[]pick]("picks")) {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	if n != 1000 {
		t.Errorf("%d results; want 1000", n)
	}
}

// TestEachRetriesAnItem retries an item as its atom says, with the same key, while the others continue.
func TestEachRetriesAnItem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		keys := map[string]int{}
		body := atom.Func("pick", func(ctx context.Context, sku string) (string, error) {
			mu.Lock()
			defer mu.Unlock()
			keys[atom.IdempotencyKey(ctx)]++
			if sku == "b" && keys[atom.IdempotencyKey(ctx)] < 3 {
				return "", errors.New("busy")
			}
			return strings.ToUpper(sku), nil
		}, atom.Attempts(3, atom.Constant(time.Hour)))
		skus, out := atom.NewKey[[]string]("skus"), atom.NewKey[[]string]("picked")
		e := newEngine(t, flow.Each("pick", skus, body).As("picked"), engine.WithInputs(skus))
		begin := time.Now()
		res, err := e.Run(t.Context(), "o", engine.With(skus, []string{"a", "b", "c"}))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := engine.Get(res, out); err != nil || !slices.Equal(got, []string{"A", "B", "C"}) {
			t.Errorf("got %v, %v", got, err)
		}
		if diff := cmp.Diff(map[string]int{"o/pick/0/0": 1, "o/pick/1/0": 3, "o/pick/2/0": 1}, keys); diff != "" {
			t.Error(diff)
		}
		if took := time.Since(begin); took != 2*time.Hour {
			t.Errorf("it took %v", took)
		}
	})
}

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
	"github.com/ebbflow/ebb/storage"
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

// TestEachOfAFlow runs a flow for each item, with a symbol from around it, and with an Each inside it for each part of
// the item. A later failure undoes all of them.
func TestEachOfAFlow(t *testing.T) {
	type box struct {
		Label string   `json:"label"`
		Parts []string `json:"parts"`
	}
	boxes := atom.NewKey[[]box]("boxes")
	eachStore(t, func(t *testing.T, store backend.Store) {
		w := newWarehouse()
		step := func(name string) *atom.Atom {
			return atom.Pair(name, func(_ context.Context, in struct {
				Order string `json:"order"`
				Label string `json:"label"`
			},
			) (struct{}, error) {
				w.note(name + " " + in.Order + " " + in.Label)
				return struct{}{}, nil
			}, func(_ context.Context, in struct {
				Order string `json:"order"`
				Label string `json:"label"`
			}, _ atom.Outcome[struct{}],
			) error {
				w.note("undo " + name + " " + in.Label)
				return nil
			})
		}
		body := flow.Linear("pack", step("open"),
			flow.Each("packed", atom.NewKey[[]string]("parts"), partOf(w)).WithParallelism(1), step("close"))
		fails := atom.Func("fails", func(context.Context, struct{}) (struct{}, error) { return struct{}{}, errors.New("no") })
		packed := []box{{"x", []string{"1", "2"}}, {"y", []string{"3"}}}

		e := newEngine(t, flow.Linear("order", flow.Each("all", boxes, body).WithParallelism(1)), engine.WithStore(store),
			engine.WithInputs(boxes, orderKey))
		res, err := e.Run(t.Context(), "good", engine.With(boxes, packed), engine.With(orderKey, "o"))
		if err != nil {
			t.Fatal(err)
		}
		if v, _ := res.Value("all"); v.String() != `[{"packed":["x1","x2"]},{"packed":["y3"]}]` {
			t.Errorf("got %v", v)
		}
		if diff := cmp.Diff([]string{"open o x", "part x1", "part x2", "close o x", "open o y", "part y3", "close o y"}, w.lines); diff != "" {
			t.Error(diff)
		}

		w.lines = nil
		e = newEngine(t, flow.Linear("order", flow.Each("all", boxes, body).WithParallelism(1), fails), engine.WithStore(store),
			engine.WithInputs(boxes, orderKey))
		_, err = e.Run(t.Context(), "bad", engine.With(boxes, packed), engine.With(orderKey, "o"))
		if _, is := errors.AsType[*engine.RevertedError](err); !is {
			t.Fatal(err)
		}
		want := []string{
			"undo close y", "undo part y3", "undo open y", "undo close x", "undo part x2", "undo part x1", "undo open x",
		}
		if diff := cmp.Diff(want, w.lines[7:]); diff != "" {
			t.Error(diff)
		}
	})
}

// partOf packs one part of a box.
func partOf(w *warehouse) *atom.Atom {
	type part struct {
		Label string `json:"label"`
		Item  string `json:"item"`
	}
	return atom.Pair("part", func(_ context.Context, in part) (string, error) {
		w.note("part " + in.Label + in.Item)
		return in.Label + in.Item, nil
	}, func(_ context.Context, in part, _ atom.Outcome[string]) error {
		w.note("undo part " + in.Label + in.Item)
		return nil
	})
}

// TestEachOverStoredResults runs a body for each result of another Each, which are too many for one value.
func TestEachOverStoredResults(t *testing.T) {
	eachStore(t, func(t *testing.T, store backend.Store) {
		numbers, doubled := atom.NewKey[[]int]("numbers"), atom.NewKey[[]int]("doubled")
		double := func(name string) *atom.Atom {
			return atom.Func(name, func(_ context.Context, n int) (int, error) {
				if n%700 == 699 {
					return 0, errors.New("tolerated")
				}
				return 2 * n, nil
			})
		}
		sum := atom.Func("sum", func(_ context.Context, in struct {
			Again []int `json:"again"`
		},
		) (int, error) {
			total := 0
			for _, n := range in.Again {
				total += n
			}
			return total, nil
		}, atom.As("sum"))
		e := newEngine(t, flow.Linear("f", flow.Each("first", numbers, double("a")).Tolerate(9).As("doubled"),
			flow.Each("again", doubled, double("b")).WithParallelism(100), sum), engine.WithInputs(numbers), engine.WithStore(store))
		list, want := make([]int, 1500), 0
		for i := range list {
			list[i] = i
			if i%700 != 699 {
				want += 4 * i
			}
		}
		res, err := e.Run(t.Context(), "r", engine.With(numbers, list))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := engine.Get(res, atom.NewKey[int]("sum")); err != nil || got != want {
			t.Errorf("got %d, %v; want %d", got, err, want)
		}
	})
}

// TestEachAwaitsTokens lets another party end each item.
func TestEachAwaitsTokens(t *testing.T) {
	eachStore(t, func(t *testing.T, store backend.Store) {
		tokens := make(chan string, 2)
		ask := atom.Func("ask", func(ctx context.Context, _ string) (string, error) {
			tokens <- atom.Token(ctx)
			return "", atom.ErrDeferred
		}, atom.Deferrable(atom.Deferral{}))
		people := atom.NewKey[[]string]("people")
		e := newEngine(t, flow.Each("answers", people, ask), engine.WithInputs(people), engine.WithStore(store))
		go func() {
			for i := range 2 {
				_, _ = store.EndToken(context.WithoutCancel(t.Context()), <-tokens, storage.TokenEnd{Result: atom.MustEncode("yes" + strconv.Itoa(i))})
			}
		}()
		res, err := e.Run(t.Context(), "r", engine.With(people, []string{"ann", "bob"}))
		if err != nil {
			t.Fatal(err)
		}
		v, _ := res.Value("answers")
		if got := v.String(); got != `["yes0","yes1"]` && got != `["yes1","yes0"]` {
			t.Errorf("got %v", got)
		}
	})
}

// TestEachChecksWhatEndsAnItem refuses a result of the wrong type for the token of an item, which keeps waiting.
func TestEachChecksWhatEndsAnItem(t *testing.T) {
	eachStore(t, func(t *testing.T, store backend.Store) {
		tokens := make(chan string, 1)
		ask := atom.Func("ask", func(ctx context.Context, _ string) (int, error) {
			tokens <- atom.Token(ctx)
			return 0, atom.ErrDeferred
		}, atom.Deferrable(atom.Deferral{}))
		people := atom.NewKey[[]string]("people")
		root := flow.Linear("f", flow.Each("ages", people, ask))
		e := newEngine(t, root, engine.WithInputs(people), engine.WithStore(store))
		if err := e.Start(t.Context(), "r", engine.With(people, []string{"ann"})); err != nil {
			t.Fatal(err)
		}
		server, err := engine.NewServer(engine.Flows(root), store)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- server.Serve(ctx) }()
		token := <-tokens
		_, err = store.EndToken(ctx, token, storage.TokenEnd{Result: atom.MustEncode("old")})
		if !errors.Is(err, storage.ErrInvalid) || !strings.Contains(err.Error(), `run "r/ages": no result of 0`) {
			t.Errorf("got %v", err)
		}
		if _, err := server.CompleteTask(ctx, token, 0, atom.MustEncode("old")); !errors.Is(err, storage.ErrInvalid) {
			t.Errorf("got %v", err)
		}
		if _, err := server.CompleteTask(ctx, token, 0, atom.MustEncode(70)); err != nil {
			t.Error(err)
		}
		if run := awaitEnd(t, store, "r"); run.State != states.FlowSuccess {
			t.Errorf("it is %v: %v", run.State, run.Failure)
		}
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}

// TestEachIsCancelled cancels an order in the middle of its lines, which are put back.
func TestEachIsCancelled(t *testing.T) {
	eachStore(t, func(t *testing.T, store backend.Store) {
		w := newWarehouse()
		reached := make(chan struct{})
		var once sync.Once
		body := atom.Pair("pick", func(ctx context.Context, in toPick) (pick, error) {
			if in.SKU == "s3" {
				once.Do(func() { close(reached) })
				<-ctx.Done()
				return pick{}, ctx.Err()
			}
			return picker{w}.Execute(ctx, in)
		}, picker{w}.Revert)
		e := orderEngine(t, flow.Linear("order", flow.Each("picks", linesKey, body).WithParallelism(1)), engine.WithStore(store))
		go func() {
			<-reached
			_, _ = e.Command(context.WithoutCancel(t.Context()), "o", engine.Cancel("changed my mind"))
		}()
		_, err := onOrder(t, e, "o", lines(10))
		if _, is := errors.AsType[*engine.RevertedError](err); !is {
			t.Fatalf("got %v", err)
		}
		if diff := cmp.Diff([]string{"pick s0", "pick s1", "pick s2", "put back s2", "put back s1", "put back s0"}, w.lines); diff != "" {
			t.Error(diff)
		}
	})
}

// TestEachIsServed lets a server of one registered flow run orders of different sizes.
func TestEachIsServed(t *testing.T) {
	eachStore(t, func(t *testing.T, store backend.Store) {
		root := flow.Linear("order", flow.Each("picks", linesKey, atom.Task("pick", picker{newWarehouse()})), bins())
		e := orderEngine(t, root, engine.WithStore(store))
		for _, n := range []int{3, 40, 0} {
			if err := e.Start(t.Context(), "o"+strconv.Itoa(n), engine.With(linesKey, lines(n)), engine.With(orderKey, "o")); err != nil {
				t.Fatal(err)
			}
		}
		server, err := engine.NewServer(engine.Flows(root), store)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- server.Serve(ctx) }()
		for _, n := range []int{3, 40, 0} {
			if run := awaitEnd(t, store, "o"+strconv.Itoa(n)); run.State != states.FlowSuccess {
				t.Errorf("%d items: %v", n, run.State)
			}
		}
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}

// awaitEnd returns a run once it has ended.
func awaitEnd(t *testing.T, store backend.Store, id string) storage.Run {
	t.Helper()
	for {
		changed := store.Changed()
		run, err := store.Run(t.Context(), id)
		if err != nil || run.State.Ended() {
			if err != nil {
				t.Fatal(err)
			}
			return run
		}
		select {
		case <-changed:
		case <-t.Context().Done():
			t.Fatalf("run %q is %v", id, run.State)
		}
	}
}

// Package orderservice is a service for orders, in a SQLite file.
//
// You learn to build it in eight steps:
//
//  1. Pick each line. The length of an order is known only when it comes. flow.Each("picked", …) runs pick for each
//     line, eight at once, and provides the results as a list.
//  2. Undo. picker and payer have Revert. Both find what they did by atom.IdempotencyKey, so a crash or an unknown
//     outcome does no harm.
//  3. Retry the payment. WithRetry(atom.Times(3, …, "Card.Busy")) retries if the card is busy. Any other failure undoes
//     the order.
//  4. Wait for a person. atom.Awaits("approve", …) ends with: ebb signal ORDER approved --data '"ann"'. It fails after
//     two days. Then Ebb refunds the payment and puts the lines back.
//  5. Wrap gifts only. flow.When(gift, …) decides whether wrap runs, and LeaveOut(flow.DepthAtom) leaves out only that
//     step. engine.New reports a misspelled symbol.
//  6. Serve. sqlstore.Open opens the file, engine.Start creates an order, engine.Serve drives all orders. After a
//     crash, start the program again: each order resumes, also in the middle of its lines.
//  7. Count. An observer hears of everything that was committed. Package server/metrics has ready-made metrics.
//  8. Test. TestEveryFailure fails each step in each way, refuses the approval, leaves it unanswered, and crashes at
//     each point.
//
// While orders run, ebb --dsn sqlite:orders.db list, show and why say what they do, and what they wait for.
package orderservice_test

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/enginetest"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// A Line is a line of an order.
type Line struct {
	SKU   string `json:"sku"`
	Count int    `json:"count"`
}

var (
	lines = atom.NewKey[[]Line]("lines")
	gift  = atom.NewKey[bool]("gift")
	total = atom.NewKey[int]("total")
)

// orders returns the flow of an order.
func orders(s *Shop) flow.Node {
	pick := flow.Each("picked", lines, atom.Task("pick", picker{s})).WithParallelism(8)
	pay := flow.Linear("payment", atom.Task("pay", payer{s})).
		WithRetry(atom.Times(3, atom.Exponential(time.Second, time.Minute), "Card.Busy"))
	approve := atom.Awaits[string]("approve", "approved", atom.Deferral{Deadline: 48 * time.Hour}, atom.As("by"))
	wrap := atom.Func("wrap", s.wrap, atom.NoEffect())
	ship := atom.Func("ship", s.ship)
	return flow.Graph("order", pick, pay, approve, wrap, ship).
		Link(pick, pay).Link(pay, approve).Link(approve, wrap, flow.When(gift, func(g bool) bool { return g }),
		flow.LeaveOut(flow.DepthAtom)).Link(wrap, ship)
}

// A Shop is the world outside: what it holds is known by the keys of the calls that changed it.
type Shop struct {
	mu      sync.Mutex
	Picked  map[string]int
	Charged map[string]int
	Shipped map[string]bool
}

func newShop() *Shop {
	return &Shop{Picked: map[string]int{}, Charged: map[string]int{}, Shipped: map[string]bool{}}
}

// state is what must be back after an undo.
func (s *Shop) state() any {
	s.mu.Lock()
	defer s.mu.Unlock()
	charged := 0
	for _, n := range s.Charged {
		charged += n
	}
	return map[string]any{"picked": maps.Clone(s.Picked), "charged": charged, "shipped": len(s.Shipped)}
}

type picker struct{ s *Shop }

func (p picker) Execute(ctx context.Context, in Line) (Line, error) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	p.s.Picked[atom.IdempotencyKey(ctx)] = in.Count
	return in, nil
}

func (p picker) Revert(ctx context.Context, _ Line, _ atom.Outcome[Line]) error {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	delete(p.s.Picked, atom.IdempotencyKey(ctx))
	return nil
}

type payer struct{ s *Shop }

type bill struct {
	Total int `json:"total"`
}

type receipt struct {
	Receipt string `json:"receipt"`
}

func (p payer) Execute(ctx context.Context, in bill) (receipt, error) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	p.s.Charged[atom.IdempotencyKey(ctx)] = in.Total
	return receipt{atom.IdempotencyKey(ctx)}, nil
}

func (p payer) Revert(ctx context.Context, _ bill, _ atom.Outcome[receipt]) error {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	delete(p.s.Charged, atom.IdempotencyKey(ctx))
	return nil
}

func (s *Shop) wrap(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil }

type parcel struct {
	Picked []Line `json:"picked"` // the results of the Each
	By     string `json:"by"`
}

type shipment struct {
	Parcels int `json:"parcels"`
}

func (s *Shop) ship(ctx context.Context, in parcel) (shipment, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Shipped[atom.IdempotencyKey(ctx)] = true
	return shipment{len(in.Picked)}, nil
}

// TestServe serves orders of different sizes from a SQLite file. One engine serves them all.
func TestServe(t *testing.T) {
	store, err := sqlstore.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "orders.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	shop := newShop()
	ended := make(chan string, 2)
	var attempts atomic.Int64 // the metrics hook: an observer hears of everything that was committed
	eng, err := engine.New(orders(shop), store, engine.WithInputs(lines, gift, total),
		engine.WithObserver(func(ev engine.Event) {
			switch {
			case ev.Kind == engine.AtomChanged && ev.To == "RUNNING":
				attempts.Add(1)
			case ev.Kind == engine.FlowChanged && ev.To == "SUCCESS" && !strings.Contains(ev.Run, "/"):
				ended <- ev.Run
			}
		}))
	if err != nil {
		t.Fatal(err)
	}
	for id, n := range map[string]int{"small": 2, "large": 50} {
		list := make([]Line, n)
		for i := range list {
			list[i] = Line{SKU: fmt.Sprint("sku-", i), Count: 1}
		}
		err := eng.Start(t.Context(), id, engine.With(lines, list), engine.With(gift, n > 2), engine.With(total, 10*n))
		if err != nil {
			t.Fatal(err)
		}
		// A person approves: ebb signal small approved --data '"ann"'. A signal that comes early is kept.
		if err := engine.Signal(t.Context(), store, id, "approved", "ann"); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- eng.Serve(ctx) }()
	<-ended
	<-ended
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
	if len(shop.Picked) != 52 || len(shop.Shipped) != 2 || attempts.Load() < 52 {
		t.Errorf("%d lines were picked and %d orders shipped, with %d attempts",
			len(shop.Picked), len(shop.Shipped), attempts.Load())
	}
}

// TestEveryFailure fails each step of an order, refuses the approval and leaves it unanswered, and lets the process
// die at each point: the shop is as before, or the order is shipped.
func TestEveryFailure(t *testing.T) {
	enginetest.FailAt(t, enginetest.World[*Shop]{
		New:   func(testing.TB) *Shop { return newShop() },
		Flow:  orders,
		State: func(s *Shop) any { return s.state() },
		Options: func(*Shop) []engine.Option {
			return []engine.Option{
				engine.With(lines, []Line{{"apple", 2}, {"pear", 1}}), engine.With(gift, true), engine.With(total, 30),
			}
		},
		Answers: map[string]any{"approve": "ann"},
		Codes:   []string{"Card.Busy"},
		Stays:   []string{"ship"}, // what was shipped is on its way
	})
}

package enginetest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/enginetest"
	"github.com/ebbflow/ebb/flow"
)

// A Hall has seats, and a till.
type Hall struct {
	Seats map[string]string // the guest of each seat
	Till  int
	paid  map[string]bool // by idempotency key
}

// hold is right: it may be called twice, and its Revert handles every outcome.
func hold(h *Hall) *atom.Atom {
	return atom.Pair("hold-seat",
		func(context.Context, struct{}) (struct{}, error) {
			h.Seats["A1"] = "ann"
			return struct{}{}, nil
		},
		func(context.Context, struct{}, atom.Outcome[struct{}]) error {
			delete(h.Seats, "A1")
			return nil
		})
}

// pay has a mistake: if the answer of the bank is lost, it treats it as a refusal.
func pay(h *Hall) *atom.Atom {
	return atom.Pair("pay",
		func(ctx context.Context, _ struct{}) (struct{}, error) {
			if key := atom.IdempotencyKey(ctx); !h.paid[key] {
				h.paid[key] = true
				h.Till += 40
			}
			return struct{}{}, nil
		},
		func(ctx context.Context, _ struct{}, did atom.Outcome[struct{}]) error {
			if key := atom.IdempotencyKey(ctx); h.paid[key] && !did.Unknown() {
				h.paid[key] = false
				h.Till -= 40
			}
			return nil
		})
}

// In a test, t is its *testing.T. This one prints the messages.
func ExampleFailAt() {
	t := printer{}
	enginetest.FailAt(t, enginetest.World[*Hall]{
		New: func(testing.TB) *Hall {
			return &Hall{Seats: map[string]string{}, Till: 100, paid: map[string]bool{}}
		},
		Flow: func(h *Hall) flow.Node { return flow.Linear("book", hold(h), pay(h)) },
		State: func(h *Hall) any {
			return map[string]any{"seats": h.Seats, "till": h.Till}
		},
	})
	// Output:
	// FailAt/pay/unknown_after_effect: pay was given up on, with its work done.
	// The run ended REVERTED, but the world is not as it was before it (before → after):
	//
	//     State["till"]    100 → 140
	//         pay          100 → 140 (failed)
	//         undo of pay  left it (told unknown)
	//
	// Undone, in this order: pay (told unknown), hold-seat (told done).
	// Likely culprit: Revert of pay, told unknown, left State["till"] at 140; before pay it was 100. Unknown means that it may have been done: look it up by atom.IdempotencyKey(ctx).
	//
	// 1 of 21 cases show that something is wrong
}

type printer struct{ testing.TB }

func (printer) Helper()                           {}
func (printer) Errorf(format string, args ...any) { fmt.Printf(format+"\n\n", args...) }
func (printer) Logf(format string, args ...any)   { fmt.Printf(format+"\n", args...) }

// Package undobug shows how a bug in an undo is found before a customer finds
// it.
//
// What you will learn: to let [enginetest.FailAt] run a flow once for each way in
// which it can go wrong, to read what it says, and to mend what it found.
//
// The scenario: Ann buys a ticket. A seat is held, her card is charged, a ticket
// is issued. Each of the three can be undone, and each undo has been tested by
// itself. Still, every few weeks a customer pays and gets no ticket.
//
//	hold-seat  ──►  charge-card  ──►  issue-ticket
//	seat            → receipt
package undobug_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/enginetest"
	"github.com/ebbflow/ebb/flow"
)

var (
	seat  = atom.NewKey[string]("seat")
	buyer = atom.NewKey[string]("buyer")
)

const price = 4000 // cents

type booking struct {
	Seat  string `json:"seat"`
	Buyer string `json:"buyer"`
}

type holdSeat struct{ office *BoxOffice }

func (t holdSeat) Execute(_ context.Context, in booking) (struct{}, error) {
	return struct{}{}, t.office.Hold(in.Seat, in.Buyer)
}

func (t holdSeat) Revert(_ context.Context, in booking, _ atom.Outcome[struct{}]) error {
	t.office.Release(in.Seat)
	return nil
}

type paid struct {
	Receipt string `json:"receipt"`
}

// chargeCard is the task as it went into production.
type chargeCard struct{ office *BoxOffice }

func (t chargeCard) Execute(ctx context.Context, in booking) (paid, error) {
	return paid{t.office.Charge(ctx, in.Buyer, price)}, nil
}

func (t chargeCard) Revert(_ context.Context, in booking, did atom.Outcome[paid]) error {
	if p, ok := did.Done(); ok {
		t.office.Refund(in.Buyer, p.Receipt)
	}
	return nil // it failed: there is nothing to refund
}

type issueTicket struct{ office *BoxOffice }

func (t issueTicket) Execute(_ context.Context, in booking) (struct{}, error) {
	t.office.Issue(in.Seat, in.Buyer)
	return struct{}{}, nil
}

func (t issueTicket) Revert(_ context.Context, in booking, _ atom.Outcome[struct{}]) error {
	t.office.Void(in.Seat)
	return nil
}

// tickets returns the flow with one or the other task for the card. The network
// of cards is tried three times, an hour apart.
func tickets(office *BoxOffice, charge *atom.Atom) flow.Node {
	return flow.Linear("tickets",
		atom.Task("hold-seat", holdSeat{office}),
		flow.Linear("payment", charge).WithRetry(atom.Times(3, atom.Constant(time.Hour), "CardNetwork.Busy")),
		atom.Task("issue-ticket", issueTicket{office}),
	)
}

// world tells FailAt all it needs: how to make a world, which flow changes it,
// what the flow is given, and what of the world must be back afterwards.
func world(charge func(*BoxOffice) *atom.Atom) enginetest.World[*BoxOffice] {
	return enginetest.World[*BoxOffice]{
		New:  func(testing.TB) *BoxOffice { return NewBoxOffice() },
		Flow: func(b *BoxOffice) flow.Node { return tickets(b, charge(b)) },
		Options: func(*BoxOffice) []engine.Option {
			return []engine.Option{engine.With(seat, "A1"), engine.With(buyer, "ann")}
		},
		State: func(b *BoxOffice) any {
			return struct {
				Held, Tickets map[string]string
				Charged       map[string]int
			}{b.Held, b.Tickets, b.Charged}
		},
	}
}

// In a test one would write
//
//	enginetest.FailAt(t, world(…))
//
// and read what go test says. Here the reports are printed.
//
// The flow is correct as long as it knows whether the charge was made. These are
// the cases that the author tested. The flow is wrong if the charge was made and
// its answer was an error, a panic, or never came. In these cases the tickets
// were lost.
func Example() {
	r := &reports{}
	sloppy := func(b *BoxOffice) *atom.Atom { return atom.Task("charge-card", chargeCard{b}) }
	enginetest.FailAt(r, world(sloppy))
	for _, text := range r.texts {
		if !strings.Contains(text, ", as in ") { // each in full only once
			fmt.Println(text)
			fmt.Println()
		}
	}
	// Output:
	// FailAt/charge-card/after_effect: charge-card failed after it had done its work.
	// The run ended REVERTED, but the world is not as it was before it (before → after):
	//
	//     State.Charged["ann"]     0 → 4000
	//         charge-card          0 → 4000 (failed)
	//         undo of charge-card  left it (told failed)
	//
	// Undone, in this order: charge-card (told failed), hold-seat (told done).
	// Likely culprit: Revert of charge-card, told failed, left State.Charged["ann"] at 4000; before charge-card it was 0. Failed does not mean that nothing was done: look it up by atom.IdempotencyKey(ctx).
	//
	// FailAt/charge-card/unknown_after_effect: charge-card was given up on, with its work done.
	// The run ended REVERTED, but the world is not as it was before it (before → after):
	//
	//     State.Charged["ann"]     0 → 4000
	//         charge-card          0 → 4000 (failed)
	//         undo of charge-card  left it (told unknown)
	//
	// Undone, in this order: charge-card (told unknown), hold-seat (told done).
	// Likely culprit: Revert of charge-card, told unknown, left State.Charged["ann"] at 4000; before charge-card it was 0. Unknown means that it may have been done: look it up by atom.IdempotencyKey(ctx).
}

// mendedCard asks by the key under which the card was charged, if it was. That is right for every outcome, so it need
// not look at did.
type mendedCard struct{ chargeCard }

func (t mendedCard) Revert(ctx context.Context, in booking, _ atom.Outcome[paid]) error {
	t.office.Refund(in.Buyer, atom.IdempotencyKey(ctx))
	return nil
}

// TestMended is how the flow should have been tested from the beginning: one
// test, sixty cases, and the hours between the tries take no time.
func TestMended(t *testing.T) {
	t.Parallel()
	w := world(func(b *BoxOffice) *atom.Atom { return atom.Task("charge-card", mendedCard{chargeCard{b}}) })
	w.Codes = []string{"CardNetwork.Busy"} // so that the retry is put to the test, too
	enginetest.FailAt(t, w)
}

// reports replaces a test and keeps the messages.
type reports struct {
	testing.TB

	texts []string
}

func (r *reports) Helper() {}

func (r *reports) Errorf(format string, args ...any) {
	r.texts = append(r.texts, fmt.Sprintf(format, args...))
}

func (r *reports) Logf(string, ...any) {}

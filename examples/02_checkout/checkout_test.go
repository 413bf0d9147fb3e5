// Package checkout shows a graph with a decision and a retry.
//
// You learn how the order of a flow follows from links and from what tasks require. You decide by a value which way a
// flow takes, retry a part of a flow, give a failure a code, and draw a flow.
//
// The scenario: goods are reserved and a card is charged. The network of the card
// fails now and then, so charging is tried up to three times. An order that looks
// like fraud is reviewed by a human; the others are shipped.
//
//	                              ┌─ risk ≥ 0.8 ─►  manual-review
//	reserve ──►  charge (retry) ──┤
//	                              └─ risk < 0.8 ─►  ship
package checkout_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/storage/memstore"
)

var (
	order = atom.NewKey[string]("order")
	risk  = atom.NewKey[float64]("risk")
)

// checkout returns the flow. The retry belongs to the flow "charge": when it
// decides to try again, that flow is undone and run again, and no other.
func checkout(bank *Bank) *flow.GraphFlow {
	reserve := atom.Task("reserve", reserveStock{})
	charge := flow.Linear("charge", atom.Task("charge-card", chargeCard{bank})).
		WithRetry(atom.Times(3, atom.Exponential(time.Millisecond, time.Second), "CardNetwork.Timeout"))
	review := atom.Task("manual-review", manualReview{})
	ship := atom.Task("ship", shipOrder{})

	g := flow.Graph("checkout", reserve, charge, review, ship)
	g.Link(reserve, charge)
	g.Link(charge, review, flow.When(risk, func(r float64) bool { return r >= 0.8 }))
	g.Link(charge, ship, flow.When(risk, func(r float64) bool { return r < 0.8 }))
	return g
}

type purchase struct {
	Order string `json:"order"`
}

type reserveStock struct{}

func (reserveStock) Execute(_ context.Context, in purchase) (struct{}, error) {
	fmt.Println("reserved for", in.Order)
	return struct{}{}, nil
}

func (reserveStock) Revert(_ context.Context, in purchase, _ atom.Outcome[struct{}]) error {
	fmt.Println("released for", in.Order)
	return nil
}

type charged struct {
	Receipt string  `json:"receipt"`
	Risk    float64 `json:"risk"`
}

type chargeCard struct{ bank *Bank }

func (t chargeCard) Execute(ctx context.Context, in purchase) (charged, error) {
	receipt, risk, err := t.bank.Charge(ctx, in.Order)
	return charged{receipt, risk}, err
}

func (t chargeCard) Revert(ctx context.Context, _ purchase, did atom.Outcome[charged]) error {
	if paid, ok := did.Done(); ok {
		return t.bank.Refund(ctx, paid.Receipt)
	}
	return t.bank.RefundByKey(ctx, atom.IdempotencyKey(ctx))
}

type manualReview struct{}

func (manualReview) Execute(_ context.Context, in purchase) (struct{}, error) {
	fmt.Println("an operator looks at", in.Order)
	return struct{}{}, nil
}

type shipment struct {
	Order   string `json:"order"`
	Receipt string `json:"receipt"`
}

type shipOrder struct{}

func (shipOrder) Execute(_ context.Context, in shipment) (struct{}, error) {
	fmt.Printf("shipped %s, paid with %s\n", in.Order, in.Receipt)
	return struct{}{}, nil
}

// buy runs the flow for one order and says how it ended.
func buy(id string, bank *Bank) {
	eng, err := engine.New(checkout(bank), memstore.New(), engine.With(order, id))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = eng.Run(context.Background(), "checkout-"+id)
	if reverted, ok := errors.AsType[*engine.RevertedError](err); ok {
		fmt.Println("undone because", reverted.Failures[0])
	} else if err != nil {
		fmt.Println(err)
	}
}

func Example() {
	buy("tea", &Bank{Risk: 0.1})
	buy("ten-phones", &Bank{Risk: 0.9})
	// Output:
	// reserved for tea
	// charged, receipt-1
	// shipped tea, paid with receipt-1
	// reserved for ten-phones
	// charged, receipt-1
	// an operator looks at ten-phones
}

// The first answer of the bank is lost, so its charge is looked up and taken
// back. Then the flow "charge" is tried again, as another incarnation with a key
// of its own. What was reserved stays reserved.
func Example_retry() {
	buy("tea", &Bank{Risk: 0.1, Lost: 1})
	// Output:
	// reserved for tea
	// charged, receipt-1
	// refunded receipt-1, found by checkout-tea/charge-card/0
	// charged, receipt-2
	// shipped tea, paid with receipt-2
}

// A failure of another code is not worth another try: everything is undone.
func Example_declined() {
	buy("tea", &Bank{Poor: true})
	// Output:
	// reserved for tea
	// released for tea
	// undone because charge-card: Card.Declined: there is no money on it
}

// When the tries are used up, everything is undone too.
func Example_usedUp() {
	buy("tea", &Bank{Lost: 3})
	// Output:
	// reserved for tea
	// charged, receipt-1
	// refunded receipt-1, found by checkout-tea/charge-card/0
	// charged, receipt-2
	// refunded receipt-2, found by checkout-tea/charge-card/1
	// charged, receipt-3
	// refunded receipt-3, found by checkout-tea/charge-card/2
	// released for tea
	// undone because charge-card: CardNetwork.Timeout: no answer
}

// A flow can be drawn before it runs, here for Mermaid. Double sides mean that a
// task can be undone, dotted arrows that a decision is taken.
func Example_picture() {
	eng, err := engine.New(checkout(&Bank{}), memstore.New(), engine.WithInputs(order))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(draw.Mermaid(draw.OfPlan(eng.Plan())))
	// Output:
	// ---
	// title: "checkout"
	// ---
	// flowchart TD
	//   n0[["reserve"]]
	//   n3["manual-review"]
	//   n4["ship"]
	//   subgraph g0["charge"]
	//     n1{{"charge_retry: up to 3 tries on CardNetwork.Timeout"}}
	//     n2[["charge-card"]]
	//   end
	//   n0 --> n1
	//   n1 --> n2
	//   n2 -.->|"when risk"| n3
	//   n2 -.->|"when risk"| n4
}

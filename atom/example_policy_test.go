package atom_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage/memstore"
)

// A card network is busy now and then. Each attempt may take ten seconds; busy is
// worth three attempts, anything else is not.
func ExampleAttempts() {
	charge := atom.Func("charge", func(ctx context.Context, _ struct{}) (struct{}, error) {
		fmt.Println("attempt", atom.Attempt(ctx), "under", atom.IdempotencyKey(ctx))
		if atom.Attempt(ctx) < 3 {
			return struct{}{}, atom.Errorf("Card.Busy", "try again later")
		}
		return struct{}{}, nil
	},
		atom.Timeout(10*time.Second),
		atom.Attempts(3, atom.Exponential(time.Millisecond, time.Minute).WithJitter(0.2), "Card.Busy"))
	eng, err := engine.New(charge, memstore.New())
	check(err)
	_, err = eng.Run(context.Background(), "order-1")
	fmt.Println(err)
	// Output:
	// attempt 1 under order-1/charge/0
	// attempt 2 under order-1/charge/0
	// attempt 3 under order-1/charge/0
	// <nil>
}

// The airline does not answer when the seat must be cancelled. After two attempts, Ebb suspends the run until an
// operator has called the airline.
func ExampleIfRevertFails() {
	nothing := func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil }
	book := atom.Pair("book", nothing,
		func(context.Context, struct{}, atom.Outcome[struct{}]) error {
			fmt.Println("cancel the seat")
			return errors.New("no answer")
		},
		atom.RevertAttempts(2, atom.Constant(time.Millisecond)), atom.RevertTimeout(time.Minute), atom.IfRevertFails(
			atom.Park))
	pay := atom.Func("pay", func(context.Context, struct{}) (struct{}, error) {
		return struct{}{},
			errors.New("declined")
	})

	ctx := context.Background()
	eng, err := engine.New(flow.Linear("trip", book, pay), memstore.New())
	check(err)
	res, err := eng.Run(ctx, "trip-1")
	fmt.Println(errors.Is(err, engine.ErrSuspended), res.Run.Failure)

	// An operator called the airline: the seat is cancelled.
	res, _ = eng.Command(ctx, "trip-1", engine.Skip("book"))
	fmt.Println(res.Run.State)
	// Output:
	// cancel the seat
	// cancel the seat
	// true book: Error: no answer
	// REVERTED
}

// Once the parcel is handed over, it makes no sense to take the money back when
// the mail to the customer fails.
func ExamplePivot() {
	undoable := func(name string, opts ...atom.Option) *atom.Atom {
		return atom.Pair(name, func(context.Context, struct{}) (struct{}, error) {
			fmt.Println(name)
			return struct{}{},
				nil
		},
			func(context.Context, struct{}, atom.Outcome[struct{}]) error { fmt.Println("undo", name); return nil }, opts...)
	}
	mail := atom.Func("mail", func(context.Context, struct{}) (struct{}, error) {
		return struct{}{},
			errors.New("no such address")
	})
	eng, err := engine.New(flow.Linear("order", undoable("charge"), undoable("ship", atom.Pivot()), undoable("stamp"),
		mail), memstore.New())
	check(err)
	_, err = eng.Run(context.Background(), "order-1")
	fmt.Println(err)
	// Output:
	// charge
	// ship
	// stamp
	// undo stamp
	// engine: run "order-1" failed: mail: Error: no such address
}

package engine_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage/memstore"
)

var price = atom.NewKey[int]("price")

// sale reserves, charges up to 100, and ships.
func sale() flow.Node {
	say := func(name string) *atom.Atom {
		return atom.Pair(name, func(context.Context, struct{}) (struct{}, error) { fmt.Println(name); return struct{}{}, nil },
			func(context.Context, struct{}, atom.Outcome[struct{}]) error { fmt.Println("undo", name); return nil })
	}
	charge := atom.Func("charge", func(_ context.Context, in struct {
		Price int `json:"price"`
	},
	) (struct{}, error) {
		if in.Price > 100 {
			return struct{}{}, atom.Errorf("Declined", "%d is too much", in.Price)
		}
		fmt.Println("charge", in.Price)
		return struct{}{}, nil
	})
	return flow.Linear("sale", say("reserve"), charge, say("ship"))
}

// A sale that has succeeded is cancelled: all of it is undone.
func ExampleEngine_Command() {
	ctx := context.Background()
	eng, err := engine.New(sale(), memstore.New(), engine.With(price, 50))
	if err != nil {
		panic(err)
	}
	if _, err := eng.Run(ctx, "sale-1"); err != nil {
		panic(err)
	}
	res, err := eng.Command(ctx, "sale-1", engine.Cancel("the customer changed his mind"))
	fmt.Println(res.Run.State, err)

	_, err = eng.Command(ctx, "sale-1", engine.Cancel("again"))
	fmt.Println("refused:", errors.Is(err, engine.ErrRefused))
	// Output:
	// reserve
	// charge 50
	// ship
	// undo ship
	// undo reserve
	// REVERTED engine: run "sale-1" was undone: Cancelled: the customer changed his mind
	// refused: true
}

// Preview lists what a command would undo before it is sent.
func ExampleEngine_Preview() {
	ctx := context.Background()
	eng, err := engine.New(sale(), memstore.New(), engine.With(price, 50))
	if err != nil {
		panic(err)
	}
	if _, err := eng.Run(ctx, "sale-1"); err != nil {
		panic(err)
	}
	for step, err := range eng.Preview(ctx, "sale-1", engine.RevertTo("charge")) {
		fmt.Println("would undo:", step.Path, step.Status, err)
	}
	// Output:
	// reserve
	// charge 50
	// ship
	// would undo: ship REVERTED <nil>
}

// A sale that failed, and was undone, goes forward again with another price.
func ExampleRetryFrom() {
	ctx := context.Background()
	eng, err := engine.New(sale(), memstore.New(), engine.WithInputs(price))
	if err != nil {
		panic(err)
	}
	_, err = eng.Run(ctx, "sale-1", engine.With(price, 500))
	fmt.Println(err)
	_, err = eng.Command(ctx, "sale-1", engine.RetryFrom("", engine.With(price, 80)))
	fmt.Println(err)
	// Output:
	// reserve
	// undo reserve
	// engine: run "sale-1" was undone: charge: Declined: 500 is too much
	// reserve
	// charge 80
	// ship
	// <nil>
}

// A run that was created for any process that serves the store is held back, then
// resumed. Holding it back needs the store but no engine.
func ExampleSuspend() {
	ctx := context.Background()
	eng, err := engine.New(sale(), memstore.New(), engine.With(price, 50))
	if err != nil {
		panic(err)
	}
	if err := eng.Start(ctx, "sale-1"); err != nil {
		panic(err)
	}
	run, err := engine.Suspend(ctx, eng.Store(), "sale-1")
	fmt.Println(run.State, "on hold:", run.Hold, err)

	res, err := eng.Run(ctx, "sale-1")
	fmt.Println(res.Run.State, "on hold:", res.Run.Hold, err)
	// Output:
	// PENDING on hold: true <nil>
	// reserve
	// charge 50
	// ship
	// SUCCESS on hold: false <nil>
}

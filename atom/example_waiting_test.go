package atom_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

var approvedBy = atom.NewKey[string]("approved_by")

// A person must approve an order. The task mails the token and returns. While the run
// waits for the answer, it is a row in the store and occupies no process.
func ExampleDeferrable() {
	mail := make(chan string, 1)
	approve := atom.Func("approve",
		func(ctx context.Context, _ struct{}) (string, error) {
			mail <- atom.Token(ctx)
			return "", atom.ErrDeferred
		},
		atom.As(approvedBy.Name()), atom.Deferrable(atom.Deferral{Deadline: 7 * 24 * time.Hour}))

	ctx := context.Background()
	store := memstore.New() // a database, if it is to outlive the process
	eng, err := engine.New(approve, store)
	check(err)
	_, err = eng.Run(ctx, "order-1", engine.Unload())
	fmt.Println(errors.Is(err, engine.ErrWaiting))

	// The party that has the token answers, from any process.
	_, err = engine.EndToken(ctx, store, <-mail, storage.TokenEnd{Result: atom.MustEncode("Ann")})
	check(err)

	res, err := eng.Run(ctx, "order-1")
	check(err)
	who, err := engine.Get(res, approvedBy)
	check(err)
	fmt.Println("approved by", who)
	// Output:
	// true
	// approved by Ann
}

// The bank says when the money is there. It knows the run, and no token.
func ExampleAwaits() {
	paid := atom.Awaits[string]("wait-for-payment", "paid", atom.Deferral{Deadline: 24 * time.Hour}, atom.As("receipt"))

	ctx := context.Background()
	store := memstore.New()
	eng, err := engine.New(paid, store)
	check(err)
	check(eng.Start(ctx, "order-1"))
	// Sent again under the same key, it counts once.
	check(engine.SignalOnce(ctx, store, "order-1", "bank-transfer-99", "paid", "receipt 17"))
	res, err := eng.Run(ctx, "order-1")
	check(err)
	receipt, err := engine.Get(res, atom.NewKey[string]("receipt"))
	check(err)
	fmt.Println(receipt)
	// Output: receipt 17
}

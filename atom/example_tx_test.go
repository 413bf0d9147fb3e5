package atom_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// A booking is a row of the application's own table, in the database that keeps
// the runs: it is written exactly once, however often the task is executed.
func ExampleTx() {
	book := atom.Pair("book",
		func(ctx context.Context, in request) (booking, error) {
			id, err := atom.Tx(ctx, func(tx *sql.Tx) (int64, error) {
				res, err := tx.ExecContext(ctx, `INSERT INTO bookings (seat, key) VALUES (?, ?)`, in.Seat, atom.IdempotencyKey(ctx))
				if err != nil {
					return 0, err
				}
				return res.LastInsertId()
			})
			return booking{id}, err
		},
		func(ctx context.Context, _ request, _ atom.Outcome[booking]) error { // whatever the outcome: the key finds the row
			_, err := atom.Tx(ctx, func(tx *sql.Tx) (struct{}, error) {
				_, err := tx.ExecContext(ctx, `DELETE FROM bookings WHERE key = ?`, atom.IdempotencyKey(ctx))
				return struct{}{}, err
			})
			return err
		})

	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	check(err)
	defer func() { check(os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "flights.db")
	store, err := sqlstore.Open(ctx, "sqlite:"+file)
	check(err)
	defer func() { check(store.Close()) }()
	db, err := sql.Open("sqlite", file)
	check(err)
	defer func() { check(db.Close()) }()
	_, err = db.ExecContext(ctx, `CREATE TABLE bookings (id INTEGER PRIMARY KEY, seat TEXT, key TEXT)`)
	check(err)

	eng, err := engine.New(book, store, engine.With(atom.NewKey[string]("seat"), "12A"))
	check(err)
	res, err := eng.Run(ctx, "booking-4711")
	check(err)
	id, err := engine.Get(res, atom.NewKey[int]("booking_id"))
	check(err)
	fmt.Println("booked under", id)
	// Output: booked under 1
}

type request struct {
	Seat string `json:"seat"`
}

type booking struct {
	ID int64 `json:"booking_id"`
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

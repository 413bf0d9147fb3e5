package atom

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"

	"github.com/ebbflow/ebb/internal/gojson"
)

// ErrNoTransactions is returned by [Tx] if the run is not stored in an SQL database.
var ErrNoTransactions = errors.New("atom: there is no database for atom.Tx here; " +
	"run the flow with a store on SQLite or PostgreSQL, as sqlstore.Open opens it")

// Tx writes to tables of your own in the run's database. The writes of fn and its result are committed together,
// exactly once. If the call is repeated after a crash, or for another attempt, a committed Tx returns its earlier
// result and does not call fn.
//
//	id, err := atom.Tx(ctx, func(tx *sql.Tx) (int64, error) {
//		res, err := tx.ExecContext(ctx, `INSERT INTO bookings (seat) VALUES (?)`, in.Seat)
//		if err != nil {
//			return 0, err
//		}
//		return res.LastInsertId()
//	})
//
// Ebb identifies the transactions of a call by their order, under the key
// <call key>/tx<n>. So a task must make them one after the other and in the same order
// each time. Each incarnation, and each Revert, numbers its own.
//
// An error of fn rolls the transaction back, and Tx returns the error as it is. If the
// database itself fails, Tx returns an error and the run stops at its last checkpoint, as
// with any error of its store. The process that resumes the run finds what was committed.
// While fn runs, no other run can write to an SQLite database, so fn must be quick and
// wait for nothing else. If the database was busy, Tx may call fn again. fn must leave the
// tables of Ebb alone, and must not end tx.
//
// Tx returns [ErrNoTransactions] when the run is kept in a store without SQL, and
// outside of an engine.
func Tx[T any](ctx context.Context, fn func(tx *sql.Tx) (T, error)) (T, error) {
	var out T
	if part := gojson.Undecodable(reflect.TypeFor[T]()); part != "" {
		return out, fmt.Errorf("atom: a Tx cannot return a %v, as JSON cannot decode %s", reflect.TypeFor[T](), part)
	}
	host := hostOf(ctx)
	if host == nil {
		return out, ErrNoTransactions
	}
	kept, err := host.Transact(ctx, func(tx *sql.Tx) (Value, error) {
		v, err := fn(tx)
		if err != nil {
			return nil, err
		}
		kept, err := Encode(v)
		if err == nil && gojson.Custom(reflect.TypeFor[T]()) {
			err = kept.Decode(new(T)) // an error rolls back what fn has written
		}
		return kept, err
	})
	if err != nil {
		return out, err
	}
	return out, kept.Decode(&out) // also if fn was called: the stored result counts
}

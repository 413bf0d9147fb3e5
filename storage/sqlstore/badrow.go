package sqlstore

import (
	"context"
	"fmt"
	"reflect"

	"github.com/jmoiron/sqlx"
	"github.com/jmoiron/sqlx/reflectx"

	"github.com/ebbflow/ebb/storage"
)

// unread says why a row cannot be read, if another program has written something into it that does not belong there.
// Lists and loops name such a row, and go on.
type unread struct{ damage error }

func (u *unread) damaged(err error) { u.damage = err }

// scanRow reads a row. A column with a value of a wrong type keeps the row's zero value, and is its damage.
func scanRow(found *sqlx.Rows, row interface{ damaged(err error) }) error {
	wrong := found.StructScan(row)
	if wrong == nil {
		return nil
	}
	columns, err := found.Columns()
	if err != nil {
		return err
	}
	into := reflect.ValueOf(row).Elem()
	fields := found.Mapper.TraversalsByName(into.Type(), columns)
	scanned := 0
	for i := range columns {
		values := make([]any, len(columns))
		for k := range values {
			values[k] = new(any)
		}
		values[i] = reflectx.FieldByIndexes(into, fields[i]).Addr().Interface()
		if found.Scan(values...) == nil {
			scanned++
		}
	}
	if scanned == 0 { // not one column can be read: the connection is lost, not the row damaged
		return wrong
	}
	row.damaged(fmt.Errorf("%w: %w", storage.ErrCorrupt, wrong))
	return nil
}

// A lossy row is one that can be damaged.
type lossy[T any] interface {
	*T
	damaged(err error)
}

// each reads the rows of a query: all at once, which takes one round trip, or one by one if one of them cannot be read.
func each[T any, P lossy[T]](ctx context.Context, r *session, query string, args ...any) (rows []T, err error) {
	whole := r.All(ctx, &rows, query, args...)
	if whole == nil {
		return rows, nil
	}
	if rows, err = returned[T, P](ctx, r, query, args...); err != nil {
		return nil, whole
	}
	return rows, nil
}

// returned reads the rows that a statement returns, see scanRow.
func returned[T any, P lossy[T]](ctx context.Context, r *session, query string, args ...any) (rows []T, err error) {
	err = r.Each(ctx, query, args, func(found *sqlx.Rows) (bool, error) {
		rows = append(rows, *new(T))
		return true, scanRow(found, P(&rows[len(rows)-1]))
	})
	return rows, err
}

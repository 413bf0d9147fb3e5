package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/hashicorp/go-hclog"
	"github.com/jmoiron/sqlx"
	"github.com/jmoiron/sqlx/reflectx"

	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/dberr"
)

// unread says why a row cannot be read, if another program has written something into it that does not belong there.
// Lists and loops name such a row, and go on.
type unread struct{ damage error }

func (u *unread) damaged(err error) { u.damage = err }
func (u *unread) wrong() error      { return u.damage }

// scanRow reads a row. A column with a value of a wrong type keeps the row's zero value, and is its damage.
func scanRow(found *sqlx.Rows, row interface{ damaged(err error) }) error {
	wrong := found.StructScan(row)
	if wrong == nil || !dberr.Misread(wrong) {
		return wrong
	}
	columns, err := found.Columns()
	if err != nil {
		return err
	}
	into := reflect.ValueOf(row).Elem()
	fields := found.Mapper.TraversalsByName(into.Type(), columns)
	for i := range columns {
		values := make([]any, len(columns))
		for k := range values {
			values[k] = new(any)
		}
		values[i] = reflectx.FieldByIndexes(into, fields[i]).Addr().Interface()
		_ = found.Scan(values...) // the error is known
	}
	row.damaged(corrupt(wrong))
	return nil
}

// corrupt returns an error of a row that cannot be read. Other errors it returns unchanged.
func corrupt(err error) error {
	if err == nil || errors.Is(err, storage.ErrCorrupt) || !dberr.Misread(err) {
		return err
	}
	return fmt.Errorf("%w: %w", storage.ErrCorrupt, err)
}

// A lossy row is one that can be damaged.
type lossy[T any] interface {
	*T
	damaged(err error)
	wrong() error
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

// readable returns what decode makes of the rows of a query. It reports and leaves out the rows that cannot be read.
func readable[T, V any, P lossy[T]](ctx context.Context, r *session, decode func(P) (V, error), query string,
	args ...any,
) ([]V, error) {
	values, _, err := sifted[T, V, P](ctx, r, decode, query, args...)
	return values, err
}

// sifted is readable that returns how many rows it read.
func sifted[T, V any, P lossy[T]](ctx context.Context, r *session, decode func(P) (V, error), query string,
	args ...any,
) (values []V, read int, err error) {
	rows, err := each[T, P](ctx, r, query, args...)
	if err != nil {
		return nil, 0, err
	}
	values = make([]V, 0, len(rows))
	for i := range rows {
		value, err := decoded(P(&rows[i]), decode)
		switch {
		case err == nil:
			values = append(values, value)
		case !r.dialect.damage.leftOut(err):
			return nil, 0, err
		}
	}
	return values, len(rows), nil
}

// readableFirst is readable for a query whose last argument is the limit.
func readableFirst[T, V any, P lossy[T]](ctx context.Context, r *session, limit int, decode func(P) (V, error),
	query string, args ...any,
) ([]V, error) {
	limit = limitOr(limit)
	for most := limit; ; {
		values, read, err := sifted[T, V, P](ctx, r, decode, query, append(slices.Clone(args), most)...)
		if err != nil || len(values) == limit || read < most {
			return values, err
		}
		most = limit + read - len(values)
	}
}

// intact is readable for rows that decide something: a row that cannot be read is an error.
func intact[T, V any, P lossy[T]](ctx context.Context, r *session, decode func(P) (V, error), query string, args ...any,
) ([]V, error) {
	rows, err := each[T, P](ctx, r, query, args...)
	if err != nil {
		return nil, err
	}
	values, err := all(rows, decode)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, mend)
	}
	return values, nil
}

// all decodes all rows.
func all[T, V any, P lossy[T]](rows []T, decode func(P) (V, error)) ([]V, error) {
	values := make([]V, len(rows))
	for i := range rows {
		var err error
		if values[i], err = decoded(P(&rows[i]), decode); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// readablePage is readableFirst for values that may be large: a page with fewer ends early because of their size, or is
// the last one.
func readablePage[T, V any, P lossy[T]](ctx context.Context, r *session, limit int, size func(*V) int,
	decode func(P) (V, error), query string, args ...any,
) (values []V, err error) {
	for most, ended := limitOr(limit), false; !ended; {
		space, rows, left := codec.NewSpace(limit), 0, 0
		values = nil
		err = r.Each(ctx, query, append(slices.Clone(args), most), func(found *sqlx.Rows) (bool, error) {
			row := P(new(T))
			if err := scanRow(found, row); err != nil {
				return false, err
			}
			rows++
			value, err := decoded(row, decode)
			switch {
			case err == nil:
				values = append(values, value)
				space.Take(size(&value))
			case r.dialect.damage.leftOut(err):
				left++
			default:
				return false, err
			}
			return !space.Full(), nil
		})
		ended = err != nil || left == 0 || space.Full() || rows < most
		most += left
	}
	return values, err
}

// decoded decodes a row. The error of a row that cannot be read names it.
func decoded[T, V any, P lossy[T]](row P, decode func(P) (V, error)) (value V, err error) {
	if err = row.wrong(); err == nil {
		value, err = decode(row)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", nameOf(row), err)
	}
	return value, err
}

// legible fails for texts that no list can continue after.
func legible(what string, texts ...string) error {
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return fmt.Errorf("%w: %s %q is not text", storage.ErrCorrupt, what, text)
		}
	}
	return nil
}

// mend says what to do about a row that cannot be read.
const mend = "correct or delete the row, or restore a backup"

// ofRun says of which run a row is that cannot be read, and what to do. Other errors it returns unchanged.
func ofRun(run string, err error) error {
	if !errors.Is(err, storage.ErrCorrupt) {
		return err
	}
	return fmt.Errorf("run %q: %w: %s", run, err, mend)
}

// nameOf names a row by its type and the columns that its type begins with.
func nameOf(row any) string {
	of := reflect.Indirect(reflect.ValueOf(row))
	name := []string{strings.TrimSuffix(of.Type().Name(), "Row")}
	const most = 3
	for i, named := 0, 0; i < of.NumField() && named < most; i++ {
		if field := of.Type().Field(i); field.IsExported() && field.Type.Kind() != reflect.Slice {
			name = append(name, fmt.Sprintf("%s=%.80s", strings.ToLower(field.Name), fmt.Sprint(of.Field(i))))
			named++
		}
	}
	return strings.Join(name, " ")
}

// damage is what a store has left out, because it could not be read.
type damage struct {
	log  hclog.Logger
	mu   sync.Mutex
	rows []string
}

// maxDamaged bounds how many rows a store names.
const maxDamaged = 1000

// leftOut reports whether a row is left out because of the error. It logs each row once. Without a place for what was
// left out, nothing is: nobody would learn of it.
func (d *damage) leftOut(err error) bool {
	if d == nil || !errors.Is(err, storage.ErrCorrupt) {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if text := err.Error(); len(d.rows) < maxDamaged && !slices.Contains(d.rows, text) {
		d.rows = append(d.rows, text)
		d.log.Error(logevent.RowDamaged, "error", err, "do", mend)
	}
	return true
}

// Damaged: see [Store.Damaged].
func (s *store) Damaged() []string {
	s.dialect.damage.mu.Lock()
	defer s.dialect.damage.mu.Unlock()
	return slices.Clone(s.dialect.damage.rows)
}

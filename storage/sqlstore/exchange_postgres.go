package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"reflect"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"

	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/dberr"
)

// What takes time on a server is to be answered. So all that was posted goes there
// together with the statement that needs an answer, in one round trip.

// ask has the server answer a query.
func (s *session) ask(ctx context.Context, query string, args []any, read func(*answer) error) error {
	return s.exchange(ctx, &queued{query: query, args: args, read: read}, false)
}

// exchange sends what was posted, and behind it one statement more, which may be nil.
// What was wrong with anything posted is returned from now on, until the transaction
// ends. Then, as the transaction is undone, it does not matter that the last
// statement was run. With seals that is the COMMIT: what was posted must be sealable, and
// an error before the COMMIT keeps that from being done.
func (s *session) exchange(ctx context.Context, last *queued, seals bool) error {
	if s.wrong != nil || len(s.posted) == 0 && last == nil {
		return s.wrong
	}
	batch := s.posted
	s.posted = s.posted[:0]
	defer clear(batch)
	ctx, cancel := s.limit(ctx)
	defer cancel()
	var own error
	s.wrong = s.raw(func(conn *pgx.Conn) (err error) {
		all := pipeline(batch, seals, s.many)
		before := len(all)
		if last != nil {
			all = append(all, *last)
		}
		results := s.queue(ctx, conn, all)
		defer func() {
			if again := results.Close(); own == nil && err == nil { // else it says again what went wrong
				err = again
			}
		}()
		for _, p := range all[:before] {
			if err := p.take(results, seals); err != nil {
				return err
			}
		}
		if last != nil {
			own = last.take(results, false)
		}
		return nil
	})
	s.heard = s.heard || s.wrong == nil && own == nil
	if s.wrong != nil {
		return s.wrong
	}
	return own
}

// take takes the next answer for that of the statement, which with sure has failed on the
// server when its check does.
func (p *queued) take(results pgx.BatchResults, sure bool) error {
	if p.read != nil {
		rows, err := results.Query()
		if err != nil {
			return err
		}
		defer rows.Close()
		return p.read(&answer{rows})
	}
	tag, err := results.Exec()
	switch {
	case p.check == nil, err == nil && sure:
		return err
	case sure && dberr.State(err) == divisionByZero:
		return p.check(0)
	case err != nil:
		return err
	}
	return p.check(tag.RowsAffected())
}

// An answer is the rows that a query has selected, as sqlx reads them.
type answer struct{ pgx.Rows }

// Close closes the rows.
func (a *answer) Close() error {
	a.Rows.Close()
	return a.Err()
}

// Columns returns the names of the columns.
func (a *answer) Columns() ([]string, error) {
	fields := a.FieldDescriptions()
	names := make([]string, len(fields))
	for i := range fields {
		names[i] = fields[i].Name
	}
	return names, nil
}

// all reads all rows into the slice dest.
func (a *answer) all(dest any) error {
	into := reflect.ValueOf(dest).Elem()
	if of := into.Type().Elem(); !ofColumns(of) {
		into.SetLen(0)
		for a.Next() {
			value := reflect.New(of)
			if err := a.Scan(value.Interface()); err != nil {
				return err
			}
			into.Set(reflect.Append(into, value.Elem()))
		}
		return a.Err()
	}
	return sqlx.StructScan(a, dest)
}

// one reads one row into dest. It returns storage.ErrNotFound when there is none.
func (a *answer) one(dest any) error {
	into := reflect.ValueOf(dest).Elem()
	rows := reflect.New(reflect.SliceOf(into.Type()))
	if err := a.all(rows.Interface()); err != nil {
		return err
	}
	if rows.Elem().Len() == 0 {
		return storage.ErrNotFound
	}
	into.Set(rows.Elem().Index(0))
	return nil
}

// ofColumns reports whether a value of the type is read from several columns.
func ofColumns(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && !reflect.PointerTo(t).Implements(reflect.TypeFor[sql.Scanner]())
}

// queue sends statements, and returns what will answer.
func (s *session) queue(ctx context.Context, conn *pgx.Conn, all []queued) pgx.BatchResults {
	var batch pgx.Batch
	for _, p := range all {
		if !p.spelt {
			p.query = s.spelt(p.query)
		}
		batch.Queue(p.query, p.args...)
	}
	return conn.SendBatch(ctx, &batch)
}

// raw lends the driver's own connection.
func (s *session) raw(f func(*pgx.Conn) error) error {
	return s.conn.Raw(func(conn any) error {
		c, is := conn.(*stdlib.Conn)
		if !is || c.Conn().IsClosed() {
			return driver.ErrBadConn
		}
		return f(c.Conn())
	})
}

// spelt returns a statement as the database wants it.
func (s *session) spelt(query string) string {
	text, known := s.texts[query]
	if !known {
		text = s.dialect.spell(query)
		s.texts[query] = text
	}
	return text
}

// lost reports whether the session's connection is of no use any more.
func (s *session) lost() bool {
	if !s.dialect.posts {
		return false
	}
	if s.conn == nil {
		return true
	}
	lost := true
	err := s.conn.Raw(func(conn any) error {
		c, is := conn.(*stdlib.Conn)
		lost = !is || c.Conn().IsClosed()
		return nil
	})
	return lost || err != nil
}

// sealable reports whether all that is posted can be sent together with the COMMIT:
// what the server cannot check by itself has to be looked at before.
func (s *session) sealable() bool {
	for _, p := range s.posted {
		if p.check != nil && forms[p.query] == nil {
			return false
		}
	}
	return s.wrong == nil && len(s.posted) > 0
}

const divisionByZero = "22012"

package sqlstore

import (
	"context"
	"unicode/utf8"

	"github.com/jmoiron/sqlx"

	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/storage"
)

const (
	selectRecords = `SELECT kind, key, revision, created, updated, body FROM records WHERE kind = $1`
	selectRecord  = selectRecords + ` AND key = $2`
	countRecords  = `SELECT count(*) FROM records WHERE kind = $1`
	selectKinds   = `SELECT kind, count(*) AS records FROM records GROUP BY kind ORDER BY kind`
)

type recordRow struct {
	Kind     string `db:"kind"`
	Key      string `db:"key"`
	Revision int64  `db:"revision"`
	Created  moment `db:"created"`
	Updated  moment `db:"updated"`
	Body     []byte `db:"body"`
}

func (r *recordRow) record() storage.NamedRecord {
	return storage.NamedRecord{
		Kind: r.Kind, Key: r.Key, Revision: r.Revision, Created: r.Created.time(), Updated: r.Updated.time(), Body: r.Body,
	}
}

// NamedRecord implements [storage.NamedRecords.NamedRecord].
func (s *Store) NamedRecord(ctx context.Context, kind, key string) (record storage.NamedRecord, err error) {
	var row recordRow
	if err := s.glance(ctx, func(r *session) error {
		return notFound(r.Get(ctx, &row, selectRecord, kind, key), "record", key)
	}); err != nil {
		return storage.NamedRecord{}, err
	}
	return row.record(), nil
}

// NamedRecords implements [storage.NamedRecords.NamedRecords].
func (s *Store) NamedRecords(ctx context.Context, q storage.RecordQuery) (out []storage.NamedRecord, err error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	query, args := listRecords(&q)
	err = s.view(ctx, func(r *session) error {
		space := codec.NewSpace(q.Limit)
		return r.Each(ctx, query, args, func(found *sqlx.Rows) (bool, error) {
			var row recordRow
			err := found.StructScan(&row)
			space.Take(len(row.Body))
			out = append(out, row.record())
			return !space.Full(), err
		})
	})
	return out, err
}

// CountRecords implements [storage.NamedRecords.CountRecords].
func (s *Store) CountRecords(ctx context.Context, kind, prefix string) (int, error) {
	args := arguments{kind}
	query := countRecords + keysFrom(&args, ` AND key >= `, prefix) + keysFrom(&args, ` AND key < `, prefixEnd(prefix))
	var n int64
	err := s.glance(ctx, func(r *session) error { return r.Get(ctx, &n, query, args...) })
	return int(n), err
}

// A RecordKind is the number of named records of one kind.
type RecordKind struct {
	Kind    string
	Records int
}

// RecordKinds returns the kinds of named records that the database has, ordered by kind. It reads the name of every
// record.
func (s *Store) RecordKinds(ctx context.Context) (kinds []RecordKind, err error) {
	err = s.glance(ctx, func(r *session) error { return r.All(ctx, &kinds, selectKinds) })
	return kinds, err
}

// listRecords returns the SQL of a RecordQuery, and its arguments. There are few texts.
func listRecords(q *storage.RecordQuery) (string, []any) {
	text, args := selectRecords, arguments{q.Kind}
	columns, direction, beyond := `key`, ``, ` > `
	if q.Reverse {
		direction, beyond = ` DESC`, ` < `
	}
	atLeast, from, end := ` AND key >= `, q.Prefix, prefixEnd(q.Prefix)
	switch {
	case q.ByTime:
		columns = `created` + direction + `, key`
		if q.After != nil {
			text += ` AND (created, key)` + beyond + `(` + args.add(micros(q.After.Created)) + `, ` + args.add(q.After.Key) + `)`
		}
	// Only the narrower of two bounds is a condition, because SQLite would seek by either.
	case q.After != nil && q.Reverse && (end == "" || q.After.Key < end):
		end = q.After.Key
	case q.After != nil && !q.Reverse && q.After.Key >= from:
		atLeast, from = ` AND key > `, q.After.Key
	}
	text += keysFrom(&args, atLeast, from) + keysFrom(&args, ` AND key < `, end)
	return text + ` ORDER BY ` + columns + direction + ` LIMIT ` + args.add(limitOr(q.Limit)) + ` + 0`, args
}

// keysFrom returns a condition on keys with its bound; "" if the bound is "".
func keysFrom(args *arguments, condition, bound string) string {
	if bound == "" {
		return ""
	}
	return condition + args.add(bound)
}

// prefixEnd returns the smallest text that is larger than every text with the prefix; "" if there is none. The texts
// are UTF-8, whose bytes sort like its characters.
func prefixEnd(prefix string) string {
	const surrogates, afterSurrogates = 0xD800, 0xE000
	for prefix != "" {
		last, size := utf8.DecodeLastRuneInString(prefix)
		prefix = prefix[:len(prefix)-size]
		switch {
		case last == utf8.MaxRune:
		case last+1 == surrogates:
			return prefix + string(rune(afterSurrogates))
		default:
			return prefix + string(last+1)
		}
	}
	return ""
}

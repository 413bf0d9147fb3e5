package sqlstore

import (
	"context"
	"unicode/utf8"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

const (
	selectRecords = `SELECT kind, key, revision, created, updated, body FROM records WHERE kind = $1`
	selectRecord  = selectRecords + ` AND key = $2`
	countRecords  = `SELECT count(*) FROM records WHERE kind = $1`
	selectKinds   = `SELECT kind, count(*) AS records FROM records GROUP BY kind ORDER BY kind`
)

type recordRow struct {
	unread

	Kind     string `db:"kind"`
	Key      string `db:"key"`
	Revision int64  `db:"revision"`
	Created  moment `db:"created"`
	Updated  moment `db:"updated"`
	Body     []byte `db:"body"`
}

func (r *recordRow) record() (storage.NamedRecord, error) {
	return storage.NamedRecord{
		Kind: r.Kind, Key: r.Key, Revision: r.Revision, Created: r.Created.time(), Updated: r.Updated.time(), Body: r.Body,
	}, legible("key", r.Key)
}

// NamedRecord implements [storage.NamedRecords.NamedRecord].
func (s *store) NamedRecord(ctx context.Context, kind, key string) (record storage.NamedRecord, err error) {
	var row recordRow
	if err := s.glance(ctx, func(r *session) error {
		return notFound(r.Get(ctx, &row, selectRecord, kind, key), "record", key)
	}); err != nil {
		return storage.NamedRecord{}, err
	}
	return row.record()
}

// NamedRecords implements [storage.NamedRecords.NamedRecords].
func (s *store) NamedRecords(ctx context.Context, q storage.RecordQuery) (out []storage.NamedRecord, err error) {
	if err := backend.CheckRecordQuery(&q); err != nil {
		return nil, err
	}
	query, args := listRecords(&q)
	err = s.view(ctx, func(r *session) (err error) {
		size := func(record *storage.NamedRecord) int { return len(record.Body) }
		out, err = readablePage(ctx, r, q.Limit, size, (*recordRow).record, query, args...)
		return err
	})
	return out, err
}

// CountRecords implements [storage.NamedRecords.CountRecords].
func (s *store) CountRecords(ctx context.Context, kind, prefix string) (int, error) {
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

// RecordKinds: see [Store.RecordKinds].
func (s *store) RecordKinds(ctx context.Context) (kinds []RecordKind, err error) {
	err = s.glance(ctx, func(r *session) error { return r.All(ctx, &kinds, selectKinds) })
	return kinds, err
}

// listRecords returns the SQL of a RecordQuery, and its arguments without the limit. There are few texts.
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
	return text + ` ORDER BY ` + columns + direction + ` LIMIT ` + args.next() + ` + 0`, args
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

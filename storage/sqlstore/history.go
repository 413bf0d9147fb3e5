package sqlstore

import (
	"context"

	"github.com/jmoiron/sqlx"

	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/inline"
)

var insertHistory = statement{
	onSQLite: `INSERT INTO history (run, first, entries, event) VALUES (?, ?, ?, ?)`,
	onPostgres: `INSERT INTO history (run, first, entries, event) SELECT v.run, v.first, v.entries, v.event
FROM unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::bigint[]) AS v (run, first, entries, event)`,
}

// historySize is about the size in bytes of a row of history. It bounds what a page reads beside its own entries.
const historySize = 16 << 10

// writeHistory adds entries in their stored form.
func writeHistory(ctx context.Context, w *session, n, first int64, entries []byte) error {
	return codec.EachChunk(first, entries, historySize, func(c codec.Chunk) error {
		event := any(c.Event)
		if c.Event == 0 {
			event = nil
		}
		return w.Post(ctx, nil, insertHistory[w.dialect.db], n, c.First, c.Rows, event)
	})
}

const selectHistory = `SELECT run, first, entries FROM history
WHERE run = $1 AND first >= coalesce((SELECT max(first) FROM history WHERE run = $1 AND first <= $2), 0) ORDER BY first`

type historyRow struct {
	unread

	Run     int64  `db:"run"`
	First   int64  `db:"first"`
	Entries []byte `db:"entries"`
}

// History implements [backend.Reader.History].
func (s *store) History(ctx context.Context, run string, after int64, limit int) (out []storage.Entry, err error) {
	err = s.viewRecent(ctx, run, func(r *session, row *recentRow) error {
		count, lines, _, err := inline.Records(row.Recent).History()
		if err != nil {
			return err
		}
		newest := historyRow{First: row.Entries - count + 1, Entries: lines}
		var rows []historyRow
		err = r.Each(ctx, selectHistory, []any{row.N, after + 1}, func(found *sqlx.Rows) (bool, error) {
			var row historyRow
			err := scanRow(found, &row)
			rows = append(rows, row)
			// Stop when this row begins after the page.
			return limit <= 0 || row.First <= after+int64(limit), err
		})
		if err != nil {
			return err
		}
		if limit <= 0 || newest.First <= after+int64(limit) {
			rows = append(rows, newest)
		}
		payload, space := payloadsOf(ctx, r, row.N), codec.NewSpace(limit)
		for _, row := range rows {
			if space.Full() {
				break
			}
			entries, err := decoded(&row, func(row *historyRow) ([]storage.Entry, error) {
				return codec.DecodeHistory(row.First, row.Entries, after, space, payload)
			})
			if err != nil {
				return ofRun(run, err)
			}
			out = append(out, entries...)
		}
		return nil
	})
	return out, err
}

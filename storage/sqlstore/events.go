package sqlstore

import (
	"context"
	"fmt"
	"math"

	"github.com/jmoiron/sqlx"

	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/inline"
)

// Rows without events are not in the index.
const (
	selectEvents = `SELECT run, first, entries FROM history WHERE run = $1 AND event IS NOT NULL AND event >= coalesce(
(SELECT max(event) FROM history WHERE run = $1 AND event IS NOT NULL AND event <= $2), 0) ORDER BY event, first`
	selectEventsBack = `SELECT run, first, entries FROM history WHERE run = $1 AND event IS NOT NULL AND event <= $2
ORDER BY event DESC, first DESC`
)

// Events implements [backend.Reader.Events].
func (s *store) Events(ctx context.Context, run string, q storage.EventQuery) (out []storage.Entry, err error) {
	err = s.viewRecent(ctx, run, func(r *session, row *recentRow) error {
		count, lines, _, err := inline.Records(row.Recent).History()
		if err != nil {
			return err
		}
		p := eventPage{q: &q}
		newest := historyRow{First: row.Entries - count + 1, Entries: lines}
		if q.Reverse {
			err = p.add(&newest)
		}
		if err == nil && !p.full() {
			err = p.read(ctx, r, row.N)
		}
		if err == nil && !q.Reverse && !p.full() {
			err = p.add(&newest)
		}
		if err == nil {
			out, err = codec.DecodeEvents(p.found, codec.NewSpace(q.Limit), payloadsOf(ctx, r, row.N))
		}
		if err != nil {
			return fmt.Errorf("%w (run %q)", err, run)
		}
		return nil
	})
	return out, err
}

// An eventPage collects the events of a page before they are decoded.
type eventPage struct {
	q     *storage.EventQuery
	found []codec.Event
	bytes int // of the rows that have been read
}

func (p *eventPage) full() bool {
	return p.q.Limit > 0 && (len(p.found) >= p.q.Limit || len(p.found) > 0 && p.bytes >= storage.PageBytes)
}

func (p *eventPage) add(row *historyRow) (err error) {
	p.found, err = codec.FindEvents(p.found, row.First, row.Entries, p.q)
	p.bytes += len(row.Entries)
	return err
}

// read adds rows of the table until the page is full.
func (p *eventPage) read(ctx context.Context, r *session, n int64) error {
	query, from := selectEvents, p.q.After+1
	if p.q.Reverse {
		query, from = selectEventsBack, p.q.After-1
		if p.q.After <= 0 {
			from = math.MaxInt64
		}
	}
	return r.Each(ctx, query, []any{n, from}, func(rows *sqlx.Rows) (bool, error) {
		var row historyRow
		err := scanRow(rows, &row)
		if err == nil {
			_, err = decoded(&row, func(row *historyRow) (bool, error) { return true, p.add(row) })
		}
		return !p.full(), err
	})
}

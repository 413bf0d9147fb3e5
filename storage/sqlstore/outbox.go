package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/storage"
)

const (
	insertOutgoing = `INSERT INTO outbox (id, run, target, body, attempts, not_until, parked, error)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`
	selectOutgoing = `SELECT n, id, run, target, body, attempts, not_until, parked, error FROM outbox o
WHERE NOT parked AND (not_until IS NULL OR not_until <= $1)
  AND NOT EXISTS (SELECT 1 FROM outbox e WHERE e.run = o.run AND e.target = o.target AND e.n < o.n)
ORDER BY n LIMIT $2 + 0`
	selectRunOutbox = `SELECT n, id, run, target, body, attempts, not_until, parked, error FROM outbox
		WHERE run = $1 ORDER BY n LIMIT $2 + 0`
	selectParked = `SELECT n, id, run, target, NULL AS body, attempts, not_until, parked, error FROM outbox
		WHERE parked ORDER BY n LIMIT $1 + 0`
	deleteOutgoing = `DELETE FROM outbox WHERE n = $1`
	updateOutgoing = `UPDATE outbox SET attempts = $1, not_until = $2, parked = $3, error = $4 WHERE n = $5`
)

func writeOutbox(ctx context.Context, w *session, run string, outbox []storage.Outgoing) error {
	for i := range outbox {
		o := &outbox[i]
		if err := w.Post(ctx, nil, insertOutgoing, o.ID, run, o.Target, []byte(o.Body),
			o.Attempts, micros(o.NotUntil), o.Parked, o.Error); err != nil {
			return err
		}
	}
	return nil
}

// Outgoing implements [backend.Outbox.Outgoing].
func (s *store) Outgoing(ctx context.Context, now time.Time, limit int) ([]storage.Outgoing, error) {
	return s.outbox(ctx, limit, selectOutgoing, micros(now))
}

// ParkedMessages implements [backend.Outbox.ParkedMessages].
func (s *store) ParkedMessages(ctx context.Context, limit int) ([]storage.Outgoing, error) {
	return s.outbox(ctx, limit, selectParked)
}

// RunOutbox implements [backend.Reader.RunOutbox].
func (s *store) RunOutbox(ctx context.Context, run string, limit int) ([]storage.Outgoing, error) {
	return s.outbox(ctx, limit, selectRunOutbox, run)
}

type outgoingRow struct {
	unread

	N        int64
	ID       string
	Run      string
	Target   string
	Body     []byte
	Attempts int
	NotUntil moment `db:"not_until"`
	Parked   bool
	Error    string
}

func (r *outgoingRow) outgoing() (storage.Outgoing, error) {
	return storage.Outgoing{
		N: r.N, ID: r.ID, Run: r.Run, Target: r.Target, Body: r.Body,
		Attempts: r.Attempts, NotUntil: r.NotUntil.time(), Parked: r.Parked, Error: r.Error,
	}, nil
}

func (s *store) outbox(ctx context.Context, limit int, query string, args ...any) (out []storage.Outgoing, err error) {
	err = s.view(ctx, func(r *session) (err error) {
		out, err = readableFirst(ctx, r, limit, (*outgoingRow).outgoing, query, args...)
		return err
	})
	return out, err
}

// Sent implements [backend.Outbox.Sent].
func (s *store) Sent(ctx context.Context, n ...int64) error {
	return s.update(ctx, &write{do: func(ctx context.Context, w *session) error {
		for _, n := range n {
			if err := w.Post(ctx, nil, deleteOutgoing, n); err != nil {
				return err
			}
		}
		return nil
	}})
}

// Unsent implements [backend.Outbox.Unsent].
func (s *store) Unsent(ctx context.Context, out storage.Outgoing) error {
	return s.update(ctx, &write{do: func(ctx context.Context, w *session) error {
		done, err := w.Exec(ctx, updateOutgoing,
			out.Attempts, micros(out.NotUntil), out.Parked, out.Error, out.N)
		if err == nil && done == 0 {
			return fmt.Errorf("%w: outgoing %d", storage.ErrNotFound, out.N)
		}
		return err
	}})
}

package sqlstore

import (
	"context"

	"github.com/jmoiron/sqlx"

	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
)

const (
	insertAudit = `INSERT INTO audit (run, subject, seq, line) VALUES ($1, $2, $3, $4)`
	selectAudit = `SELECT a.n, coalesce(o.id, '') AS run, a.subject, a.seq, a.line FROM audit a
LEFT JOIN origins o ON o.n = a.run WHERE ($1 = 0 OR a.n < $1) ORDER BY a.n DESC`
	selectRunAudit = `SELECT a.n, o.id AS run, a.subject, a.seq, a.line FROM audit a
JOIN origins o ON o.n = a.run WHERE a.run = (SELECT n FROM origins WHERE id = $2) AND ($1 = 0 OR a.n < $1)
ORDER BY a.n DESC`
)

// writeAudit adds a line for each command in the checkpoint's history. Few checkpoints have one.
func writeAudit(ctx context.Context, w *session, n int64, cp *storage.Checkpoint) error {
	for i := range cp.History {
		if e := &cp.History[i]; e.Kind == storage.EntryCommand {
			if err := w.Post(ctx, nil, insertAudit, n, "", e.Seq, codec.AppendHistory(nil, cp.History[i:i+1])); err != nil {
				return err
			}
		}
	}
	return nil
}

// WriteAudit implements [storage.Audits.WriteAudit].
func (s *Store) WriteAudit(ctx context.Context, line storage.AuditLine) error {
	if err := line.Check(); err != nil {
		return err
	}
	text := codec.AppendHistory(nil, []storage.Entry{line.Entry})
	return s.update(ctx, &write{do: func(ctx context.Context, w *session) error {
		return w.Post(ctx, nil, insertAudit, nil, line.Subject, 0, text)
	}})
}

// beside adds a line, and writes of records, to a write, see [storage.Beside].
func (one *write) beside(line *storage.AuditLine, records []storage.RecordWrite) error {
	if line != nil {
		if err := line.Check(); err != nil {
			return err
		}
	}
	if err := rules.CheckWrites(records); err != nil {
		return err
	}
	do := one.do
	one.alone = one.alone || len(records) > 0 // as for WriteRecords
	one.do = func(ctx context.Context, w *session) error {
		var there []writtenRow
		if len(records) > 0 {
			var err error
			if there, err = readRevisions(ctx, w, records); err != nil {
				return err
			}
		}
		if err := do(ctx, w); err != nil {
			return err
		}
		if err := w.Flush(ctx); err != nil || one.idle != nil && one.idle() {
			return err
		}
		if len(records) > 0 {
			if _, err := writeRecords(ctx, w, records, there); err != nil {
				return err
			}
		}
		if line == nil {
			return nil
		}
		return w.Post(ctx, nil, insertAudit, nil, line.Subject, 0, codec.AppendHistory(nil, []storage.Entry{line.Entry}))
	}
	return nil
}

type auditRow struct {
	N       int64  `db:"n"`
	Run     string `db:"run"`
	Subject string `db:"subject"`
	Seq     int64  `db:"seq"`
	Line    []byte `db:"line"`
}

// Audit implements [storage.Audits.Audit].
func (s *Store) Audit(ctx context.Context, q storage.AuditQuery) (out []storage.AuditLine, err error) {
	query, args := selectAudit, []any{q.Below}
	if q.Run != "" {
		query, args = selectRunAudit, append(args, q.Run)
	}
	err = s.view(ctx, func(r *session) error {
		space := codec.NewSpace(q.Limit)
		return r.Each(ctx, query, args, func(found *sqlx.Rows) (bool, error) {
			var row auditRow
			if err := found.StructScan(&row); err != nil {
				return false, err
			}
			line, err := codec.AuditLine(row.Line, row.Seq, space)
			line.N, line.Run, line.Subject = row.N, row.Run, row.Subject
			out = append(out, line)
			return !space.Full(), err
		})
	})
	return out, err
}

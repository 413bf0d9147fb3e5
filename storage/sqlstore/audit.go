package sqlstore

import (
	"context"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
)

const (
	insertAudit = `INSERT INTO audit (run, subject, seq, line) VALUES ($1, $2, $3, $4)`
	selectAudit = `SELECT a.n, coalesce(o.id, '') AS run, a.subject, a.seq, a.line FROM audit a
LEFT JOIN origins o ON o.n = a.run WHERE (CAST($1 AS BIGINT) = 0 OR a.n < $1) ORDER BY a.n DESC
LIMIT $2 + 0`
	selectRunAudit = `SELECT a.n, o.id AS run, a.subject, a.seq, a.line FROM audit a
JOIN origins o ON o.n = a.run WHERE a.run = (SELECT n FROM origins WHERE id = $2)
  AND (CAST($1 AS BIGINT) = 0 OR a.n < $1)
ORDER BY a.n DESC LIMIT $3 + 0`
)

// writeAudit adds a line for each command in the checkpoint's history. Few checkpoints have one.
func writeAudit(ctx context.Context, w *session, n int64, cp *backend.Checkpoint) error {
	for i := range cp.History {
		if e := &cp.History[i]; e.Kind == storage.EntryCommand {
			if err := w.Post(ctx, nil, insertAudit, n, "", e.Seq, codec.AppendHistory(nil, cp.History[i:i+1])); err != nil {
				return err
			}
		}
	}
	return nil
}

// WriteAudit implements [backend.Audits.WriteAudit].
func (s *store) WriteAudit(ctx context.Context, line backend.AuditLine) error {
	if err := line.Check(); err != nil {
		return err
	}
	text := codec.AppendHistory(nil, []storage.Entry{line.Entry})
	return s.update(ctx, &write{do: func(ctx context.Context, w *session) error {
		return w.Post(ctx, nil, insertAudit, nil, line.Subject, 0, text)
	}})
}

// beside adds a line, and writes of records, to a write, see [backend.Beside].
func (one *write) beside(line *backend.AuditLine, records []storage.RecordWrite) error {
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
	unread

	N       int64  `db:"n"`
	Run     string `db:"run"`
	Subject string `db:"subject"`
	Seq     int64  `db:"seq"`
	Line    []byte `db:"line"`
}

func (r *auditRow) line() (backend.AuditLine, error) {
	line, err := codec.AuditLine(r.Line, r.Seq)
	line.N, line.Run, line.Subject = r.N, r.Run, r.Subject
	return line, err
}

// Audit implements [backend.Audits.Audit].
func (s *store) Audit(ctx context.Context, q backend.AuditQuery) (out []backend.AuditLine, err error) {
	query, args := selectAudit, []any{q.Below}
	if q.Run != "" {
		query, args = selectRunAudit, append(args, q.Run)
	}
	err = s.view(ctx, func(r *session) (err error) {
		size := func(line *backend.AuditLine) int { return codec.SizeOfEntry(&line.Entry) }
		out, err = readablePage(ctx, r, q.Limit, size, (*auditRow).line, query, args...)
		return err
	})
	return out, err
}

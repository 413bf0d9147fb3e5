package memstore

import (
	"context"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
)

// An auditRow is a line of the audit in its stored form.
type auditRow struct {
	run     *runRecord // nil if the line is about something else
	subject string
	seq     int64
	line    []byte
}

// audit keeps the lines of commands. The index of a line is its number - 1. A line of a purged run is empty.
type audit []auditRow

func (a *audit) add(r *runRecord, subject string, e *storage.Entry) {
	*a = append(*a, auditRow{r, subject, e.Seq, codec.AppendHistory(nil, []storage.Entry{*e})})
}

// commanded adds a line for each command in a checkpoint's history.
func (a *audit) commanded(r *runRecord, cp *backend.Checkpoint) {
	for i := range cp.History {
		if cp.History[i].Kind == storage.EntryCommand {
			a.add(r, "", &cp.History[i])
		}
	}
}

// purge empties the lines of runs.
func (a *audit) purge(runs map[*runRecord]bool) {
	for i := range *a {
		if row := &(*a)[i]; runs[row.run] {
			*row = auditRow{}
		}
	}
}

// WriteAudit implements [backend.Audits.WriteAudit].
func (m *store) WriteAudit(ctx context.Context, line backend.AuditLine) error {
	if err := line.Check(); err != nil {
		return err
	}
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	line.Entry.Seq = 0
	m.audit.add(nil, line.Subject, &line.Entry)
	return nil
}

// checkBeside returns why nothing can be committed that is to be committed beside a change, see [backend.Beside].
func (m *memory) checkBeside(ctx context.Context) error {
	line, records := backend.IsBeside(ctx)
	if line != nil {
		if err := line.Check(); err != nil {
			return err
		}
	}
	if err := rules.CheckWrites(records); err != nil {
		return err
	}
	return m.checkRevisions(records)
}

// changed writes what is to be committed beside a change, see [backend.Beside].
func (m *memory) changed(ctx context.Context) {
	line, records := backend.IsBeside(ctx)
	now := time.Now().Truncate(time.Microsecond).UTC()
	for i := range records {
		m.records.apply(&records[i], now)
	}
	if line != nil {
		m.audit.add(nil, line.Subject, &line.Entry)
	}
}

// Audit implements [backend.Audits.Audit].
func (m *store) Audit(ctx context.Context, q backend.AuditQuery) (out []backend.AuditLine, err error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	space := codec.NewSpace(q.Limit)
	from := int64(len(m.audit))
	if q.Below > 0 {
		from = min(from, q.Below-1)
	}
	for n := from; n > 0 && !space.Full(); n-- {
		row := &m.audit[n-1]
		if row.line == nil || q.Run != "" && (row.run == nil || row.run.head.ID != q.Run) {
			continue
		}
		line, err := codec.AuditLine(row.line, row.seq)
		if err != nil {
			return nil, err
		}
		line.N, line.Subject = n, row.subject
		if row.run != nil {
			line.Run = row.run.head.ID
		}
		out = append(out, line)
		space.Take(codec.SizeOfEntry(&line.Entry))
	}
	return out, nil
}

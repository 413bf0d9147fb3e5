package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
)

const (
	selectWritten = `SELECT revision, created FROM records WHERE kind = $1 AND key = $2`
	putRecord     = `INSERT INTO records (kind, key, revision, created, updated, body) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (kind, key) DO UPDATE SET revision = excluded.revision, updated = excluded.updated, body = excluded.body`
	deleteRecord = `DELETE FROM records WHERE kind = $1 AND key = $2`

	takeRevisions = `UPDATE record_revisions SET last = last + $1`
	selectTaken   = `SELECT last FROM record_revisions`

	// shareRecords keeps the records of a PostgreSQL database unchanged until the transaction ends. alterRecords waits
	// for all transactions that ran shareRecords, and blocks new ones and other writers. A lock of a table also covers
	// records that do not exist, and the server grants it in the order of asking. With locks of rows, a writer could
	// wait forever while runs start. Only writes of records, and runs that start on records, wait for these locks.
	shareRecords = `LOCK TABLE record_revisions IN ROW EXCLUSIVE MODE`
	alterRecords = `LOCK TABLE record_revisions IN SHARE ROW EXCLUSIVE MODE`
)

// writtenRow tells when a record was written; it is zero if the record does not exist.
type writtenRow struct {
	Revision int64
	Created  int64
}

// WriteRecords implements [storage.NamedRecords.WriteRecords].
func (s *store) WriteRecords(ctx context.Context, writes ...storage.RecordWrite) ([]storage.NamedRecord, error) {
	if err := rules.CheckWrites(writes); err != nil || len(writes) == 0 {
		return nil, err
	}
	var out []storage.NamedRecord
	if err := s.update(ctx, &write{
		alone: true, // so that on a server the transaction has no other lock when it waits for this one
		do: func(ctx context.Context, w *session) error {
			there, err := readRevisions(ctx, w, writes)
			if err != nil {
				return err
			}
			out, err = writeRecords(ctx, w, writes, there)
			return err
		},
	}); err != nil {
		return nil, err
	}
	return out, nil
}

// readRevisions returns the records of writes, as readWritten does, if they have the revisions that the writes require.
func readRevisions(ctx context.Context, w *session, writes []storage.RecordWrite) ([]writtenRow, error) {
	there, err := readWritten(ctx, w, writes)
	for i := range there {
		if err := rules.CheckRevision(&writes[i], there[i].Revision); err != nil {
			return nil, err
		}
	}
	return there, err
}

// readWritten returns the records of writes as they are, and lets no other transaction change them.
func readWritten(ctx context.Context, w *session, writes []storage.RecordWrite) ([]writtenRow, error) {
	before := w.Changed
	if w.dialect.locks {
		if err := w.Post(ctx, nil, alterRecords); err != nil {
			return nil, err
		}
	}
	found := make([][]writtenRow, len(writes))
	for i := range writes {
		if err := w.PostQuery(ctx, &found[i], same, selectWritten, writes[i].Kind, writes[i].Key); err != nil {
			return nil, err
		}
	}
	if err := w.Flush(ctx); err != nil {
		return nil, err
	}
	w.Changed = before // no row has changed
	rows := make([]writtenRow, len(writes))
	for i := range found {
		if len(found[i]) > 0 {
			rows[i] = found[i][0]
		}
	}
	return rows, nil
}

// same returns its argument. It reads the answer to a query whose rows need no further work.
func same(err error) error { return err }

// writeRecords applies the writes, and returns the records.
func writeRecords(ctx context.Context, w *session, writes []storage.RecordWrite, there []writtenRow) (
	[]storage.NamedRecord, error,
) {
	revision, err := w.takeRevisions(ctx, writes)
	if err != nil {
		return nil, err
	}
	now := time.UnixMicro(w.dialect.Now().UnixMicro()).UTC()
	out := make([]storage.NamedRecord, len(writes))
	for i := range writes {
		one, record := &writes[i], &out[i]
		record.Kind, record.Key = one.Kind, one.Key
		switch {
		case one.Keep:
			record.Revision = there[i].Revision
		case one.Delete:
			err = w.Post(ctx, nil, deleteRecord, one.Kind, one.Key)
		default:
			record.Revision, record.Created, record.Updated, record.Body = revision, now, now, one.Body
			if revision++; there[i].Revision != 0 {
				record.Created = time.UnixMicro(there[i].Created).UTC()
			}
			err = w.Post(ctx, nil, putRecord, one.Kind, one.Key, record.Revision, record.Created.UnixMicro(), now.UnixMicro(),
				[]byte(one.Body))
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// takeRevisions takes a new revision for each record that is put, and returns the first.
func (s *session) takeRevisions(ctx context.Context, writes []storage.RecordWrite) (first int64, err error) {
	n := int64(0)
	for i := range writes {
		if !writes[i].Keep && !writes[i].Delete {
			n++
		}
	}
	if n == 0 {
		return 0, nil
	}
	counted := func(rows int64) error {
		if rows != 1 {
			return fmt.Errorf("%w: the counter of revisions is missing", storage.ErrCorrupt)
		}
		return nil
	}
	if err := s.Post(ctx, counted, takeRevisions, n); err != nil {
		return 0, err
	}
	var last int64
	err = s.Get(ctx, &last, selectTaken)
	return last - n + 1, err
}

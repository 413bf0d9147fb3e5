package doctor

import (
	"context"
	"encoding/json"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// records checks the named records, which programs keep beside their runs: each can be read, and its body is a value.
func (d *doctor) records(ctx context.Context, store *sqlstore.Store) error {
	kinds, err := store.RecordKinds(ctx)
	if err != nil {
		return err
	}
	all, damaged, ahead := 0, 0, 0
	var first, future storage.NamedRecord
	for _, kind := range kinds {
		for record, err := range storage.EachRecord(ctx, store, storage.RecordQuery{Kind: kind.Kind}) {
			if err != nil {
				return err
			}
			if all++; !isValue(record.Body) {
				if damaged++; damaged == 1 {
					first = record
				}
			}
			if record.Updated.Sub(store.Now()) > sqlstore.Neglected {
				if ahead++; ahead == 1 {
					future = record
				}
			}
		}
	}
	switch {
	case damaged > 0:
		d.findf("records", Wrong, "restore the database, or delete the record with the program that wrote it",
			"%s of %d cannot be read, such as %.80q of kind %q", view.Count(damaged, "named record"), all, first.Key, first.Kind)
	case ahead > 0:
		d.findf("records", Warning, "find out why the clock was put back; listings by time put these records last",
			"written at a time which has not come yet: %s, such as %.80q of kind %q at %s",
			view.Count(ahead, "named record"), future.Key, future.Kind, future.Updated.UTC().Format(time.RFC3339))
	case all > 0:
		d.findf("records", OK, "", "%s of %s can be read", view.Count(all, "named record"), view.Count(len(kinds), "kind"))
	}
	return nil
}

// isValue reports whether a body is a value that this version can decode.
func isValue(body atom.Value) bool {
	return len(body) == 0 || body[0] == atom.CodecJSON && json.Valid(body.JSON())
}

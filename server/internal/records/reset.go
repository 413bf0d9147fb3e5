package records

import (
	"context"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// Reset deletes the runs and the named records of some kinds that are selected, whatever the runs do. It returns how
// many runs it has deleted.
func Reset(ctx context.Context, store backend.Store, runs func(*storage.Run) bool, keys func(string) bool,
	kinds ...string,
) (discarded int, err error) {
	for _, kind := range kinds { // first, so that no more executions start
		for record, err := range storage.EachRecord(ctx, store, storage.RecordQuery{Kind: kind}) {
			if err == nil && keys(record.Key) {
				_, err = store.WriteRecords(ctx, storage.RecordWrite{
					Kind: kind, Key: record.Key, Was: storage.AnyRevision, Delete: true,
				})
			}
			if err != nil {
				return 0, err
			}
		}
	}
	for {
		var found []string
		for run, err := range storage.EachRun(ctx, store, storage.RunQuery{Brief: true}) {
			if err != nil {
				return discarded, err
			}
			if runs(&run) {
				found = append(found, run.ID)
			}
		}
		n, err := store.Discard(ctx, found...)
		if discarded += n; err != nil || len(found) == 0 { // one that was at work may have begun others meanwhile
			return discarded, err
		}
	}
}

package inspect

import (
	"context"
	"errors"
	"time"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// RefusedRuns returns up to most runs that are due, and that processes have refused while no other takes them up. A
// person must decide about them: deploy what they began on, accept the change, or cancel them. Errors are the store's.
func RefusedRuns(ctx context.Context, store backend.Store, now time.Time, most int) (runs []storage.Run, err error) {
	var f *facts
	for record, err := range storage.EachRecord(ctx, store, storage.RecordQuery{Kind: engine.RefusalRecords}) {
		if err != nil {
			return nil, err
		}
		if f == nil {
			all, err := readFacts(ctx, store)
			if err != nil {
				return nil, err
			}
			f = &all
		}
		run, err := store.Run(ctx, record.Key)
		if errors.Is(err, storage.ErrNotFound) || errors.Is(err, storage.ErrCorrupt) {
			continue
		}
		if err != nil {
			return nil, err
		}
		w := Diagnosis{Run: run}
		f.place(&w, f.refused(&run, &record))
		if one := w.hindrance(now); one != nil && one.Kind == WaitsForFlow {
			run.Memory, run.Input, run.Output = nil, storage.Held{}, storage.Held{}
			if runs = append(runs, run); len(runs) == most {
				break
			}
		}
	}
	return runs, nil
}

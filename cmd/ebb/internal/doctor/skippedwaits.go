package doctor

import (
	"context"
	"time"

	"github.com/ebbflow/ebb/storage"
)

// SkippedWaits is the kind of the records of processes that skip waits. The key of a record is the ID of the owner.
const SkippedWaits = "ebb.skipped-waits"

// waits finds processes that skip waits, which is for tests.
func (d *doctor) waits(ctx context.Context, store storage.Store, _ time.Time) error {
	owners, err := store.Owners(ctx)
	if err != nil {
		return err
	}
	skips := map[string]bool{}
	for record, err := range storage.EachRecord(ctx, store, storage.RecordQuery{Kind: SkippedWaits}) {
		if err != nil {
			return err
		}
		skips[record.Key] = true
	}
	for i := range owners {
		if o := &owners[i]; o.Alive && skips[o.ID] {
			d.findf("waits", Warning, "start it without --skip-waits, unless it serves tests",
				"process %d on %s skips waits and pauses before retries", o.PID, o.Host)
		}
	}
	return nil
}

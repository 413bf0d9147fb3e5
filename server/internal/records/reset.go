package records

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// Reset deletes the runs and the named records of some kinds that are selected, whatever the runs do. It returns how
// many runs it has deleted.
func Reset(ctx context.Context, store backend.Store, runs func(*storage.Run) bool, keys func(string) bool,
	kinds ...string,
) (discarded int, err error) {
	if err := discard(ctx, store, keys, kinds); err != nil { // first, so that no more executions start
		return 0, err
	}
	for {
		var found, driven []string
		for run, err := range storage.EachRun(ctx, store, storage.RunQuery{Brief: true}) {
			if err != nil {
				return discarded, err
			}
			if runs(&run) {
				found = append(found, run.ID)
				if run.Owner != "" && !run.State.Ended() {
					driven = append(driven, run.ID)
				}
			}
		}
		if err := abandon(ctx, store, driven); err != nil {
			return discarded, err
		}
		for part := range slices.Chunk(found, storage.PageRuns) { // other commits come between two parts
			n, err := store.Discard(ctx, part...)
			if discarded += n; err != nil {
				return discarded, err
			}
		}
		if len(found) == 0 { // one that was at work may have begun others meanwhile
			return discarded, nil
		}
	}
}

// discard deletes the selected records of some kinds.
func discard(ctx context.Context, store storage.NamedRecords, keys func(string) bool, kinds []string) error {
	for _, kind := range kinds {
		for record, err := range storage.EachRecord(ctx, store, storage.RecordQuery{Kind: kind}) {
			if err == nil && keys(record.Key) {
				_, err = store.WriteRecords(ctx, storage.RecordWrite{
					Kind: kind, Key: record.Key, Was: storage.AnyRevision, Delete: true,
				})
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// abandonTime is how long Reset lets the tasks end that runs execute. An execution with the name of one whose task has
// not ended begins when the task ends.
const abandonTime = 2 * time.Second

// abandon ends runs without an undo, and stops what they execute, as far as that is done soon.
func abandon(ctx context.Context, store backend.Store, runs []string) error {
	for _, run := range runs {
		err := engine.Send(ctx, store, run, engine.Abandon("the server begins anew"))
		if err != nil && !errors.Is(err, storage.ErrNotFound) && !errors.Is(err, engine.ErrRefused) {
			return err
		}
	}
	bounded, cancel := context.WithTimeout(ctx, abandonTime)
	defer cancel()
	for _, run := range runs {
		_, _ = engine.Await(bounded, store, run) // it is discarded in any case
	}
	return ctx.Err()
}

package inspect

import (
	"context"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// Server returns a live process that takes up the run whenever it is due; nil if there is none, or if none is known.
// The owners are those of the store.
func Server(
	ctx context.Context, store storage.Store, run *storage.Run, owners []storage.Owner,
) (*storage.Owner, error) {
	if run.Hold || run.State.Ended() || run.State == states.FlowSuspended {
		return nil, nil //nolint:nilnil // documented
	}
	for record, err := range storage.EachRecord(ctx, store, storage.RecordQuery{Kind: engine.PresenceRecords}) {
		if err != nil {
			return nil, err
		}
		var p engine.Presence
		if record.Body.Decode(&p) != nil || !p.Takes(run) {
			continue
		}
		for i := range owners {
			if owners[i].ID == p.Owner && owners[i].Alive {
				return &owners[i], nil
			}
		}
	}
	return nil, nil //nolint:nilnil // documented
}

package inspect

import (
	"context"
	"strings"

	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// ServingProcesses is the kind of the records in which processes that serve all definitions of a database describe
// themselves, as ebb serve does. The key of a record is the ID of the owner. A process deletes its record when it ends.
const ServingProcesses = "ebb.processes"

// Server returns a live process that takes up the run whenever it is due; nil if there is none, or if none is known.
// The owners are those of the store.
func Server(
	ctx context.Context, store storage.Store, run *storage.Run, owners []storage.Owner,
) (*storage.Owner, error) {
	if run.Definition == "" || run.Hold || run.State.Ended() || run.State == states.FlowSuspended {
		return nil, nil //nolint:nilnil // documented
	}
	for label := range run.Labels {
		if strings.HasPrefix(label, storage.NeedLabel) { // the records do not say what their processes offer
			return nil, nil //nolint:nilnil // documented
		}
	}
	for record, err := range storage.EachRecord(ctx, store, storage.RecordQuery{Kind: ServingProcesses}) {
		if err != nil {
			return nil, err
		}
		for i := range owners {
			if owners[i].ID == record.Key && owners[i].Alive {
				return &owners[i], nil
			}
		}
	}
	return nil, nil //nolint:nilnil // documented
}

package inspect

import (
	"context"
	"maps"
	"slices"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// Server returns a live process that takes up the run whenever it is due; nil if there is none, or if none is known.
// The owners are those of the store.
func Server(
	ctx context.Context, store storage.Store, run *storage.Run, owners []storage.Owner,
) (*storage.Owner, error) {
	present, err := presences(ctx, store, owners)
	if err != nil {
		return nil, err
	}
	return serverOf(run, owners, present), nil
}

// serverOf returns the process of the first server that takes up the run; nil if none does.
func serverOf(run *storage.Run, owners []storage.Owner, present []engine.Presence) *storage.Owner {
	if run.Hold || run.State.Ended() || run.State == states.FlowSuspended {
		return nil
	}
	for i := range present {
		if present[i].Takes(run) {
			at := slices.IndexFunc(owners, func(o storage.Owner) bool { return o.ID == present[i].Owner })
			return &owners[at]
		}
	}
	return nil
}

// presences returns what the servers that live say about themselves.
func presences(
	ctx context.Context, store storage.Store, owners []storage.Owner,
) (present []engine.Presence, err error) {
	for record, err := range storage.EachRecord(ctx, store, storage.RecordQuery{Kind: engine.PresenceRecords}) {
		if err != nil {
			return nil, err
		}
		var p engine.Presence
		if record.Body.Decode(&p) != nil {
			continue
		}
		if slices.ContainsFunc(owners, func(o storage.Owner) bool { return o.Alive && o.ID == p.Owner }) {
			present = append(present, p)
		}
	}
	return present, nil
}

// Pollers returns the workers that ask for work, by queue, as the servers that live and this process know them. The
// owners are those of the store. A worker without a name is called "?".
func Pollers(ctx context.Context, store storage.Store, owners []storage.Owner) ([]storage.Poller, error) {
	present, err := presences(ctx, store, owners)
	if err != nil {
		return nil, err
	}
	all := pollersOf(store, present)
	pollers := make([]storage.Poller, 0, len(all))
	for _, queue := range slices.Sorted(maps.Keys(all)) {
		pollers = append(pollers, storage.Poller{Queue: queue, Workers: all[queue]})
	}
	return pollers, nil
}

// pollersOf returns the names of the workers that ask for the work of each queue, as the servers that live and this
// process know them. A queue for which no worker asks is missing.
func pollersOf(store storage.Store, present []engine.Presence) map[string][]string {
	all := map[string][]string{}
	add := func(pollers []storage.Poller) {
		for _, p := range pollers {
			all[p.Queue] = append(all[p.Queue], p.Workers...)
		}
	}
	add(store.Pollers())
	for i := range present {
		add(present[i].Pollers)
	}
	for queue, workers := range all {
		slices.Sort(workers)
		workers = slices.Compact(workers)
		all[queue] = workers[:min(len(workers), storage.MaxPollerNames)]
	}
	return all
}

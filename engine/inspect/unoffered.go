package inspect

import (
	"context"
	"slices"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/storage"
)

// Unoffered returns the jobs that need what no server that lives offers, so that none claims them. Errors are the
// store's.
func Unoffered(ctx context.Context, store storage.Store, jobs []storage.Job) ([]storage.Job, error) {
	owners, err := store.Owners(ctx)
	if err != nil {
		return nil, err
	}
	present, err := presences(ctx, store, owners)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(jobs), func(j storage.Job) bool {
		return slices.ContainsFunc(present, func(p engine.Presence) bool {
			for need, value := range j.Labels {
				if p.Offers[need] != value {
					return false
				}
			}
			return true
		})
	}), nil
}

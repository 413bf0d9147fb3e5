package inspect

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/planview"
	"github.com/ebbflow/ebb/storage"
)

// InputSchema returns the JSON Schema of the input of a flow of Go code, as the newest run of the flow had it. It is
// nil if the flow takes no input, or if no engine has stored one: because the flow has no run yet, or because it is
// larger than [PlanView] allows. Errors are those of the store.
func InputSchema(ctx context.Context, store backend.Store, flow string) (json.RawMessage, error) {
	runs, err := store.Runs(ctx, storage.RunQuery{Flow: flow, Brief: true, Limit: 1})
	if err != nil || len(runs) == 0 || runs[0].Definition != "" {
		return nil, err
	}
	schema, err := planview.ReadInput(ctx, store, runs[0].Structure)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	return schema, err
}

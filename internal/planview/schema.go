package planview

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/ebbflow/ebb/storage"
)

// ReadInput returns the JSON Schema of the input of the plan with that hash; nil if the plan has no input. If there is
// no record of the plan, it returns an error that wraps [storage.ErrNotFound].
func ReadInput(ctx context.Context, store storage.NamedRecords, hash string) (json.RawMessage, error) {
	stored, err := store.NamedRecord(ctx, recordKind, hash)
	if err != nil {
		return nil, err
	}
	var r struct {
		Input json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(stored.Body.JSON(), &r); err != nil {
		return nil, fmt.Errorf("engine: the input of the plan %s: %w", hash, err)
	}
	return r.Input, nil
}

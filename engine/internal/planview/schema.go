package planview

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/jsonschema"
	"github.com/ebbflow/ebb/storage"
)

// schemaOf returns the JSON Schema of the input of a plan, an object with a member for each symbol; nil if it has none.
func schemaOf(p *flow.Plan) *jsonschema.Schema {
	if len(p.Inputs) == 0 {
		return nil
	}
	s := &jsonschema.Schema{Type: "object", Properties: make(map[string]*jsonschema.Schema, len(p.Inputs))}
	for _, in := range p.Inputs {
		s.Properties[in.Symbol] = jsonschema.Of(in.Type)
		if !in.Optional {
			s.Required = append(s.Required, in.Symbol)
		}
	}
	slices.Sort(s.Required)
	return s
}

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

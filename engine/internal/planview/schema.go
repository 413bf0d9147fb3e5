package planview

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
)

// An inputSchema is the JSON Schema of the input of a flow's runs: an object with a member for each symbol. Types that
// have a JSON form of their own have no type here.
type inputSchema struct {
	Type       string                `json:"type"`
	Properties map[string]typeSchema `json:"properties"`
	Required   []string              `json:"required,omitempty"`
}

type typeSchema struct {
	Type string `json:"type,omitempty"`
}

// schemaOf returns the JSON Schema of the input of a plan; nil if it has none.
func schemaOf(p *flow.Plan) *inputSchema {
	if len(p.Inputs) == 0 {
		return nil
	}
	s := &inputSchema{Type: "object", Properties: make(map[string]typeSchema, len(p.Inputs))}
	for _, in := range p.Inputs {
		s.Properties[in.Symbol] = typeSchema{jsonType(in.Type)}
		if !in.Optional {
			s.Required = append(s.Required, in.Symbol)
		}
	}
	slices.Sort(s.Required)
	return s
}

// jsonType returns the type of a Go type's JSON; "" if it may have several.
func jsonType(t reflect.Type) string {
	switch {
	case t == nil:
		return ""
	case t == reflect.TypeFor[time.Time]():
		return "string"
	case reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()), t.Kind() == reflect.Pointer:
		return ""
	}
	switch t.Kind() { //nolint:exhaustive // the others have several forms, or none
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "integer"
	case reflect.Float32, reflect.Float64:
		return "number"
	case reflect.Struct, reflect.Map:
		return "object"
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 { // base64
			return "string"
		}
		return "array"
	}
	return ""
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

package awaited

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/jsonschema"
)

// InputKind is the kind of the named records of what runs of the flows of programs take. Their keys are the names of
// the flows, their bodies are [Inputs].
const InputKind = "ebb.input"

// Inputs are the schemas of the input of the versions of a flow.
type Inputs map[int64]*jsonschema.Schema

// InputOf returns the JSON Schema of the input of a plan, an object with a member for each symbol; nil if it has none.
func InputOf(p *flow.Plan) *jsonschema.Schema {
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

// CheckInput returns an error if the text, JSON, is no input of that version of a flow; 0 is the newest. The body is
// that of the flow's record. Symbols that the flow does not take are allowed.
func CheckInput(body []byte, version int64, text []byte) error {
	var of Inputs
	if json.Unmarshal(body, &of) != nil || len(of) == 0 {
		return nil //nolint:nilerr // a record of a later version says nothing
	}
	if version == 0 {
		version = slices.Max(slices.Collect(maps.Keys(of)))
	}
	s := of[version]
	if s == nil {
		return nil
	}
	var symbols map[string]json.RawMessage
	if err := json.Unmarshal(text, &symbols); err != nil {
		return fmt.Errorf("the input is not an object; such as %s", s.Example())
	}
	for _, name := range s.Required {
		if symbols[name] == nil {
			return fmt.Errorf("the input lacks %q; such as %s", name, s.Example())
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if value, given := symbols[name]; given {
			if err := s.Properties[name].Check(value); err != nil {
				return fmt.Errorf("the input %q: %w", name, err)
			}
		}
	}
	return nil
}

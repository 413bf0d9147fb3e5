package teststate

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/asl/internal/check"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/internal/spelling"
)

// compile returns the state, in a machine.
func (t *Test) compile() (*syntax.Machine, *syntax.State, error) {
	text, name := t.Definition, t.StateName
	if name == "" {
		text, name = aroundState(t.Definition), testedState
	}
	m, problems := check.Definition("", text, check.Options{})
	if refused := problems.Of(flow.SeverityError); len(refused) > 0 {
		findings := asl.Findings(text, refused)
		for i := range findings {
			// AWS names the whole path of a value that must not be empty.
			if f := &findings[i]; t.StateName == "" && f.Message != "Value cannot be empty" {
				f.Location = cmp.Or(strings.TrimPrefix(f.Location, "/States/"+testedState), "/")
			}
		}
		return nil, nil, &Error{Exception: "InvalidDefinition", Message: asl.Refusal(findings)}
	}
	if s := m.States[name]; s != nil {
		return m, s, nil
	}
	known := slices.Sorted(maps.Keys(m.States))
	return nil, nil, &Error{
		Exception: "ValidationException", Message: "State not found in definition", States: known,
		Near: spelling.Nearest(name, known),
	}
}

// aroundState builds a machine that starts with the state and contains its next states. It returns a definition
// that is not an object unchanged.
func aroundState(definition []byte) []byte {
	type leading struct {
		Next any `json:"Next"` //nolint:tagliatelle // the language's name
	}
	var leads struct {
		leading

		Default any       `json:"Default"` //nolint:tagliatelle // the language's name
		Choices []leading `json:"Choices"` //nolint:tagliatelle // the language's name
		Catch   []leading `json:"Catch"`   //nolint:tagliatelle // the language's name
	}
	if object := (map[string]json.RawMessage)(nil); json.Unmarshal(definition, &object) != nil {
		return definition
	}
	_ = json.Unmarshal(definition, &leads) // the check reports members with other types
	all := map[string]json.RawMessage{"end": json.RawMessage(`{"Type": "Succeed"}`)}
	to := func(next any) {
		if name, ok := next.(string); ok && name != "" {
			all[name] = json.RawMessage(`{"Type": "Succeed"}`)
		}
	}
	to(leads.Next)
	to(leads.Default)
	for _, rule := range leads.Choices {
		to(rule.Next)
	}
	for _, catcher := range leads.Catch {
		to(catcher.Next)
	}
	delete(all, testedState)
	text := []byte(`{"StartAt": "` + testedState + `", "States": {"` + testedState + `": `)
	text = append(text, definition...)
	for name, stub := range all {
		quoted, err := json.Marshal(name)
		if err != nil {
			continue
		}
		text = append(append(append(append(text, ',', ' '), quoted...), ':', ' '), stub...)
	}
	return append(text, "}}"...)
}

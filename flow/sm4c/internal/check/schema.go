package check

import (
	"slices"
	"strings"

	"github.com/ebbflow/ebb/flow/internal/definition"
	"github.com/ebbflow/ebb/flow/sm4c/internal/syntax"
)

// Schema returns a JSON Schema (draft 7) of the language for editors, with Ebb's additions. It is derived from the
// tables that [Validate] uses, as far as a schema can express them: attributes, types, ranges. Like Validate, it
// accepts attributes that the language does not know.
func Schema() []byte {
	s := schemas{}
	return s.Document("State Machines For Cloud", schema{"allOf": []any{machineObject.schema(s)}})
}

type (
	schema  = definition.Schema
	schemas = definition.Schemas
)

// schema returns a reference to the object's schema, because objectRules contain each other.
func (f *objectRule[T]) schema(s schemas) schema {
	return s.Define(f.name, func() schema {
		properties := schema{}
		for name, a := range f.attributes {
			properties[name] = a.is.schema(s)
			if !slices.Contains(f.required, name) {
				properties[name] = schema{"anyOf": []any{properties[name], schema{"type": "null"}}}
			}
		}
		out := schema{"type": "object", "properties": properties}
		if len(f.required) > 0 {
			out["required"] = f.required
		}
		return out
	})
}

func (textRule) schema(schemas) schema         { return schema{"type": "string"} }
func (templateTextRule) schema(schemas) schema { return schema{"type": "string"} }
func (anyRule) schema(schemas) schema          { return schema{} }
func (boolRule) schema(schemas) schema         { return schema{"type": "boolean"} }
func (documentsRule) schema(schemas) schema    { return schema{"type": "object"} }
func (argumentsRule) schema(schemas) schema    { return schema{"type": "object"} }
func (referenceRule[D]) schema(schemas) schema { return schema{"type": "string", "minLength": 1} }

func (nameRule) schema(schemas) schema {
	return schema{"type": "string", "minLength": 1, "maxLength": maxName}
}

func (contextRule) schema(schemas) schema {
	return schema{"type": "object", "additionalProperties": schema{"type": "string"}}
}

func (w wordRule[W]) schema(schemas) schema {
	var patterns []string
	for _, word := range slices.Concat(w.words, w.more) {
		var b strings.Builder
		for _, message := range word {
			b.WriteString(anyCase(message))
		}
		patterns = append(patterns, b.String())
	}
	return schema{"anyOf": []any{schema{"enum": w.words}, schema{"type": "string", "pattern": "^(" +
		strings.Join(patterns, "|") + ")$"}}}
}

// anyCase returns a pattern that matches the character in either case.
func anyCase(message rune) string {
	lower, upper := strings.ToLower(string(message)), strings.ToUpper(string(message))
	if lower == upper {
		return lower
	}
	return "[" + lower + upper + "]"
}

func (s wholeRule) schema(schemas) schema {
	return schema{"type": "integer", "minimum": s.least, "maximum": mostWhole}
}

func (factorRule) schema(schemas) schema { return schema{"type": "number", "minimum": 0} }

func (timespanRule) schema(schemas) schema {
	return schema{"anyOf": []any{
		schema{"type": "string", "pattern": clockSpan.String()},
		schema{"type": "string", "pattern": isoSpan.String()},
	}}
}

func (jitterRule) schema(s schemas) schema {
	return schema{"anyOf": []any{factorRule{}.schema(s), timespanRule{}.schema(s)}}
}

func (s listRule[V]) schema(b schemas) schema {
	return definition.ListSchema(s.of.schema(b), s.least)
}

func (s collectionRule) schema(b schemas) schema {
	return schema{"anyOf": []any{
		definition.ListSchema(s.of.schema(b), 0),
		schema{"type": "string", "description": "URI of a document"},
	}}
}

func (expressionRule) schema(schemas) schema {
	return schema{"type": "string", "pattern": `^\s*\$\{[\s\S]*\}\s*$`}
}

func (stateRule) schema(s schemas) schema { return stateObject.schema(s) }

func (actionRule) schema(s schemas) schema {
	return s.Define("action", func() schema {
		all := []any{}
		for t, f := range actionForms {
			one := wordRule[syntax.ActionType]{words: actionTypes.words[t : t+1]}.schema(s)
			all = append(all, schema{"if": schema{"properties": schema{"type": one}}, "then": f.schema(s)})
		}
		return schema{
			"type": "object", "required": []string{"type"}, "properties": schema{"type": actionTypes.schema(s)},
			"allOf": all,
		}
	})
}

func (revertRule) schema(s schemas) schema {
	return schema{"anyOf": []any{revertObject.schema(s), schema{"enum": []any{false, revertNone}}}}
}

func (revertSubflowRule) schema(schemas) schema {
	return schema{"enum": []any{true, false, revertNone}}
}

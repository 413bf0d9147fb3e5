package check

import (
	"maps"
	"regexp"
	"slices"

	"github.com/ebbflow/ebb/flow/asl/internal/expression"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/flow/internal/definition"
)

// Schema returns a JSON Schema (draft 7) of the language, made of its tables.
func Schema() []byte {
	s := &schemas{Schemas: definition.Schemas{}}
	return s.Document("Amazon States Language", schema{
		"type": "object",
		"if":   setsJSONata,
		"then": machineObject.schema(s.within(syntax.JSONata, syntax.JSONata)),
		"else": machineObject.schema(s.within(syntax.JSONPath, syntax.JSONPath)),
	})
}

type schema = definition.Schema

// schemas builds the schemas of values. The meaning of a field depends on the query language of its state, and
// inner states use the machine's.
type schemas struct {
	definition.Schemas

	language, machine syntax.QueryLanguage
}

func (s *schemas) within(language, machine syntax.QueryLanguage) *schemas {
	return &schemas{s.Schemas, language, machine}
}

// define returns a reference to a definition for the query language.
func (s *schemas) define(name string, content func() schema) schema {
	name += "." + s.language.String()
	if s.language != s.machine {
		name += ".in." + s.machine.String()
	}
	return s.Define(name, content)
}

// schema returns a reference to the object's schema, because objectRules contain each other.
func (f *objectRule[T]) schema(s *schemas) schema {
	return s.define(f.name, func() schema { return f.content(s) })
}

func (f *objectRule[T]) content(s *schemas) schema {
	properties := schema{}
	for _, name := range f.fields.in(s.language) {
		properties[name] = withText(name, f.fields[name].is.schema(s))
	}
	out := schema{"type": "object", "properties": properties, "additionalProperties": false}
	if required := f.legal(s.language, f.required); len(required) > 0 {
		out["required"] = required
	}
	var all []any
	for _, group := range f.oneOf {
		var one []any
		for _, name := range f.legal(s.language, group) {
			one = append(one, schema{"required": []string{name}})
		}
		all = append(all, schema{"oneOf": one})
	}
	for _, group := range f.mayOneOf {
		if names := f.legal(s.language, group); len(names) == 2 {
			all = append(all, schema{"not": schema{"required": names}})
		}
	}
	if f.goesOn {
		all = append(all, schema{"oneOf": []any{
			schema{"required": []string{"Next"}, "properties": schema{"End": schema{"const": false}}},
			schema{"required": []string{"End"}, "properties": schema{"End": schema{"const": true}, "Next": false}},
		}})
	}
	if all != nil {
		out["allOf"] = all
	}
	return out
}

// withText adds a field's description to its schema. Members beside a reference are ignored, so a reference is
// wrapped.
func withText(name string, is schema) schema {
	if is["$ref"] != nil {
		return schema{"allOf": []any{is}, "description": fieldTexts[name]}
	}
	out := maps.Clone(is)
	out["description"] = fieldTexts[name]
	return out
}

var (
	setsJSONata = schema{
		"properties": schema{"QueryLanguage": schema{"const": "JSONata"}},
		"required":   []string{"QueryLanguage"},
	}
	expressionIs = schema{"type": "string", "pattern": `^\{%[\s\S]*%\}$`}
)

func (statesRule) schema(s *schemas) schema {
	return schema{"type": "object", "minProperties": 1, "additionalProperties": s.within(s.machine, s.machine).state()}
}

func (s *schemas) state() schema {
	return s.define("state", func() schema {
		out := schema{
			"type": "object", "required": []string{"Type"},
			"properties": schema{"Type": schema{"enum": slices.Clone(syntax.KindNames[:])}},
		}
		if s.machine == syntax.JSONata {
			out["allOf"] = s.kinds()
			return out
		}
		out["if"] = setsJSONata
		out["then"] = schema{"allOf": s.within(syntax.JSONata, syntax.JSONPath).kinds()}
		out["else"] = schema{"allOf": s.kinds()}
		return out
	})
}

// kinds returns the schema for each type of state.
func (s *schemas) kinds() []any {
	var all []any
	for _, f := range stateForms {
		all = append(all, schema{"if": schema{"properties": schema{"Type": schema{"const": f.name}}}, "then": f.schema(s)})
	}
	return all
}

func (textRule) schema(*schemas) schema { return schema{"type": "string"} }

func (boolRule) schema(*schemas) schema { return schema{"type": "boolean"} }

func (resultRule) schema(*schemas) schema { return schema{} }

func (typeRule) schema(*schemas) schema { return schema{"enum": slices.Clone(syntax.KindNames[:])} }

// schema describes a QueryLanguage: a machine in JSONata has no states in JSONPath.
func (languageRule) schema(s *schemas) schema {
	if s.machine == syntax.JSONata {
		return schema{"const": syntax.JSONata.String()}
	}
	return languageWords.schema(s)
}

func (targetRule) schema(*schemas) schema { return schema{"type": "string", "minLength": 1} }

func (w wordRule) schema(*schemas) schema { return schema{"enum": []string(w)} }

func (s wholeRule) schema(*schemas) schema {
	return schema{"type": "integer", "minimum": s.least, "maximum": s.most}
}

func (s numberRule) schema(*schemas) schema {
	return schema{"type": "number", "minimum": s.least, "maximum": s.most}
}

var timestampIs = schema{
	"type":    "string",
	"pattern": `^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$`,
}

func (r amountRule) schema(s *schemas) schema { return s.orExpression(r.wholeRule.schema(s)) }

func (r percentageRule) schema(s *schemas) schema { return s.orExpression(r.numberRule.schema(s)) }

func (timestampRule) schema(s *schemas) schema { return s.orExpression(timestampIs) }

func (messageRule) schema(s *schemas) schema { return s.orExpression(schema{"type": "string"}) }

// orExpression describes a value that may be an expression in JSONata.
func (s *schemas) orExpression(value schema) schema {
	if s.language == syntax.JSONata {
		return schema{"anyOf": []any{value, expressionIs}}
	}
	return value
}

func (s listRule[V]) schema(b *schemas) schema { return definition.ListSchema(s.of.schema(b), s.least) }

var pathIs = schema{"type": "string", "pattern": `^\$`}

func (pathRule) schema(*schemas) schema { return pathIs }

func (dataPathRule) schema(*schemas) schema {
	return schema{"type": []string{"string", "null"}, "pattern": `^\$`}
}

func (dynamicRule) schema(*schemas) schema {
	return schema{"type": "string", "pattern": `^(\$|States\.)`}
}

// schema of a payload template refers to itself, because templates nest.
func (payloadRule) schema(s *schemas) schema {
	return s.define("template", func() schema {
		self := payloadRule{}.schema(s)
		if s.language == syntax.JSONPath {
			return schema{
				"items": self, "additionalProperties": self,
				"patternProperties": schema{`\.\$$`: dynamicRule{}.schema(s)},
			}
		}
		return schema{
			"items": self, "additionalProperties": self,
			"if":   schema{"type": "string", "pattern": `^\{%|^\S[\s\S]*%\}$`},
			"then": expressionIs,
		}
	})
}

func (assignRule) schema(s *schemas) schema {
	return schema{"allOf": []any{schema{"type": "object"}, payloadRule{}.schema(s)}}
}

func (conditionRule) schema(*schemas) schema {
	return schema{"anyOf": []any{schema{"type": "boolean"}, expressionIs}}
}

func (itemsRule) schema(*schemas) schema {
	return schema{"anyOf": []any{schema{"type": []string{"array", "object"}}, expressionIs}}
}

func (s levelRule) schema(b *schemas) schema {
	return s.objectRule.schema(b.within(b.machine, b.machine))
}

func (processorRule) schema(s *schemas) schema {
	return processorObject.schema(s.within(s.machine, s.machine))
}

func (resourceRule) schema(*schemas) schema {
	return schema{"type": "string", "pattern": `^[A-Za-z0-9+.-]+:.`}
}

func (revertRule) schema(s *schemas) schema {
	words := schema{"enum": []any{false, revertNone}}
	return schema{"anyOf": []any{resourceRule{}.schema(s), revertObject.schema(s), words}}
}

func (catchRevertRule) schema(s *schemas) schema {
	return schema{"anyOf": []any{catchRevertWords.schema(s), catchRevertObject.schema(s)}}
}

func (credentialsRule) schema(s *schemas) schema {
	needs := []any{schema{"required": []string{"RoleArn"}}}
	if s.language == syntax.JSONPath {
		needs = append(needs, schema{"required": []string{"RoleArn.$"}})
	}
	return schema{"allOf": []any{schema{"type": "object", "anyOf": needs}, payloadRule{}.schema(s)}}
}

func (errorsRule) schema(*schemas) schema {
	return schema{"type": "array", "minItems": 1, "items": schema{"type": "string", "minLength": 1}}
}

func (labelRule) schema(*schemas) schema {
	return schema{"type": "string", "minLength": 1, "maxLength": maxLabel, "pattern": `^[^\s` +
		regexp.QuoteMeta(labelExcludes) + `]*$`}
}

// schema describes a rule of Choices: in JSONPath a condition with Next.
func (choiceRule) schema(s *schemas) schema {
	if s.language == syntax.JSONata {
		return choiceRuleObject.schema(s)
	}
	return s.define("rule", func() schema { return s.rule(true) })
}

// rule returns the schema of a condition in JSONPath: one operator, and for an outer rule further fields.
func (s *schemas) rule(outer bool) schema {
	inner := func() schema {
		return s.define("condition", func() schema { return s.rule(false) })
	}
	several := schema{"type": "array", "minItems": 1, "items": inner()}
	properties := schema{"Variable": pathIs, "And": several, "Or": several, "Not": inner()}
	one := []any{
		schema{"required": []string{"And"}},
		schema{"required": []string{"Or"}},
		schema{"required": []string{"Not"}},
	}
	for _, name := range choiceRuleObject.fields.in(syntax.JSONPath) {
		if outer || name == "Comment" {
			properties[name] = choiceRuleObject.fields[name].is.schema(s)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(expression.Operators)) {
		properties[name] = operandSchema(expression.Operators[name].Operand, name)
		one = append(one, schema{"required": []string{name, "Variable"}})
	}
	out := schema{"type": "object", "properties": properties, "additionalProperties": false, "oneOf": one}
	if outer {
		out["required"] = []string{"Next"}
	}
	return out
}

func operandSchema(o expression.Operand, operator string) schema {
	switch {
	case isPathOperator(operator):
		return pathIs
	case o == expression.NumberOperand:
		return schema{"type": "number"}
	case o == expression.BoolOperand:
		return schema{"type": "boolean"}
	case o == expression.TimeOperand:
		return timestampIs
	}
	return schema{"type": "string"}
}

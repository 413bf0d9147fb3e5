package asl

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
)

// Schema returns a JSON Schema (draft 7) of the language for editors, with what
// Ebb adds to it. It is made of the tables that [Validate] uses and says what a
// schema can say of them: fields, types, ranges. It is stricter in one thing:
// fields that Validate warns of, because the language does not know them, are
// errors.
func Schema() []byte {
	s := &schemas{definitions: schema{}}
	root := schema{
		"$schema":     "http://json-schema.org/draft-07/schema#",
		"title":       "Amazon States Language",
		"type":        "object",
		"if":          setsJSONata,
		"then":        s.within(inJSONata, inJSONata).ref(machineObject),
		"else":        s.within(inJSONPath, inJSONPath).ref(machineObject),
		"definitions": s.definitions,
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(root); err != nil {
		panic(err) // it is made of texts and numbers
	}
	return b.Bytes()
}

// A schema is a JSON Schema, or a part of one.
type schema = map[string]any

// schemas make the schemas of shapes. What a field is depends on the query
// language of its state, and states inside others have that of the machine.
type schemas struct {
	definitions       schema
	language, machine queryLanguage
}

func (s *schemas) within(language, machine queryLanguage) *schemas {
	return &schemas{s.definitions, language, machine}
}

// define returns a reference to a definition, which is made when it is first
// referred to.
func (s *schemas) define(name string, content func() schema) schema {
	name += "." + s.language.String()
	if s.language != s.machine {
		name += ".in." + s.machine.String()
	}
	if s.definitions[name] == nil {
		s.definitions[name] = schema{} // it may refer to itself
		s.definitions[name] = content()
	}
	return schema{"$ref": "#/definitions/" + name}
}

func (s *schemas) ref(f *objectRule) schema {
	return s.define(f.name, func() schema { return f.content(s) })
}

// schema of an object is a reference, because objectRules contain each other.
func (f *objectRule) schema(s *schemas) schema { return s.ref(f) }

func (f *objectRule) content(s *schemas) schema {
	properties := schema{}
	for _, name := range f.fields.in(s.language) {
		properties[name] = described(name, f.fields[name].is.schema(s))
	}
	out := schema{"type": "object", "properties": properties, "additionalProperties": false}
	if required := s.legal(f, f.required); len(required) > 0 {
		out["required"] = required
	}
	var all []any
	for _, group := range f.oneOf {
		var one []any
		for _, name := range s.legal(f, group) {
			one = append(one, schema{"required": []string{name}})
		}
		all = append(all, schema{"oneOf": one})
	}
	for _, group := range f.mayOneOf {
		if names := s.legal(f, group); len(names) == 2 {
			all = append(all, schema{"not": schema{"required": names}})
		}
	}
	for _, d := range f.also {
		if told, ok := d.(valueRule); ok {
			all = append(all, told.schema(s))
		}
	}
	if all != nil {
		out["allOf"] = all
	}
	return out
}

// described returns the schema of a field with its description. Beside a
// reference nothing else counts, so that is wrapped.
func described(name string, is schema) schema {
	if is["$ref"] != nil {
		return schema{"allOf": []any{is}, "description": fieldTexts[name]}
	}
	out := maps.Clone(is)
	out["description"] = fieldTexts[name]
	return out
}

// legal returns the names of fields that are legal in the query language.
func (s *schemas) legal(f *objectRule, names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return f.fields[name].in&s.language == 0 })
}

var (
	setsJSONata  = schema{"properties": schema{"QueryLanguage": schema{"const": "JSONata"}}, "required": []string{"QueryLanguage"}}
	expressionIs = schema{"type": "string", "pattern": `^\{%[\s\S]*%\}$`}
)

func (statesRule) schema(s *schemas) schema {
	return schema{"type": "object", "minProperties": 1, "additionalProperties": s.within(s.machine, s.machine).state()}
}

func (s *schemas) state() schema {
	return s.define("state", func() schema {
		out := schema{
			"type": "object", "required": []string{"Type"},
			"properties": schema{"Type": schema{"enum": slices.Clone(kindNames[:])}},
		}
		if s.machine == inJSONata {
			out["allOf"] = s.kinds()
			return out
		}
		out["if"] = setsJSONata
		out["then"] = schema{"allOf": s.within(inJSONata, inJSONPath).kinds()}
		out["else"] = schema{"allOf": s.kinds()}
		return out
	})
}

// kinds says for each type of state what it looks like.
func (s *schemas) kinds() []any {
	var all []any
	for _, f := range stateForms {
		all = append(all, schema{"if": schema{"properties": schema{"Type": schema{"const": f.name}}}, "then": s.ref(f)})
	}
	return all
}

func (textRule) schema(*schemas) schema    { return schema{"type": "string"} }
func (messageRule) schema(*schemas) schema { return schema{"type": "string"} }
func (boolRule) schema(*schemas) schema    { return schema{"type": "boolean"} }
func (resultRule) schema(*schemas) schema  { return schema{} }
func (typeRule) schema(*schemas) schema    { return schema{"enum": slices.Clone(kindNames[:])} }

// schema of a QueryLanguage: a machine in JSONata has no states in JSONPath.
func (languageRule) schema(s *schemas) schema {
	if s.machine == inJSONata {
		return schema{"const": inJSONata.String()}
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

func (timestampRule) schema(*schemas) schema {
	return schema{"type": "string", "pattern": `^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$`}
}

func (s listRule) schema(b *schemas) schema {
	out := schema{"type": "array", "items": s.of.schema(b)}
	if s.least > 0 {
		out["minItems"] = s.least
	}
	return out
}

func (s pathRule) schema(*schemas) schema {
	if s.null {
		return schema{"type": []string{"string", "null"}, "pattern": `^\$`}
	}
	return schema{"type": "string", "pattern": `^\$`}
}

func (dynamicRule) schema(*schemas) schema {
	return schema{"type": "string", "pattern": `^(\$|States\.)`}
}

// schema of a payload template refers to itself, for templates nest.
func (payloadRule) schema(s *schemas) schema {
	return s.define("template", func() schema {
		self := payloadRule{}.schema(s)
		if s.language == inJSONPath {
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

func (s expressionOr) schema(b *schemas) schema {
	if b.language == inJSONata {
		return schema{"anyOf": []any{s.valueRule.schema(b), expressionIs}}
	}
	return s.valueRule.schema(b)
}

func (conditionRule) schema(*schemas) schema {
	return schema{"anyOf": []any{schema{"type": "boolean"}, expressionIs}}
}

func (itemsRule) schema(*schemas) schema {
	return schema{"anyOf": []any{schema{"type": []string{"array", "object"}}, expressionIs}}
}

func (s levelRule) schema(b *schemas) schema {
	return b.within(b.machine, b.machine).ref(s.objectRule)
}

func (processorRule) schema(b *schemas) schema {
	return b.within(b.machine, b.machine).ref(processorObject)
}

func (resourceRule) schema(*schemas) schema {
	return schema{"type": "string", "pattern": `^[A-Za-z0-9+.-]+:.`}
}

func (revertRule) schema(s *schemas) schema {
	return schema{"anyOf": []any{resourceRule{}.schema(s), s.ref(revertObject), schema{"const": false}}}
}

func (catchRevertRule) schema(s *schemas) schema {
	return schema{"anyOf": []any{catchRevertWords.schema(s), s.ref(catchRevertObject)}}
}

func (credentialsRule) schema(s *schemas) schema {
	needs := []any{schema{"required": []string{"RoleArn"}}}
	if s.language == inJSONPath {
		needs = append(needs, schema{"required": []string{"RoleArn.$"}})
	}
	return schema{"allOf": []any{schema{"type": "object", "anyOf": needs}, payloadRule{}.schema(s)}}
}

func (errorsRule) schema(*schemas) schema {
	return schema{"type": "array", "minItems": 1, "items": schema{"type": "string", "minLength": 1}}
}

func (labelRule) schema(*schemas) schema {
	return schema{"type": "string", "minLength": 1, "maxLength": maxLabel, "pattern": `^[^\s` + regexp.QuoteMeta(labelExcludes) + `]*$`}
}

func (nextOrEnd) schema(*schemas) schema {
	return schema{"oneOf": []any{
		schema{"required": []string{"Next"}, "properties": schema{"End": schema{"const": false}}},
		schema{"required": []string{"End"}, "properties": schema{"End": schema{"const": true}, "Next": false}},
	}}
}

// schema of a rule of Choices: in JSONPath a condition that says what is next.
func (choiceRule) schema(s *schemas) schema {
	if s.language == inJSONata {
		return s.ref(choiceRuleObject)
	}
	return s.define("rule", func() schema { return s.rule(choiceRuleObject.fields, "Next") })
}

// rule is a condition in JSONPath: one operator, and perhaps fields beside it.
func (s *schemas) rule(beside fields, required ...string) schema {
	inner := func() schema {
		return s.define("condition", func() schema { return s.rule(fields{"Comment": anyText}) })
	}
	several := schema{"type": "array", "minItems": 1, "items": inner()}
	properties := schema{"Variable": pathRule{}.schema(s), "And": several, "Or": several, "Not": inner()}
	one := []any{schema{"required": []string{"And"}}, schema{"required": []string{"Or"}}, schema{"required": []string{"Not"}}}
	for _, name := range beside.in(inJSONPath) {
		properties[name] = beside[name].is.schema(s)
	}
	for _, name := range slices.Sorted(maps.Keys(operators)) {
		properties[name] = operators[name].operand.schema(name)
		one = append(one, schema{"required": []string{name, "Variable"}})
	}
	out := schema{"type": "object", "properties": properties, "additionalProperties": false, "oneOf": one}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

func (o operand) schema(operator string) schema {
	switch {
	case isPathOperator(operator):
		return pathRule{}.schema(nil)
	case o == numberOperand:
		return schema{"type": "number"}
	case o == boolOperand:
		return schema{"type": "boolean"}
	case o == timeOperand:
		return timestampRule{}.schema(nil)
	}
	return schema{"type": "string"}
}

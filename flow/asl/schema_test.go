package asl_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/internal/conformance"
)

var update = flag.Bool("update", false, "write what is generated")

const schemaFile = "../../docs/reference/asl.schema.json"

// TestSchemaFile: the file for editors agrees with the tables.
func TestSchemaFile(t *testing.T) {
	t.Parallel()
	if *update {
		if err := os.WriteFile(schemaFile, asl.Schema(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text, asl.Schema()) {
		t.Error("the file is not up to date: run this test with -update")
	}
}

// TestSchema: the schema accepts what the rules accept, and refuses violations of rules that a schema can express.
func TestSchema(t *testing.T) {
	t.Parallel()
	v := newSchemaTest(t)
	for _, c := range ruleCases {
		if problem := v.judge(c.good); problem != "" {
			t.Errorf("%s: refused: %s\n%.300s", c.rule, problem, c.good)
		}
		if !json.Valid([]byte(c.bad)) {
			continue
		}
		if problem := v.judge(c.bad); (problem != "") != c.schema {
			t.Errorf("%s: %.300q, but a schema that sees it: %t\n%.300s", c.rule, problem, c.schema, c.bad)
		}
	}
}

// TestConformanceASLSchema shows that the schema accepts definitions from real
// life, and those that AWS has run.
func TestConformanceASLSchema(t *testing.T) {
	t.Parallel()
	v := newSchemaTest(t)
	tally := conformance.NewAspects("asl/samples")
	for _, record := range conformance.Samples(t) {
		if warned(asl.Validate("", record.Definition), "unknown-field", "misplaced", "placeholder") {
			continue // in this the schema is stricter
		}
		if bytes.Contains(record.Definition, []byte(`{"Fn::`)) {
			continue // a part of a template
		}
		tally.Count("schema", record.Name, v.judge(string(record.Definition)))
	}
	for _, record := range conformance.Verdicts(t) {
		problems := asl.Validate("", record.Source())
		if record.Provenance == "aws" && problems.Legal() && !warned(problems, "unknown-field") {
			tally.Count("schema", record.Name, v.judge(string(record.Source())))
		}
	}
	tally.Print(t)
	tally.Demand(t, "schema", 1)
}

func warned(problems flow.Diagnostics, rules ...string) bool {
	return slices.ContainsFunc(problems, func(p flow.Diagnostic) bool { return slices.Contains(rules, p.Rule) })
}

// A schemaTest judges values by a JSON Schema, as far as ours uses it.
type schemaTest struct {
	t    *testing.T
	root map[string]any
}

func newSchemaTest(t *testing.T) *schemaTest {
	t.Helper()
	v := &schemaTest{t: t}
	if err := json.Unmarshal(asl.Schema(), &v.root); err != nil {
		t.Fatal(err)
	}
	return v
}

// judge returns the problem of a JSON text.
func (v *schemaTest) judge(text string) string {
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		v.t.Fatal(err)
	}
	return v.check(v.root, value, "")
}

// check returns the first rule of a schema that a value violates.
func (v *schemaTest) check(schema, value any, at string) string {
	s, ok := schema.(map[string]any)
	if !ok {
		if schema == false {
			return at + " may not be there"
		}
		return ""
	}
	for _, keyword := range slices.Sorted(maps.Keys(s)) {
		if problem := v.keyword(s, keyword, value, at); problem != "" {
			return problem
		}
	}
	return ""
}

func (v *schemaTest) passes(schema, value any) bool { return v.check(schema, value, "") == "" }

// assertions are the keywords that look at a value alone.
var assertions = map[string]func(want, value any) bool{
	"type": func(want, value any) bool {
		types, several := want.([]any)
		if !several {
			types = []any{want}
		}
		return slices.ContainsFunc(types, func(name any) bool { return isOfType(value, name) })
	},
	"enum":  func(want, value any) bool { return slices.Contains(want.([]any), value) },
	"const": func(want, value any) bool { return want == value },
	"pattern": func(want, value any) bool {
		text, ok := value.(string)
		return !ok || regexp.MustCompile(want.(string)).MatchString(text)
	},
	"minLength": func(want, value any) bool { return sizeOf(value, "string") >= want.(float64) },
	"maxLength": func(want, value any) bool {
		text, ok := value.(string)
		return !ok || sizeOf(text, "string") <= want.(float64)
	},
	"minimum":       func(want, value any) bool { number, ok := value.(float64); return !ok || number >= want.(float64) },
	"maximum":       func(want, value any) bool { number, ok := value.(float64); return !ok || number <= want.(float64) },
	"minItems":      func(want, value any) bool { return sizeOf(value, "array") >= want.(float64) },
	"minProperties": func(want, value any) bool { return sizeOf(value, "object") >= want.(float64) },
	"required": func(want, value any) bool {
		object, ok := value.(map[string]any)
		return !ok || !slices.ContainsFunc(want.([]any), func(name any) bool { _, ok := object[name.(string)]; return !ok })
	},
}

// sizeOf returns the size of a value of a type; others are as large as needed.
func sizeOf(value any, name string) float64 {
	switch v := value.(type) {
	case string:
		if name == "string" {
			return float64(utf8.RuneCountInString(v))
		}
	case []any:
		if name == "array" {
			return float64(len(v))
		}
	case map[string]any:
		if name == "object" {
			return float64(len(v))
		}
	}
	return math.Inf(1)
}

func (v *schemaTest) keyword(s map[string]any, keyword string, value any, at string) string {
	want := s[keyword]
	if holds, ok := assertions[keyword]; ok {
		return v.fail(!holds(want, value), keyword, want, value, at)
	}
	switch keyword {
	case "$schema", "title", "definitions", "then", "else", "description":
		return ""
	case "$ref":
		name, ok := strings.CutPrefix(want.(string), "#/definitions/")
		target := v.root["definitions"].(map[string]any)[name]
		if !ok || target == nil {
			v.t.Fatalf("the reference %s leads nowhere", want)
		}
		return v.check(target, value, at)
	case "properties", "patternProperties", "additionalProperties":
		object, _ := value.(map[string]any)
		return v.members(s, keyword, object, at)
	case "items":
		list, _ := value.([]any)
		for i, item := range list {
			if problem := v.check(want, item, fmt.Sprintf("%s/%d", at, i)); problem != "" {
				return problem
			}
		}
		return ""
	case "not":
		return v.fail(v.passes(want, value), keyword, want, value, at)
	case "if":
		if v.passes(want, value) {
			return v.check(s["then"], value, at)
		}
		return v.check(s["else"], value, at)
	}
	return v.combined(keyword, want, value, at)
}

// combined checks what combines schemas.
func (v *schemaTest) combined(keyword string, want, value any, at string) string {
	passed := 0
	for _, part := range want.([]any) {
		problem := v.check(part, value, at)
		if problem == "" {
			passed++
		} else if keyword == "allOf" {
			return problem
		}
	}
	switch keyword {
	case "allOf":
		return ""
	case "anyOf":
		return v.fail(passed == 0, keyword, want, value, at)
	case "oneOf":
		return v.fail(passed != 1, keyword, want, value, at)
	}
	v.t.Fatalf("the keyword %s is not known here", keyword)
	return ""
}

func (*schemaTest) fail(broken bool, keyword string, want, value any, at string) string {
	if broken {
		return fmt.Sprintf("%s: %s %v, found %v", at, keyword, want, value)
	}
	return ""
}

// members checks the members of an object that a keyword is about.
func (v *schemaTest) members(s map[string]any, keyword string, object map[string]any, at string) string {
	properties, _ := s["properties"].(map[string]any)
	patterns, _ := s["patternProperties"].(map[string]any)
	for name, value := range object {
		_, known := properties[name]
		var schemas []any
		for pattern, schema := range patterns {
			if regexp.MustCompile(pattern).MatchString(name) {
				known = true
				if keyword == "patternProperties" {
					schemas = append(schemas, schema)
				}
			}
		}
		switch {
		case keyword == "properties" && properties[name] != nil:
			schemas = append(schemas, properties[name])
		case keyword == "additionalProperties" && !known:
			schemas = append(schemas, s[keyword])
		}
		for _, schema := range schemas {
			if problem := v.check(schema, value, at+"/"+name); problem != "" {
				return problem
			}
		}
	}
	return ""
}

func isOfType(value, name any) bool {
	switch v := value.(type) {
	case nil:
		return name == "null"
	case bool:
		return name == "boolean"
	case string:
		return name == "string"
	case float64:
		return name == "number" || name == "integer" && v == math.Trunc(v)
	case []any:
		return name == "array"
	}
	return name == "object"
}

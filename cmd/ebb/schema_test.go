package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ebbflow/ebb/cmd/ebb/internal/document"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/sm4c"
	"github.com/ebbflow/ebb/internal/conformance"
)

// TestSchemas: an editor that reads the schemas of the languages finds no fault in the examples, and finds one in each
// of them without its first member.
func TestSchemas(t *testing.T) {
	t.Parallel()
	schemas := map[string]*jsonschema.Schema{".asl.": compileSchema(t, asl.Schema()), ".sm4c.": compileSchema(t, sm4c.Schema())}
	files, err := filepath.Glob("../../examples/*/*.*.*")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, file := range files {
		for kind, schema := range schemas {
			if !strings.Contains(filepath.Base(file), kind) {
				continue
			}
			seen[kind]++
			definition := exampleOf(t, file)
			if err := schema.Validate(definition); err != nil {
				t.Errorf("%s: %v", file, err)
			}
			delete(definition.(map[string]any), map[string]string{".asl.": "StartAt", ".sm4c.": "states"}[kind])
			if schema.Validate(definition) == nil {
				t.Errorf("%s: nothing is missed where it begins nowhere", file)
			}
		}
	}
	if len(seen) != len(schemas) {
		t.Errorf("examples of each kind: %v; want some of both", seen)
	}
}

// TestConformanceSM4CSchema shows that the schema accepts every definition that the
// rules accept.
func TestConformanceSM4CSchema(t *testing.T) {
	t.Parallel()
	schema := compileSchema(t, sm4c.Schema())
	conformance.ForFiles(t, "sm4c", func(t *testing.T, file string) {
		aspects := conformance.NewAspects(file)
		for _, c := range conformance.MachineCases(t, file) {
			load := sm4c.Load(func(uri string) ([]byte, error) { return c.Resources[uri], nil })
			if !sm4c.Validate(c.Name, c.Definition, load).Legal() {
				continue
			}
			miss := ""
			if definition, err := jsonschema.UnmarshalJSON(bytes.NewReader(c.Definition)); err != nil {
				miss = err.Error()
			} else if err := schema.Validate(definition); err != nil {
				miss = err.Error()
			}
			aspects.Count("schema", c.Name, miss)
		}
		aspects.Print(t)
		aspects.Demand(t, "schema", 1)
	})
}

func compileSchema(t *testing.T, text []byte) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// exampleOf returns the content of a file in the form of JSON.
func exampleOf(t *testing.T, file string) any {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Ext(file) == ".yaml" {
		d, err := document.ParseYAML(text)
		if err != nil {
			t.Fatal(err)
		}
		text, _ = d.Print()
	}
	definition, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return definition
}

package definition

import (
	"bytes"
	"encoding/json"
	"maps"
)

// A Schema is a JSON Schema, or a part of one.
type Schema = map[string]any

// Schemas are those that a JSON Schema refers to by their names.
type Schemas Schema

// Define returns a reference to a schema, which is made when it is first
// referred to.
func (s Schemas) Define(name string, content func() Schema) Schema {
	if s[name] == nil {
		s[name] = Schema{} // it may refer to itself
		s[name] = content()
	}
	return Schema{"$ref": "#/definitions/" + name}
}

// Document returns the JSON Schema (draft 7) of a language, whose root has some parts.
func (s Schemas) Document(title string, root Schema) []byte {
	all := Schema{"$schema": "http://json-schema.org/draft-07/schema#", "title": title, "definitions": s}
	maps.Copy(all, root)
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(all); err != nil {
		panic(err) // it is made of texts and numbers
	}
	return b.Bytes()
}

// ListSchema describes an array.
func ListSchema(of Schema, least int) Schema {
	out := Schema{"type": "array", "items": of}
	if least > 0 {
		out["minItems"] = least
	}
	return out
}

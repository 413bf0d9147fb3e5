package definition

import (
	"bytes"
	"encoding/json"
	"maps"
)

// A Schema is a JSON Schema, or a part of one.
type Schema = map[string]any

// Schemas contains the schemas to which a JSON Schema refers by name.
type Schemas Schema

// Define returns a reference to a schema, which is created at its first use.
func (s Schemas) Define(name string, content func() Schema) Schema {
	if s[name] == nil {
		s[name] = Schema{} // it may refer to itself
		s[name] = content()
	}
	return Schema{"$ref": "#/definitions/" + name}
}

// Document returns the JSON Schema (draft 7) of a language, with the given root.
func (s Schemas) Document(title string, root Schema) []byte {
	all := Schema{"$schema": "http://json-schema.org/draft-07/schema#", "title": title, "definitions": s}
	maps.Copy(all, root)
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(all); err != nil {
		panic(err) // cannot happen: it consists of texts and numbers
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

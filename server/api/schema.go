package api

import (
	"reflect"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
)

// schemas are JSON schemas of Go types, as package encoding/json writes them.
type schemas struct {
	of    object // by name
	names map[string]reflect.Type
}

// schema returns the schema of a type, or a reference to it.
func (s *schemas) schema(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[atom.Value]():
		return object{} // any value
	case reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return object{"anyOf": []any{s.schema(t.Elem()), object{"type": "null"}}}
	case reflect.Struct:
		if t.Name() == "" {
			return s.object(t)
		}
		name := s.name(t)
		if s.of[name] == nil {
			s.of[name] = object{} // so that a type may contain itself
			s.of[name] = s.object(t)
		}
		return object{"$ref": "#/components/schemas/" + name}
	case reflect.Slice, reflect.Array:
		return object{"type": []any{"array", "null"}, "items": s.schema(t.Elem())}
	case reflect.Map:
		return object{"type": []any{"object", "null"}, "additionalProperties": s.schema(t.Elem())}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}
	default:
		return object{"type": "integer"}
	}
}

// name returns the name of the type in the document.
func (s *schemas) name(t reflect.Type) string {
	name := t.Name()
	for s.names[name] != nil && s.names[name] != t { // of another package
		name += "_"
	}
	s.names[name] = t
	return name
}

// object returns the schema of a struct whose fields have names in JSON. Members that are never left out are required,
// and there are no others.
func (s *schemas) object(t reflect.Type) object {
	properties, required := object{}, []any{}
	var add func(t reflect.Type)
	add = func(t reflect.Type) {
		for f := range t.Fields() {
			tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case f.Anonymous && tag == "":
				add(f.Type)
			case f.IsExported() && tag != "-":
				properties[tag] = s.schema(f.Type)
				if !strings.Contains(options, "omit") {
					required = append(required, tag)
				}
			}
		}
	}
	add(t)
	return object{
		"type": "object", "properties": properties, "required": required, "additionalProperties": false,
	}
}

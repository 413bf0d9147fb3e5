// Package jsonschema describes the JSON of Go types, so that a process without a program's code refuses what the
// program could not decode. It does not compare a value with the schema: it makes a Go type of the schema and lets
// encoding/json decode the value, so both sides always agree.
package jsonschema

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"time"
)

// A Schema is the JSON Schema of the values of a Go type. The schema without a Type is of types of which only their
// code knows what they decode, and of types within themselves: such a value may be anything.
type Schema struct {
	Type       string             `json:"type,omitempty"`                 // type of the JSON
	Format     string             `json:"format,omitempty"`               // which Go type, where several have that JSON
	Items      *Schema            `json:"items,omitempty"`                // of an array
	Values     *Schema            `json:"additionalProperties,omitempty"` // of a map
	Keys       *Schema            `json:"propertyNames,omitempty"`        // of a map whose keys are numbers
	Properties map[string]*Schema `json:"properties,omitempty"`           // of a struct
	// Required are the members that a value must have, in the order of the fields. It is empty within a value: there
	// encoding/json gives a field without a member its zero value.
	Required []string `json:"required,omitempty"`
}

// Formats that are not the name of a kind of Go.
const (
	formatTime   = "date-time"
	formatBytes  = "byte"
	formatNumber = "number"  // json.Number
	formatAny    = "any"     // any, which has no number above that of a float64
	quoted       = "string:" // before the format of a number, bool or string that is within a string
)

// kinds are the types that the format of a schema names, beside string.
var kinds = map[string]reflect.Type{}

func init() { //nolint:gochecknoinits // a table of the kinds of reflect
	for _, t := range []reflect.Type{
		reflect.TypeFor[bool](), reflect.TypeFor[string](),
		reflect.TypeFor[int](), reflect.TypeFor[int8](), reflect.TypeFor[int16](), reflect.TypeFor[int32](),
		reflect.TypeFor[int64](), reflect.TypeFor[uint](), reflect.TypeFor[uint8](), reflect.TypeFor[uint16](),
		reflect.TypeFor[uint32](), reflect.TypeFor[uint64](), reflect.TypeFor[uintptr](), reflect.TypeFor[float32](),
		reflect.TypeFor[float64](),
	} {
		kinds[t.Kind().String()] = t
	}
}

var textual = reflect.TypeFor[encoding.TextUnmarshaler]()

// Of returns the schema of the texts that a type decodes; nil stands for any value.
func Of(t reflect.Type) *Schema {
	if t == nil {
		return &Schema{}
	}
	return of(t, nil)
}

// OfResult returns the schema of the results of a type: they also have all members that the type always encodes.
func OfResult(t reflect.Type) *Schema {
	s := Of(t)
	members, _ := Fields(t)
	for _, f := range members {
		if !f.Optional && s.Properties != nil {
			s.Required = append(s.Required, f.Name)
		}
	}
	return s
}

// of returns the schema of a type within others.
func of(t reflect.Type, within []reflect.Type) *Schema {
	switch p := reflect.PointerTo(t); {
	case t == reflect.TypeFor[time.Time]():
		return &Schema{Type: "string", Format: formatTime}
	case t == reflect.TypeFor[json.Number]():
		return &Schema{Type: "number", Format: formatNumber}
	case t.Kind() == reflect.Pointer:
		return of(t.Elem(), within)
	case p.Implements(reflect.TypeFor[json.Unmarshaler]()), slices.Contains(within, t):
		return &Schema{}
	case p.Implements(textual):
		return &Schema{Type: "string"}
	}
	inside := func(t reflect.Type, inner reflect.Type) *Schema { return of(inner, append(slices.Clip(within), t)) }
	switch k := t.Kind(); k { // the others are not decoded, or may be anything
	case reflect.String:
		return &Schema{Type: "string"}
	case reflect.Bool:
		return &Schema{Type: "boolean", Format: k.String()}
	case reflect.Float32, reflect.Float64:
		return &Schema{Type: "number", Format: k.String()}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return &Schema{Type: "string", Format: formatBytes}
		}
		return &Schema{Type: "array", Items: inside(t, t.Elem())}
	case reflect.Interface:
		return &Schema{Format: formatAny}
	case reflect.Array:
		return &Schema{Type: "array", Format: strconv.Itoa(t.Len()), Items: inside(t, t.Elem())}
	case reflect.Map:
		s := &Schema{Type: "object", Values: inside(t, t.Elem())}
		if _, number := kinds[t.Key().Kind().String()]; number && t.Key().Kind() != reflect.String {
			s.Keys = of(t.Key(), nil)
		}
		return s
	case reflect.Struct:
		s := &Schema{Type: "object", Properties: map[string]*Schema{}}
		for _, f := range fields(t) {
			inner := inside(t, f.Type)
			switch {
			case f.quoted && inner.Type == "string": // perhaps one whose code decodes it
				inner = &Schema{}
				if t := pointee(f.Type); t.Kind() == reflect.String && !reflect.PointerTo(t).Implements(textual) {
					inner = &Schema{Type: "string", Format: quoted + t.Kind().String()}
				}
			case f.quoted && inner.Type != "":
				inner.Type, inner.Format = "string", quoted+inner.Format
			}
			s.Properties[f.Name] = inner
		}
		return s
	default:
		if _, ok := kinds[k.String()]; ok {
			return &Schema{Type: "integer", Format: k.String()}
		}
		return &Schema{}
	}
}

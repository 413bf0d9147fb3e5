package jsonschema

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Check returns an error that names the problem and an [Schema.Example] if the type of the schema does not decode the
// text, or if a member is missing.
func (s *Schema) Check(text []byte) error {
	err := s.check(text)
	if err != nil && s.Type != "" {
		err = fmt.Errorf("%w; such as %s", err, s.Example())
	}
	return err
}

func (s *Schema) check(text []byte) error {
	if err := json.Unmarshal(text, reflect.New(s.goType()).Interface()); err != nil {
		return Explain(err)
	}
	if len(s.Required) == 0 {
		return nil
	}
	var members map[string]json.RawMessage
	_ = json.Unmarshal(text, &members) // it is an object or null
	for _, name := range s.Required {
		if _, has := members[name]; !has {
			return missing(name)
		}
	}
	return nil
}

// Missing returns an error if a value does not have one of the fields that are not optional.
func Missing(fields []Field, has func(name string) bool) error {
	for i := range fields {
		if f := &fields[i]; !f.Optional && !has(f.Name) {
			return missing(f.Name)
		}
	}
	return nil
}

func missing(name string) error { return fmt.Errorf("the member %q is missing", name) }

// Explain returns an error of encoding/json in words that name no Go type of this package.
func Explain(err error) error {
	wrong, is := errors.AsType[*json.UnmarshalTypeError](err)
	if !is {
		return err
	}
	what := "it"
	if wrong.Field != "" {
		what = fmt.Sprintf("%q", wrong.Field)
	}
	return fmt.Errorf("%s is of the JSON type %s, but has to be %s", what, wrong.Value, nameOf(wrong.Type))
}

func nameOf(t reflect.Type) string {
	switch t.Kind() { // the others have the name of their kind
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice, reflect.Array:
		return "an array"
	default:
		return t.Kind().String()
	}
}

// goType returns a type that decodes the same texts as the type of the schema.
func (s *Schema) goType() reflect.Type {
	switch s.Type {
	case "string":
		switch s.Format {
		case formatTime:
			return reflect.TypeFor[time.Time]()
		case formatBytes:
			return reflect.TypeFor[[]byte]()
		}
		return reflect.TypeFor[string]()
	case "boolean", "integer", "number":
		if t, ok := kinds[s.Format]; ok {
			return t
		}
		return reflect.TypeFor[json.Number]()
	case "array":
		if n, err := strconv.Atoi(s.Format); err == nil && n >= 0 {
			return reflect.ArrayOf(n, s.Items.goType())
		}
		return reflect.SliceOf(s.Items.goType())
	case "object":
		if s.Values != nil {
			key := reflect.TypeFor[string]()
			if s.Keys != nil {
				key = s.Keys.goType()
			}
			return reflect.MapOf(key, s.Values.goType())
		}
		return s.structType()
	default:
		if s.Format == formatAny {
			return reflect.TypeFor[any]()
		}
		return reflect.TypeFor[json.RawMessage]()
	}
}

func (s *Schema) structType() reflect.Type {
	var fields []reflect.StructField
	for i, name := range s.names() {
		p := s.Properties[name]
		f := reflect.StructField{Name: "F" + strconv.Itoa(i), Type: p.goType()}
		if format, ok := strings.CutPrefix(p.Format, quoted); ok {
			f.Type, name = (&Schema{Type: "number", Format: format}).goType(), name+",string"
		} else if name == "-" {
			name = "-,"
		}
		f.Tag = reflect.StructTag("json:" + strconv.Quote(name))
		fields = append(fields, f)
	}
	return reflect.StructOf(fields)
}

// names returns the names of the properties: the required ones, then the others.
func (s *Schema) names() []string {
	names := slices.Clone(s.Required)
	var others []string
	for name := range s.Properties {
		if !slices.Contains(s.Required, name) {
			others = append(others, name)
		}
	}
	slices.Sort(others)
	return append(names, others...)
}

// Example returns a value that the schema accepts, as JSON: with the members that it must have or, if there are none,
// with all. A reader replaces what is in it.
func (s *Schema) Example() string {
	switch s.Type {
	case "string":
		switch kind, isQuoted := strings.CutPrefix(s.Format, quoted); {
		case isQuoted && kind == "string":
			return `"\"…\""`
		case isQuoted && kind == "bool":
			return `"false"`
		case isQuoted:
			return `"0"`
		case s.Format == formatTime:
			return `"2026-01-31T12:00:00Z"`
		case s.Format == formatBytes:
			return `""`
		}
		return `"…"`
	case "boolean":
		return "false"
	case "integer", "number":
		return "0"
	case "array":
		return "[]"
	case "object":
		names := s.Required
		if len(names) == 0 {
			names = s.names()
		}
		members := make([]string, len(names))
		for i, name := range names {
			key, _ := json.Marshal(name) // a string always encodes
			members[i] = string(key) + ": " + s.Properties[name].Example()
		}
		return "{" + strings.Join(members, ", ") + "}"
	default:
		return "null"
	}
}

package api

import (
	"reflect"
	"strings"

	"github.com/ebbflow/ebb/atom"
)

// An Operation is a route that changes something, such as the console makes a form of
// each.
type Operation struct {
	Name    string  // such as "cancel", the last part of its path
	Of      string  // what it is applied to: "run", "token", "job", "schedule", or "" if it names that in its fields
	Path    string  // path below [Prefix], such as "runs/{run}/cancel"
	Summary string  // what it does
	Fields  []Field // members of its body
}

// A Field is a member of the body of an [Operation].
type Field struct {
	Name string    // name of the member
	Kind FieldKind // what its value is
	Text string    // what it means
}

// A FieldKind is what the value of a [Field] is.
type FieldKind string

// The kinds of fields.
const (
	FieldText    FieldKind = "text"
	FieldBool    FieldKind = "bool"
	FieldNumber  FieldKind = "number"
	FieldValue   FieldKind = "value"   // any value of JSON
	FieldObject  FieldKind = "object"  // an object of JSON with any values
	FieldStrings FieldKind = "strings" // an object of JSON whose values are texts
)

// Operations returns the operations of the API, in the order of their routes.
func Operations() []Operation {
	var all []Operation
	for _, r := range writes() {
		parts := strings.Split(r.path, "/")
		o := Operation{Name: parts[len(parts)-1], Path: r.path, Summary: r.summary}
		if len(parts) > 1 {
			o.Of = strings.Trim(parts[1], "{}")
		}
		if r.body != nil {
			o.Fields = fieldsOf(reflect.TypeOf(r.body))
		}
		all = append(all, o)
	}
	return all
}

// fieldsOf returns the members of a body.
func fieldsOf(body reflect.Type) []Field {
	var all []Field
	for f := range body.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			all = append(all, fieldsOf(f.Type)...)
			continue
		}
		all = append(all, Field{Name: name, Kind: kindOf(f.Type), Text: f.Tag.Get("text")})
	}
	return all
}

func kindOf(t reflect.Type) FieldKind {
	switch t {
	case reflect.TypeFor[atom.Value]():
		return FieldValue
	case reflect.TypeFor[map[string]atom.Value]():
		return FieldObject
	case reflect.TypeFor[map[string]string]():
		return FieldStrings
	}
	switch t.Kind() {
	case reflect.Bool:
		return FieldBool
	case reflect.String:
		return FieldText
	default:
		return FieldNumber
	}
}

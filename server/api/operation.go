package api

import (
	"reflect"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/server"
)

// Operations implements [server.Commands], in the order of the routes.
func (*API) Operations() []server.Operation { return operationsOf(writes()) }

// Drafts implements [server.Commands].
func (a *API) Drafts() []server.Operation {
	if a.of.options.Languages == nil {
		return nil
	}
	return operationsOf(drafts())
}

// Trials implements [server.Commands].
func (a *API) Trials() *server.Trials { return a.of.options.Trials }

func operationsOf(routes []route) []server.Operation {
	var all []server.Operation
	for _, r := range routes {
		parts := strings.Split(r.path, "/")
		o := server.Operation{Name: parts[len(parts)-1], Path: Prefix + r.path, Summary: r.summary}
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
func fieldsOf(body reflect.Type) []server.Field {
	var all []server.Field
	for f := range body.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			all = append(all, fieldsOf(f.Type)...)
			continue
		}
		field := server.Field{Name: name, Kind: kindOf(f.Type), Text: f.Tag.Get("text")}
		if one, is := reflect.TypeAssert[interface{ choices() []string }](reflect.Zero(f.Type)); is {
			field.Choices = one.choices()
		}
		all = append(all, field)
	}
	return all
}

func kindOf(t reflect.Type) server.FieldKind {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t {
	case reflect.TypeFor[lines]():
		return server.FieldLines
	case reflect.TypeFor[atom.Value]():
		return server.FieldValue
	case reflect.TypeFor[map[string]atom.Value]():
		return server.FieldObject
	case reflect.TypeFor[map[string]string]():
		return server.FieldStrings
	}
	switch t.Kind() {
	case reflect.Bool:
		return server.FieldBool
	case reflect.String:
		return server.FieldText
	default:
		return server.FieldNumber
	}
}

package api

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/internal/buildinfo"
)

// An object is an object of JSON.
type object = map[string]any

// Document returns the description of the API in OpenAPI 3.1. It is made from the table of routes, so that it agrees
// with the served routes.
func Document() []byte {
	s := &schemas{of: object{}, names: map[string]reflect.Type{}}
	s.schema(reflect.TypeFor[Problem]())
	version, _, _ := buildinfo.Read()
	paths := object{}
	for _, r := range routes() {
		path := Prefix + r.path
		if paths[path] == nil {
			paths[path] = object{}
		}
		paths[path].(object)[strings.ToLower(r.method)] = s.operation(&r) //nolint:forcetypeassert // just made
	}
	text, err := json.MarshalIndent(object{
		"openapi": "3.1.0",
		"info": object{
			"title": "Ebb", "version": version,
			"description": "Runs, and the commands for them. Reading needs a key for view, commands need one for operate.",
		},
		"paths":    paths,
		"security": []any{object{"key": []any{}}},
		"components": object{
			"schemas":         s.of,
			"securitySchemes": object{"key": object{"type": "http", "scheme": "bearer"}},
		},
	}, "", "  ")
	if err != nil {
		panic(err) // there is nothing in it that JSON cannot say
	}
	return append(text, '\n')
}

// operation describes a route.
func (s *schemas) operation(r *route) object {
	params := []any{}
	for rest := r.path; ; {
		_, after, found := strings.Cut(rest, "{")
		if !found {
			break
		}
		var name string
		name, rest, _ = strings.Cut(after, "}")
		params = append(params, object{"name": name, "in": "path", "required": true, "schema": object{"type": "string"}})
	}
	for _, p := range r.params {
		params = append(params, object{
			"name": p.name, "in": "query", "description": p.text, "schema": object{"type": p.kind},
		})
	}
	if r.status == http.StatusAccepted {
		params = append(params, object{
			"name": "Idempotency-Key", "in": "header", "schema": object{"type": "string", "maxLength": maxIdempotencyKey},
			"description": "requests to a run with the same key count once",
		})
	}
	out := object{
		"operationId": r.name, "summary": r.summary, "parameters": params,
		"responses": object{
			strconv.Itoa(r.status): object{
				"description": http.StatusText(r.status),
				"content":     content("application/json", s.schema(reflect.TypeOf(r.answer))),
			},
			"default": object{
				"description": "a problem, see RFC 9457",
				"content":     content("application/problem+json", object{"$ref": "#/components/schemas/Problem"}),
			},
		},
	}
	if r.body != nil {
		out["requestBody"] = object{"content": content("application/json", s.object(reflect.TypeOf(r.body)))}
	}
	return out
}

func content(media string, schema any) object { return object{media: object{"schema": schema}} }

package openapi_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/openapi"
	"github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/flow/sm4c"
	"github.com/ebbflow/ebb/storage/memstore"
)

const document = `{"openapi": "3.0.3", "info": {"title": "shop", "version": "1"},
"servers": [{"url": "https://{host}/v1/", "variables": {"host": {"default": "shop.example.org"}}}],
"paths": {
 "/orders/{id}": {
  "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
  "get": {"operationId": "getOrder", "parameters": [
    {"name": "expand", "in": "query", "schema": {"type": "array", "items": {"type": "string"}}},
    {"name": "filter", "in": "query", "style": "deepObject", "schema": {"type": "object"}},
    {"name": "ids", "in": "query", "explode": false, "schema": {"type": "array", "items": {"type": "integer"}}},
    {"name": "X-Tenant", "in": "header", "schema": {"type": "string"}},
    {"name": "session", "in": "cookie", "schema": {"type": "string"}}], "responses": {"200": {"description": "ok"}}},
  "put": {"operationId": "putOrder", "requestBody": {"required": true, "content": {"application/json": {"schema": {"type": "object"}}}},
    "responses": {"200": {"description": "ok"}}}},
 "/teapot": {"get": {"operationId": "brew", "servers": [{"url": "/other"}], "responses": {"200": {"description": "ok"}}}}}}`

// A service answers requests and records them.
type service struct {
	answer http.HandlerFunc

	mu       sync.Mutex
	requests []string
	keys     []string
}

func (s *service) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	line := r.Method + " " + r.URL.String() + " " + string(body)
	for _, name := range []string{"X-Tenant", "Cookie", "Content-Type"} {
		if v := r.Header.Get(name); v != "" {
			line += " " + name + "=" + v
		}
	}
	s.requests, s.keys = append(s.requests, line), append(s.keys, r.Header.Get("Idempotency-Key"))
	w := httptest.NewRecorder()
	s.answer(w, r)
	answer := w.Result()
	answer.Request = r
	return answer, nil
}

// TestMachineCallsREST runs machines whose function is an operation, with arguments in all places.
func TestMachineCallsREST(t *testing.T) {
	t.Parallel()
	ok := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			_, _ = io.WriteString(w, body)
		}
	}
	for name, c := range map[string]struct {
		operation, arguments string
		answer               http.HandlerFunc
		request, output      string
	}{
		"everywhere": {
			"getOrder", `{"id": "a/b c", "expand": ["x", "y"], "filter": {"age": 5}, "ids": [1, 2], "X-Tenant": "t", "session": "s 1"}`, ok(`{"n": 1.50}`),
			`GET https://shop.example.org/v1/orders/a%2Fb%20c?expand=x&expand=y&filter%5Bage%5D=5&ids=1%2C2  X-Tenant=t Cookie=session=s+1`,
			`{"r":{"n":1.50}}`,
		},
		"the rest is the body": {
			"putOrder", `{"id": 7, "sum": 1.50}`, ok("[]"),
			`PUT https://shop.example.org/v1/orders/7 {"sum":1.50} Content-Type=application/json`, `{"r":[]}`,
		},
		"a body": {
			"putOrder", `{"id": 7, "body": [1]}`, ok("2"),
			`PUT https://shop.example.org/v1/orders/7 [1] Content-Type=application/json`, `{"r":2}`,
		},
		"no JSON": {"brew", `{}`, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "tea")
		}, `GET https://docs.example.org/other/teapot `, `{"r":null}`},
		"refused": {
			"brew", `{}`, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/problem+json")
				w.WriteHeader(http.StatusTeapot)
				_, _ = io.WriteString(w, `{"title":"short and stout"}`)
			}, `GET https://docs.example.org/other/teapot `,
			`{"e":{"body":{"title":"short and stout"},"code":"SM4C.Function","status":418,"type":"Http.StatusCode.418"},"r":null}`,
		},
		"missing": {
			"getOrder", `{}`, ok("1"), "",
			`{"e":{"body":null,"code":"SM4C.Function","status":null,"type":"OpenAPI.Argument"},"r":null}`,
		},
		"too much": {
			"brew", `{"sugar": 1}`, ok("1"), "",
			`{"e":{"body":null,"code":"SM4C.Function","status":null,"type":"OpenAPI.Argument"},"r":null}`,
		},
		"up the path": {
			"getOrder", `{"id": ".."}`, ok("1"), "",
			`{"e":{"body":null,"code":"SM4C.Function","status":null,"type":"OpenAPI.Argument"},"r":null}`,
		},
		"broken JSON": {
			"brew", `{}`, ok("{"), `GET https://docs.example.org/other/teapot `,
			`{"e":{"body":null,"code":"SM4C.Function","status":null,"type":"` + atom.CodeBadResult + `"},"r":null}`,
		},
		"a null is no": {
			"getOrder", `{"id": "1", "expand": null}`, ok("1"), `GET https://shop.example.org/v1/orders/1 `,
			`{"r":1}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &service{answer: c.answer}
			res := runMachine(t, s, c.operation, c.arguments)
			if got := strings.Join(s.requests, "\n"); got != c.request {
				t.Errorf("it asked\n%s\nwant\n%s", got, c.request)
			}
			if got := res.Output().String(); got != c.output {
				t.Errorf("it gives %s; want %s", got, c.output)
			}
			if len(s.keys) > 0 && !strings.HasPrefix(s.keys[0], "r/A/enter") {
				t.Errorf("the idempotency key is %q", s.keys[0])
			}
		})
	}
}

func runMachine(t *testing.T, s *service, operation, arguments string) *engine.Result {
	t.Helper()
	definition := `{"name": "m", "version": "1", "functions": [{"name": "f", "operation": "https://docs.example.org/api.json#` + operation + `"}],
"states": [{"name": "A", "start": true, "enterAction": {"type": "invokeFunction", "functionName": "f", "waitForCompletion": true, "arguments": ` + arguments + `,
  "errorHandlers": [{"resultHandler": "${ .e = ($value | {code, type, status, body}) }"}]}, "enterResultHandler": "${ .r = $value }"}]}`
	load := func(string) ([]byte, error) { return []byte(document), nil }
	m, err := sm4c.Parse("m", []byte(definition), sm4c.LoadAPIs(load))
	if err != nil {
		t.Fatal(err)
	}
	if m, err = sm4c.Parse("m", m.Text()); err != nil { // as it is stored
		t.Fatal(err)
	}
	caller := &openapi.Caller{Client: &http.Client{Transport: s}, Documents: func(uri string) ([]byte, error) {
		doc, _ := m.Document(uri)
		return doc, nil
	}}
	registry := &tasks.Registry{Schemes: map[string]func(string) (atom.Body, error){openapi.Scheme: caller.Task}}
	eng, err := engine.New(m.Flow(), memstore.New(), engine.WithTasks(registry))
	if err != nil {
		t.Fatal(err)
	}
	res, err := eng.Run(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(res.Output().JSON()) {
		t.Fatalf("no JSON: %s", res.Output())
	}
	return res
}

// TestDocuments checks the errors of wrong documents and operations.
func TestDocuments(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ task, document, want string }{
		"no operation":      {"openapi:u", document, "names no operation"},
		"another operation": {"openapi:https://a/b#get", document, `has no operation "get"`},
		"no document":       {"openapi:https://a/b#get", "{", "https://a/b: "},
		"Swagger 2":         {"openapi:https://a/b#get", `{"swagger": "2.0", "paths": {}}`, "no document of OpenAPI 3"},
		"no server": {
			"openapi:b#getOrder", strings.Replace(document, "https://{host}/v1/", "/v1", 1),
			"no http: or https: URL",
		},
		"no JSON": {
			"openapi:https://a/b#putOrder", strings.Replace(document, "application/json", "application/xml", 1), "takes no JSON",
		},
	} {
		caller := &openapi.Caller{Documents: func(string) ([]byte, error) { return []byte(c.document), nil }}
		if _, err := caller.Task(c.task); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %s", name, err, c.want)
		}
	}
}

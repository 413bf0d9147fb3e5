package openapi

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/redact"
)

// Scheme is the prefix of the names of tasks that call operations.
const Scheme = "openapi"

// CodeArgument is the code of the failure of a call whose arguments do not fit the operation. The call made no
// request.
const CodeArgument = "OpenAPI.Argument"

// A Caller finds operations and calls them. Any number of goroutines may use it. Do not change it after its first
// use.
type Caller struct {
	// Documents returns the OpenAPI document, in JSON or YAML, with the given URI. It should always return the same
	// document, such as one that is stored with a definition; the Caller reads each document once. It does not
	// follow references to other documents.
	Documents func(uri string) ([]byte, error)
	// Client makes the requests. Nil means a client that follows up to three redirects, and accepts 64 KiB of
	// headers. If a call is cancelled, its request ends.
	Client *http.Client
	// Allow returns an error for a URL that must not be requested; nil allows all URLs.
	Allow func(*url.URL) error

	mu   sync.Mutex
	read map[string]*openapi3.T
}

// Task returns the body of the task named openapi:URI#operationId. If the document cannot be read, or does not have
// the operation, Task returns an error.
func (c *Caller) Task(name string) (atom.Body, error) {
	uri, id, ok := strings.Cut(strings.TrimPrefix(name, Scheme+":"), "#")
	if !ok || uri == "" || id == "" {
		return nil, fmt.Errorf("openapi: %s names no operation (such as openapi:https://example.org/api.json#getOrder)",
			redact.Text(name))
	}
	doc, err := c.document(uri)
	if err != nil {
		return nil, fmt.Errorf("openapi: %s: %w", redact.URL(uri), err)
	}
	for _, path := range doc.Paths.InMatchingOrder() {
		item := doc.Paths.Value(path)
		for method, op := range item.Operations() {
			if op.OperationID == id {
				return newOperation(c, doc, uri, path, method, item, op)
			}
		}
	}
	return nil, fmt.Errorf("openapi: %s has no operation %q", redact.URL(uri), id)
}

func (c *Caller) document(uri string) (*openapi3.T, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if doc := c.read[uri]; doc != nil {
		return doc, nil
	}
	text, err := c.Documents(uri)
	if err != nil {
		return nil, err
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(doc.OpenAPI, "3.") || doc.Paths == nil {
		return nil, errors.New("it is no document of OpenAPI 3")
	}
	if c.read == nil {
		c.read = map[string]*openapi3.T{}
	}
	c.read[uri] = doc
	return doc, nil
}

// parametersOf returns the parameters of an operation: its own, and those of its path that it does not override.
func parametersOf(item *openapi3.PathItem, op *openapi3.Operation) []*openapi3.Parameter {
	var all []*openapi3.Parameter
	for _, list := range []openapi3.Parameters{op.Parameters, item.Parameters} {
		for _, ref := range list {
			p := ref.Value
			if p == nil || slices.ContainsFunc(all, func(q *openapi3.Parameter) bool {
				return q.Name == p.Name &&
					q.In == p.In
			}) {
				continue
			}
			all = append(all, p)
		}
	}
	return all
}

// serverOf returns the base URL of an operation's path.
func serverOf(doc *openapi3.T, uri string, item *openapi3.PathItem, op *openapi3.Operation) (*url.URL, error) {
	servers := doc.Servers
	if len(item.Servers) > 0 {
		servers = item.Servers
	}
	if op.Servers != nil && len(*op.Servers) > 0 {
		servers = *op.Servers
	}
	at := "/"
	if len(servers) > 0 {
		at = servers[0].URL
		for name, v := range servers[0].Variables {
			at = strings.ReplaceAll(at, "{"+name+"}", v.Default)
		}
	}
	base, err := url.Parse(uri)
	if err != nil {
		return nil, errors.New("the document's URI is not valid")
	}
	to, err := base.Parse(at)
	if err != nil {
		return nil, errors.New("the server is not a valid URL")
	}
	if to.Scheme != "http" && to.Scheme != "https" || to.Host == "" {
		return nil, fmt.Errorf("the server %s is no http: or https: URL", redact.URL(to.String()))
	}
	return to, nil
}

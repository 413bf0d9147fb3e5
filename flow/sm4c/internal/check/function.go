package check

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/flow/sm4c/internal/syntax"
	"github.com/ebbflow/ebb/internal/jq"
	"github.com/ebbflow/ebb/internal/jsontext"
	"github.com/ebbflow/ebb/internal/redact"
)

// typeOf returns the type of a function from its text, because types are needed before functions are checked.
func typeOf(n *node) syntax.FunctionType {
	kind, _ := functionTypes.find(text(n, "type"))
	return kind
}

// checkFunction checks a function's operation.
func checkFunction(c *checker, n *node, f *syntax.Function) {
	operation := get(n, "operation")
	if operation == nil || operation.Kind != jsontext.String || operation.Str == "" {
		return // already reported
	}
	switch typeOf(n) {
	case syntax.ExpressionFunction:
		c.formula(f, operation)
	case syntax.RESTFunction:
		if uri, id, ok := strings.Cut(operation.Str, "#"); !ok || uri == "" || id == "" {
			c.Fixf(ruleValue, operation, "such as https://example.org/api.json#getOrder; or set the function's type",
				"operation must be the URI of an OpenAPI document, # and an operationId")
		} else if c.APIs != nil {
			c.api(operation, uri, id)
		}
	case syntax.RPCFunction:
		if parts := strings.Split(operation.Str, "#"); len(parts) != 3 || slices.Contains(parts, "") {
			c.Fixf(ruleValue, operation, "such as orders.proto#shop.Orders#Get; or set the function's type",
				"operation must be the URI of a schema, # and the full name of a service, # and a method")
		} else if c.APIs != nil {
			c.method(operation, parts[0], parts[1], parts[2])
		}
	case syntax.TaskFunction:
		c.extension(n, "a function of type task")
	}
}

// api reports an operation that an OpenAPI document does not have.
func (c *checker) api(operation *node, uri, id string) {
	doc, from := c.resource(operation, uri, c.APIs)
	if doc == nil {
		return
	}
	if get(doc, "openapi") != nil && from.File == uri {
		c.from(from, func() { c.repeated(doc) })
	}
	var names []string
	if paths := get(doc, "paths"); paths != nil {
		for _, path := range paths.Members {
			for _, method := range path.Value.Members {
				names = append(names, text(method.Value, "operationId"))
			}
		}
	}
	if !slices.Contains(names, id) {
		at := operation.Within(c.Source.Text, len(uri)+1)
		c.Add(ruleReference, operation, at, c.DidYouMean(ruleReference, id, names, quote),
			fmt.Sprintf("%s has no operation %s", quote(redact.URL(uri)), quote(id)))
	}
}

// method checks that a schema has a method, and that the method does not stream. The schema is the JSON mapping of a
// google.protobuf.FileDescriptorSet.
func (c *checker) method(operation *node, uri, service, name string) {
	doc, _ := c.resource(operation, uri, c.APIs)
	if doc == nil {
		return
	}
	services := map[string]*node{}
	for _, file := range items(doc, "file") {
		for _, s := range items(file, "service") {
			services[strings.TrimPrefix(text(file, "package")+"."+text(s, "name"), ".")] = s
		}
	}
	in := services[service]
	if in == nil {
		at := operation.Within(c.Source.Text, len(uri)+1)
		c.Add(ruleReference, operation, at, c.DidYouMean(ruleReference, service, slices.Sorted(maps.Keys(services)), quote),
			fmt.Sprintf("%s has no service %s", quote(redact.URL(uri)), quote(service)))
		return
	}
	at := operation.Within(c.Source.Text, len(uri)+len(service)+2)
	var names []string
	for _, m := range items(in, "method") {
		if names = append(names, text(m, "name")); text(m, "name") != name {
			continue
		}
		if get(m, "clientStreaming").IsTrue() || get(m, "serverStreaming").IsTrue() {
			c.Add(ruleUnary, operation, at, "", fmt.Sprintf("the method %s of %s is a stream; a function is a unary method",
				quote(name), quote(service)))
		}
		return
	}
	c.Add(ruleReference, operation, at, c.DidYouMean(ruleReference, name, names, quote),
		fmt.Sprintf("the service %s has no method %s", quote(service), quote(name)))
}

// formula compiles an expression function, with or without ${ and } around it.
func (c *checker) formula(f *syntax.Function, operation *node) {
	program, from, ok := inside(operation.Str)
	if !ok {
		program, from = strings.TrimSpace(operation.Str), strings.Index(operation.Str, strings.TrimSpace(operation.Str))
	}
	if name, refers := functionReference(program); refers {
		f.Formula.Fn = c.functionIn(operation, name, from)
		return
	}
	compiled, err := c.compile(program, []string{argsVariable})
	if broken, ok := errors.AsType[*jq.Error](err); ok {
		c.Add(ruleJQ, operation, operation.Within(c.Source.Text, from+broken.Offset), broken.Fix, "operation: "+
			broken.Message)
		return
	}
	f.Formula.Program, f.Formula.Where = compiled, "the function "+quote(text(operation.Parent, "name"))
}

// checkBackoff checks the delays of a retry policy.
func checkBackoff(c *checker, n *node, r *syntax.Retry) {
	increment, multiplier := get(n, "increment"), get(n, "multiplier")
	switch {
	case increment != nil && multiplier != nil:
		c.Valuef(ruleUnused, multiplier, "multiplier has no effect beside increment")
	case multiplier != nil && get(n, "delay") == nil:
		c.Valuef(ruleUnused, multiplier, "multiplier has no effect without delay")
	}
	if r.Capped = get(n, "maxDelay") != nil; multiplier == nil || increment != nil {
		r.Multiplier = 1
	}
}

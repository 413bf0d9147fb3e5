package sm4c

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/internal/jq"
	"github.com/ebbflow/ebb/internal/jsontext"
	"github.com/ebbflow/ebb/internal/redact"
)

// typeOf returns the type of a function, by its name alone: functions are told
// apart before they are checked.
func typeOf(n *node) functionType {
	kind, _ := functionTypes.find(text(n, "type"))
	return kind
}

// checkFunction is what a function's operation must be.
func checkFunction(c *checker, n *node, f *function) {
	operation := get(n, "operation")
	if operation == nil || operation.Kind != jsontext.String || operation.Str == "" {
		return // it is reported
	}
	switch typeOf(n) {
	case expressionFunction:
		c.formula(f, operation)
	case restFunction:
		if uri, id, ok := strings.Cut(operation.Str, "#"); !ok || uri == "" || id == "" {
			c.Fixf(ruleValue, operation, "such as https://example.org/api.json#getOrder; or set the function's type",
				"operation must be the URI of an OpenAPI document, # and an operationId")
		} else if c.apis != nil {
			c.api(operation, uri, id)
		}
	case rpcFunction:
		c.Valuef(ruleRPC, operation, "functions of type rpc (gRPC) cannot be called yet; rest, expression and task can")
	case taskFunction:
		c.extension(n, "a function of type task")
	}
}

// api checks that an OpenAPI document has an operation.
func (c *checker) api(operation *node, uri, id string) {
	doc, from := c.resource(operation, uri, c.apis)
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
		c.Add(ruleReference, operation, at, c.DidYouMean(ruleReference, id, names, quote), fmt.Sprintf("%s has no operation %s", quote(redact.URL(uri)), quote(id)))
	}
}

// formula compiles an expression function, which may stand between ${ and } or
// not.
func (c *checker) formula(f *function, operation *node) {
	program, from, ok := inside(operation.Str)
	if !ok {
		program, from = strings.TrimSpace(operation.Str), strings.Index(operation.Str, strings.TrimSpace(operation.Str))
	}
	if name, refers := functionReference(program); refers {
		f.formula.fn = c.functionIn(operation, name, from)
		return
	}
	compiled, err := c.compile(program, []string{argsVariable})
	if broken, ok := errors.AsType[*jq.Error](err); ok {
		c.Add(ruleJQ, operation, operation.Within(c.Source.Text, from+broken.Offset), broken.Fix, "operation: "+broken.Message)
		return
	}
	f.formula.program, f.formula.where = compiled, "the function "+quote(text(operation.Parent, "name"))
}

// checkBackoff looks at the delays of a retry policy.
func checkBackoff(c *checker, n *node, r *retry) {
	increment, multiplier := get(n, "increment"), get(n, "multiplier")
	switch {
	case increment != nil && multiplier != nil:
		c.Valuef(ruleUnused, multiplier, "multiplier has no effect beside increment")
	case multiplier != nil && get(n, "delay") == nil:
		c.Valuef(ruleUnused, multiplier, "multiplier has no effect without delay")
	}
	if r.capped = get(n, "maxDelay") != nil; multiplier == nil || increment != nil {
		r.multiplier = 1
	}
}

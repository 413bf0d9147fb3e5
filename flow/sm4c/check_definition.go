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
	name := text(n, "type")
	for _, known := range [][]string{functionTypes.words, functionTypes.more} {
		for i, word := range known {
			if strings.EqualFold(name, word) {
				return functionType(i)
			}
		}
	}
	return restFunction
}

// functionCheck is what a function's operation must be.
type functionCheck struct{}

func (functionCheck) check(c *checker, n *node) {
	operation := get(n, "operation")
	if operation == nil || operation.Kind != jsontext.String || operation.Str == "" {
		return // its objectRule reports it
	}
	switch typeOf(n) {
	case expressionFunction:
		c.formula(jsontext.Meaning[*definition](n), operation)
	case restFunction:
		if uri, id, ok := strings.Cut(operation.Str, "#"); !ok || uri == "" || id == "" {
			c.fixf(ruleValue, operation, "such as https://example.org/api.json#getOrder; or set the function's type",
				"operation must be the URI of an OpenAPI document, # and an operationId")
		} else if c.apis != nil {
			c.api(operation, uri, id)
		}
	case rpcFunction:
		c.valuef(ruleRPC, operation, "functions of type rpc (gRPC) cannot be called yet; rest, expression and task can")
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
	if get(doc, "openapi") != nil && from.file == uri {
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
		at := operation.Within(c.source.text, len(uri)+1)
		c.add(ruleReference, operation, at, didYouMean(id, names), fmt.Sprintf("%s has no operation %s", quote(redact.URL(uri)), quote(id)))
	}
}

// formula compiles an expression function, which may stand between ${ and } or
// not.
func (c *checker) formula(def *definition, operation *node) {
	program, from, ok := inside(operation.Str)
	if !ok {
		program, from = strings.TrimSpace(operation.Str), strings.Index(operation.Str, strings.TrimSpace(operation.Str))
	}
	if name, refers := functionReference(program); refers {
		c.functionIn(operation, name, from)
		if e := jsontext.Meaning[*expression](operation); e != nil {
			def.formula.fn = e.fn
		}
		return
	}
	compiled, err := c.compile(program, []string{argsVariable})
	if broken, ok := errors.AsType[*jq.Error](err); ok {
		c.add(ruleJQ, operation, operation.Within(c.source.text, from+broken.Offset), broken.Fix, "operation: "+broken.Message)
		return
	}
	def.formula.program, def.formula.where = compiled, "the function "+quote(def.name)
}

// backoffCheck looks at the delays of a retry policy.
type backoffCheck struct{}

func (backoffCheck) check(c *checker, n *node) {
	increment, multiplier := get(n, "increment"), get(n, "multiplier")
	switch {
	case increment != nil && multiplier != nil:
		c.valuef(ruleUnused, multiplier, "multiplier has no effect beside increment")
	case multiplier != nil && get(n, "delay") == nil:
		c.valuef(ruleUnused, multiplier, "multiplier has no effect without delay")
	}
}

// templateTextRule is a text, or an expression that gives one.
type templateTextRule struct{}

func (templateTextRule) check(c *checker, n *node) {
	if c.isText(n) {
		c.template(n)
	}
}

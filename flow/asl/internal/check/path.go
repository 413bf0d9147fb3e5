package check

import (
	"errors"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/expression"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/flow/internal/definition"
	"github.com/ebbflow/ebb/internal/jsonpath"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// pathRule accepts a JSONPath.
type pathRule struct {
	reference bool // a reference path, which names one value
	amount    bool // of a number, which is not in the context object
}

var (
	referenceRule = pathRule{reference: true}
	amountPath    = pathRule{reference: true, amount: true}
)

func (s pathRule) read(c *checker, n *node) *jsonpath.Path {
	path := c.path(n)
	switch {
	case path == nil:
	case s.amount && path.Root() == jsonpath.RootContext:
		c.Valuef(ruleReferencePath, n, "%s %s is in the context object, which has no numbers for states",
			nameOf(n), jsontext.Quote(n.Str))
	case s.reference:
		c.pathError(ruleReferencePath, n, path.CheckReference())
	}
	return path
}

// dataPathRule accepts an InputPath, OutputPath or ResultPath.
type dataPathRule struct{ result bool }

var resultPathRule = dataPathRule{result: true}

func (s dataPathRule) read(c *checker, n *node) expression.DataPath {
	if n.Kind == jsontext.Null {
		return expression.DataPath{None: true}
	}
	path := c.path(n)
	if path != nil && s.result {
		c.pathError(ruleReferencePath, n, path.CheckResultPath())
	}
	return expression.DataPath{Path: expression.UnlessRoot(path)}
}

// path reads a path.
func (c *checker) path(n *node) *jsonpath.Path {
	switch {
	case hasPlaceholder(c, n):
		return nil
	case n.Kind != jsontext.String:
		c.Valuef(ruleType, n, "%s must be a path, found %s", nameOf(n), n.Kind)
		return nil
	}
	path, err := jsonpath.Parse(n.Str)
	if err != nil {
		c.pathError(rulePath, n, err)
		return nil
	}
	c.reads(n, path)
	return path
}

// pathError reports err, if it is not nil, as an error of a path.
func (c *checker) pathError(rule *definition.Rule, n *node, err error) {
	if wrong, ok := errors.AsType[*jsonpath.ParseError](err); ok {
		c.Valuef(rule, n, "%s %s is not a legal path: %s (at its character %d)", nameOf(n), jsontext.Quote(n.Str),
			wrong.Problem, wrong.Offset+1)
	} else if err != nil {
		c.Valuef(rule, n, "%s %s is not a legal path: %v", nameOf(n), jsontext.Quote(n.Str), err)
	}
}

// dynamicRule accepts a path or a call of an intrinsic function.
type dynamicRule struct{}

func (dynamicRule) read(c *checker, n *node) expression.Dynamic { return c.dynamic(n) }

func (c *checker) dynamic(n *node) expression.Dynamic {
	switch {
	case hasPlaceholder(c, n):
	case n.Kind != jsontext.String:
		c.Valuef(ruleTemplate, n, "the value for the field %s must be a path or an intrinsic function, found %s",
			jsontext.Quote(n.Key), n.Kind)
	case strings.HasPrefix(strings.TrimLeft(n.Str, " "), "$"):
		return &expression.Path{Field: n.Key, Path: c.path(n)}
	default:
		return c.intrinsic(n)
	}
	return nil
}

// intrinsic reads the call of an intrinsic function.
func (c *checker) intrinsic(n *node) expression.Dynamic {
	p := &expression.Parser{Text: n.Str}
	call, err := p.Whole()
	if err != nil {
		fix := ""
		if unknown, ok := errors.AsType[*expression.UnknownFunctionError](err); ok {
			fix = c.DidYouMean(ruleTemplate, unknown.Name, expression.FunctionNames,
				func(name string) string { return "States." + name })
		}
		c.Fixf(ruleTemplate, n, fix,
			"the value for the field %s must be a valid JSONPath or a valid intrinsic function call: %v", jsontext.Quote(n.Key),
			err)
		return nil
	}
	c.reads(n, p.Paths...)
	if wants, has, wrong := expression.Placeholders(call); wrong {
		c.Valuef(ruleFormat, n, "the text of States.Format has %d {}, but is given %d", wants, has)
	}
	return call
}

// payloadRule accepts a payload template: any value, whose marked members are evaluated.
type payloadRule struct{}

func (payloadRule) read(c *checker, n *node) expression.Payload {
	if c.language == syntax.JSONata {
		return c.document(n)
	}
	if t := c.template(n); t != nil {
		return t
	}
	return expression.Fixed{Value: data.Constant(n.Tree())}
}

// template reads a payload template of JSONPath; nil if it contains nothing to evaluate.
func (c *checker) template(n *node) *expression.Template {
	c.expressionInPath(n)
	t, evaluated := &expression.Template{}, false
	static := make(map[string]bool, len(n.Members))
	for _, m := range n.Members {
		static[m.Name] = true
	}
	for _, m := range n.Members {
		name, dynamic := strings.CutSuffix(m.Name, ".$")
		if dynamic {
			if static[name] {
				c.Valuef(ruleTwice, m.Value, "%s and %s give the same field twice", jsontext.Quote(name), jsontext.Quote(m.Name))
			}
			t.Fields = append(t.Fields, expression.Field{Name: name, Value: &expression.Template{Expr: c.dynamic(m.Value)}})
			evaluated = true
			continue
		}
		c.undollared(m)
		value := c.template(m.Value)
		t.Fields = append(t.Fields, expression.Field{Name: name, Value: value})
		evaluated = evaluated || value != nil
	}
	for _, item := range n.Items {
		value := c.template(item)
		t.Items = append(t.Items, value)
		evaluated = evaluated || value != nil
	}
	if !evaluated {
		return nil
	}
	for i, m := range n.Members {
		t.Fields[i].Value = orConstant(t.Fields[i].Value, m.Value)
	}
	for i, item := range n.Items {
		t.Items[i] = orConstant(t.Items[i], item)
	}
	return t
}

// orConstant returns t or, if it is nil, a constant template.
func orConstant(t *expression.Template, n *node) *expression.Template {
	if t == nil {
		return &expression.Template{Constant: data.Constant(n.Tree())}
	}
	return t
}

// undollared warns of texts that look like paths but are not evaluated.
func (c *checker) undollared(m jsontext.Member) {
	if v := m.Value; v.Kind == jsontext.String && (looksDynamic(v.Str) || looksIntrinsic(v.Str)) {
		c.Fixf(ruleNoDollar, v, "name it "+jsontext.Quote(m.Name+".$"),
			"the value for the field %s looks like a path but is taken as it stands", jsontext.Quote(m.Name))
	}
}

// expressionInPath warns of a text of JSONPath that looks like an expression of JSONata.
func (c *checker) expressionInPath(n *node) {
	if c.language == syntax.JSONPath && looksEvaluated(n) {
		c.Fixf(ruleExpressionInPath, n, fixLanguage,
			"%s looks like an expression of JSONata but is taken as it stands", nameOf(n))
	}
}

// fixLanguage is what to do where JSONPath has what only JSONata evaluates.
const fixLanguage = `set "QueryLanguage": "JSONata"`

// looksEvaluated reports whether a value is a text that JSONata would evaluate.
func looksEvaluated(n *node) bool {
	return n.Kind == jsontext.String && strings.HasPrefix(n.Str, expressionStart) &&
		strings.HasSuffix(n.Str, expressionEnd)
}

func looksDynamic(text string) bool {
	return strings.HasPrefix(text, "$.") || strings.HasPrefix(text, "$$.") || strings.HasPrefix(text, "$[")
}

func looksIntrinsic(text string) bool {
	name, ok := strings.CutPrefix(text, "States.")
	name, _, call := strings.Cut(name, "(")
	return ok && call && slices.Contains(expression.FunctionNames, name) && strings.HasSuffix(text, ")")
}

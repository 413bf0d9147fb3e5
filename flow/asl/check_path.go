package asl

import (
	"errors"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/internal/jsonpath"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// pathRule is a JSONPath. Its nodes mean a *jsonpath.Path, unless they are null.
type pathRule struct {
	null      bool // may be null instead
	reference bool // names one value
	result    bool // is a ResultPath
}

var (
	dataPathRule  = pathRule{null: true}
	referenceRule = pathRule{reference: true}
)

func (s pathRule) check(c *checker, n *node) {
	if s.null && n.Kind == jsontext.Null {
		return
	}
	path := c.path(n)
	if path == nil {
		return
	}
	if s.reference {
		c.pathError(ruleReferencePath, n, path.CheckReference())
	}
	if s.result {
		c.pathError(ruleReferencePath, n, path.CheckResultPath())
	}
}

// path reads a path.
func (c *checker) path(n *node) *jsonpath.Path {
	switch {
	case c.hasPlaceholder(n):
		return nil
	case n.Kind != jsontext.String:
		c.valuef(ruleType, n, "%s must be a path, found %s", nameOf(n), n.Kind)
		return nil
	}
	path, err := jsonpath.Parse(n.Str)
	if err != nil {
		c.pathError(rulePath, n, err)
		return nil
	}
	c.reads(n, path)
	n.Means = path
	return path
}

// pathError reports why a path is not what it should be, if it is not.
func (c *checker) pathError(rule *Rule, n *node, err error) {
	if wrong, ok := errors.AsType[*jsonpath.ParseError](err); ok {
		c.valuef(rule, n, "%s %s is not a legal path: %s (at its character %d)", nameOf(n), jsontext.Quote(n.Str), wrong.Problem, wrong.Offset+1)
	} else if err != nil {
		c.valuef(rule, n, "%s %s is not a legal path: %v", nameOf(n), jsontext.Quote(n.Str), err)
	}
}

// dynamicRule is a path or a call of an intrinsic function. Its nodes mean an
// expression.
type dynamicRule struct{}

func (dynamicRule) check(c *checker, n *node) { c.dynamic(n) }

func (c *checker) dynamic(n *node) {
	switch {
	case c.hasPlaceholder(n):
	case n.Kind != jsontext.String:
		c.valuef(ruleTemplate, n, "the value for the field %s must be a path or an intrinsic function, found %s", jsontext.Quote(n.Key), n.Kind)
	case strings.HasPrefix(n.Str, "$"):
		if path := c.path(n); path != nil {
			n.Means = expression(&pathExpression{field: n.Key, path: path})
		}
	default:
		if call := c.intrinsic(n); call != nil {
			n.Means = call
		}
	}
}

// intrinsic reads the call of an intrinsic function.
func (c *checker) intrinsic(n *node) expression {
	p := &callParser{text: n.Str}
	call, err := p.whole()
	if err != nil {
		fix := ""
		if unknown, ok := errors.AsType[*unknownFunctionError](err); ok {
			fix = c.didYouMean(ruleTemplate, unknown.name, functionNames, func(name string) string { return "States." + name })
		}
		c.fixf(ruleTemplate, n, fix, "the value for the field %s must be a valid JSONPath or a valid intrinsic function call: %v", jsontext.Quote(n.Key), err)
		return nil
	}
	c.reads(n, p.paths...)
	return call
}

// payloadRule is a payload template: any value, of which what is marked is
// evaluated.
type payloadRule struct{}

func (payloadRule) check(c *checker, n *node) {
	if c.language == inJSONata {
		c.expressions(n)
	} else {
		c.template(n)
	}
}

// template reads a payload template of JSONPath. The nodes of its members whose
// names end in .$ mean an expression.
func (c *checker) template(n *node) {
	plain := make(map[string]bool, len(n.Members))
	for _, m := range n.Members {
		plain[m.Name] = true
	}
	for _, m := range n.Members {
		name, dynamic := strings.CutSuffix(m.Name, ".$")
		switch {
		case !dynamic:
			c.undollared(m)
			c.template(m.Value)
			continue
		case plain[name]:
			c.valuef(ruleTwice, m.Value, "%s and %s give the same field twice", jsontext.Quote(name), jsontext.Quote(m.Name))
		}
		c.dynamic(m.Value)
	}
	for _, item := range n.Items {
		c.template(item)
	}
}

// undollared warns of texts that look as if they were to be evaluated.
func (c *checker) undollared(m jsontext.Member) {
	if v := m.Value; v.Kind == jsontext.String && (looksDynamic(v.Str) || looksIntrinsic(v.Str)) {
		c.fixf(ruleNoDollar, v, "name it "+jsontext.Quote(m.Name+".$"),
			"the value for the field %s looks like a path but is taken as it stands", jsontext.Quote(m.Name))
	}
}

func looksDynamic(text string) bool {
	return strings.HasPrefix(text, "$.") || strings.HasPrefix(text, "$$.") || strings.HasPrefix(text, "$[")
}

func looksIntrinsic(text string) bool {
	name, ok := strings.CutPrefix(text, "States.")
	name, _, call := strings.Cut(name, "(")
	return ok && call && slices.Contains(functionNames, name) && strings.HasSuffix(text, ")")
}

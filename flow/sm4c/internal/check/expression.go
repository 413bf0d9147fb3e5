package check

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ebbflow/ebb/flow/sm4c/internal/syntax"
	"github.com/ebbflow/ebb/internal/jq"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// inside returns the program in an expression, and its offset in the text. ok is false if the text is not an
// expression.
func inside(text string) (program string, from int, ok bool) {
	trimmed := strings.TrimSpace(text)
	body, begins := strings.CutPrefix(trimmed, "${")
	body, ends := strings.CutSuffix(body, "}")
	if !begins || !ends || len(trimmed) < len("${}") {
		return "", 0, false
	}
	program = strings.TrimSpace(body)
	return program, strings.Index(text, "${") + 2 + strings.Index(body, program), true
}

// functionReference returns the name after fn:.
func functionReference(program string) (name string, ok bool) {
	name, ok = strings.CutPrefix(program, "fn:")
	return strings.TrimSpace(name), ok
}

// expressionRule is the rule for an expression that may use some variables.
type expressionRule struct{ variables []string }

func (s expressionRule) read(c *checker, n *node) *syntax.Expression {
	if !c.IsText(n) {
		return nil
	}
	program, from, ok := inside(n.Str)
	if !ok {
		c.Fixf(ruleExpression, n, "write it as "+quote("${ "+strings.TrimSpace(n.Str)+" }"), "%s must be an expression",
			nameOf(n))
		return nil
	}
	return c.expression(n, program, from, s.variables)
}

// expression compiles the program at an offset of a text; nil if it is not valid.
func (c *checker) expression(n *node, program string, from int, variables []string) *syntax.Expression {
	if name, refers := functionReference(program); refers {
		if formula := c.functionIn(n, name, from); formula != nil {
			return &syntax.Expression{Fn: formula, Where: nameOf(n)}
		}
		return nil
	}
	compiled, err := c.compile(program, variables)
	if broken, ok := errors.AsType[*jq.Error](err); ok {
		at := n.Within(c.Source.Text, from+broken.Offset)
		c.Add(ruleJQ, n, at, broken.Fix, fmt.Sprintf("%s: %s", nameOf(n), broken.Message))
		return nil
	}
	return &syntax.Expression{Program: compiled, Where: nameOf(n)}
}

// functionIn returns the expression function that ${ fn:name } refers to; nil if there is none.
func (c *checker) functionIn(n *node, name string, from int) *syntax.Expression {
	at := n.Within(c.Source.Text, from)
	defined := c.functions.find(name)
	switch {
	case defined == nil:
		c.Add(ruleReference, n, at, c.DidYouMean(ruleReference, name, c.functions.names, quote),
			fmt.Sprintf("%s: there is no function %s", nameOf(n), quote(name)))
	case defined.read.Formula == nil:
		c.Add(ruleReference, n, at, "call it by an action of type invokeFunction",
			fmt.Sprintf("%s: the function %s is no expression", nameOf(n), quote(name)))
	default:
		return defined.read.Formula
	}
	return nil
}

// compile compiles each program text once, because definitions repeat themselves.
func (c *checker) compile(program string, variables []string) (*jq.Program, error) {
	key := strings.Join(variables, ",") + ":" + program
	if known, ok := c.programs[key]; ok {
		return known, nil
	}
	compiled, err := jq.Compile(program, variables...)
	if err == nil {
		c.programs[key] = compiled
	}
	return compiled, err
}

// template compiles a value in which any text, at any depth, may be an expression.
func (c *checker) template(n *node, variables ...string) syntax.Template {
	t := c.evaluated(n, variables)
	orConstant(&t, n)
	return t
}

// evaluated is template. It returns the zero template for a value without expressions.
func (c *checker) evaluated(n *node, variables []string) (t syntax.Template) {
	found := false
	inner := func(n *node) syntax.Template {
		t := c.evaluated(n, variables)
		found = found || t.Evaluates()
		return t
	}
	switch n.Kind {
	case jsontext.String:
		if program, from, ok := inside(n.Str); ok {
			return syntax.Template{Expression: c.expression(n, program, from, variables)}
		} else if strings.Contains(n.Str, "${") {
			c.Valuef(ruleLiteral, n, "%s is taken as it stands: an expression is the whole of a text", quote(n.Str))
		}
	case jsontext.Number:
		if len(n.Str) > jq.MaxDigits {
			c.Valuef(ruleValue, n, "a number has %d digits; %d is the most", len(n.Str), jq.MaxDigits)
		}
	default:
		for _, item := range n.Items {
			t.List = append(t.List, inner(item))
		}
		for _, m := range n.Members {
			t.Members = append(t.Members, syntax.TemplateMember{Name: m.Name, Value: inner(m.Value)})
		}
	}
	if !found {
		return syntax.Template{}
	}
	for i, item := range n.Items {
		orConstant(&t.List[i], item)
	}
	for i, m := range n.Members {
		orConstant(&t.Members[i].Value, m.Value)
	}
	return t
}

// The names of the variables that expressions see.
const (
	valueVariable = "value" // in result handlers
	dataVariable  = "data"  // in conditions of error handlers and event groups
	argsVariable  = "args"  // in expression functions
)

var (
	plainExpression   = expressionRule{}
	handlerExpression = expressionRule{[]string{valueVariable}}
	aboutExpression   = expressionRule{[]string{dataVariable}}
)

// orConstant stores the value in the template, unless the template contains an expression.
func orConstant(t *syntax.Template, n *node) {
	if !t.Evaluates() {
		t.Constant = treeOf(n)
	}
}

// treeOf returns the value of a node.
func treeOf(n *node) any {
	switch n.Kind {
	case jsontext.Bool:
		return n.Str == "true"
	case jsontext.Number:
		return jq.Number(n.Str)
	case jsontext.String:
		return n.Str
	case jsontext.Array:
		list := make([]any, len(n.Items))
		for i, item := range n.Items {
			list[i] = treeOf(item)
		}
		return list
	case jsontext.Object:
		object := make(map[string]any, len(n.Members))
		for _, m := range n.Members {
			object[m.Name] = treeOf(m.Value)
		}
		return object
	default:
		return nil
	}
}

package sm4c

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/internal/jq"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// An expression is a program of jq, or a reference to an expression function.
type expression struct {
	program *jq.Program
	fn      *expression // what an expression function that it refers to is
	where   string      // for messages: which attribute it is
	args    bool        // it sees the arguments of the call: it is an expression function's
}

// inside returns the program that stands in an expression, and from which byte
// of the text on. A text that is no expression has none.
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

// functionReference returns the name behind fn:.
func functionReference(program string) (name string, ok bool) {
	name, ok = strings.CutPrefix(program, "fn:")
	return strings.TrimSpace(name), ok
}

// expressionRule is an expression that may use some variables. Its nodes mean an
// *expression.
type expressionRule struct{ variables []string }

func (s expressionRule) check(c *checker, n *node) {
	if !c.isText(n) {
		return
	}
	program, from, ok := inside(n.Str)
	if !ok {
		c.fixf(ruleExpression, n, "write it as "+quote("${ "+strings.TrimSpace(n.Str)+" }"), "%s must be an expression", nameOf(n))
		return
	}
	c.expression(n, program, from, s.variables)
}

// expression compiles a program that stands in a text from a byte on.
func (c *checker) expression(n *node, program string, from int, variables []string) {
	if name, refers := functionReference(program); refers {
		c.functionIn(n, name, from)
		return
	}
	compiled, err := c.compile(program, variables)
	if broken, ok := errors.AsType[*jq.Error](err); ok {
		at := n.Within(c.source.text, from+broken.Offset)
		c.add(ruleJQ, n, at, broken.Fix, fmt.Sprintf("%s: %s", nameOf(n), broken.Message))
		return
	}
	n.Means = &expression{program: compiled, where: nameOf(n)}
}

// functionIn resolves ${ fn:name }.
func (c *checker) functionIn(n *node, name string, from int) {
	at := n.Within(c.source.text, from)
	functions := c.defined[functionKind]
	defined := functions.find(name)
	switch {
	case defined == nil:
		c.add(ruleReference, n, at, didYouMean(name, functions.names), fmt.Sprintf("%s: there is no function %s", nameOf(n), quote(name)))
	case defined.formula == nil:
		c.add(ruleReference, n, at, "call it by an action of type invokeFunction", fmt.Sprintf("%s: the function %s is no expression", nameOf(n), quote(name)))
	default:
		n.Means = &expression{fn: defined.formula, where: nameOf(n)}
	}
}

// compile compiles a program, once for each text: definitions repeat themselves.
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

// template checks a value in which each text, at any depth, may be an expression.
// Their nodes mean an *expression.
func (c *checker) template(n *node, variables ...string) {
	switch n.Kind {
	case jsontext.String:
		if program, from, ok := inside(n.Str); ok {
			c.expression(n, program, from, variables)
		} else if strings.Contains(n.Str, "${") {
			c.valuef(ruleLiteral, n, "%s is taken as it stands: an expression is the whole of a text", quote(n.Str))
		}
	case jsontext.Number:
		if len(n.Str) > jq.MaxDigits {
			c.valuef(ruleValue, n, "a number has %d digits; %d is the most", len(n.Str), jq.MaxDigits)
		}
	case jsontext.Array:
		for _, item := range n.Items {
			c.template(item, variables...)
		}
	case jsontext.Object:
		for _, m := range n.Members {
			c.template(m.Value, variables...)
		}
	default:
	}
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

// A template is a value in which texts may be expressions.
type template struct {
	constant   any // when there are none
	expression *expression
	list       []template
	members    []templateMember
	object     bool
}

type templateMember struct {
	name  string
	value template
}

// templateOf compiles a value that was checked.
func templateOf(n *node) template {
	if e := jsontext.Meaning[*expression](n); e != nil {
		return template{expression: e}
	}
	if !hasExpression(n) {
		return template{constant: treeOf(n)}
	}
	t := template{object: n.Kind == jsontext.Object}
	for _, item := range n.Items {
		t.list = append(t.list, templateOf(item))
	}
	for _, m := range n.Members {
		t.members = append(t.members, templateMember{m.Name, templateOf(m.Value)})
	}
	return t
}

// treeOf returns the value that a node is.
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

func hasExpression(n *node) bool {
	return jsontext.Meaning[*expression](n) != nil || slices.ContainsFunc(n.Items, hasExpression) ||
		slices.ContainsFunc(n.Members, func(m jsontext.Member) bool { return hasExpression(m.Value) })
}

package sm4c

import (
	"errors"
	"fmt"
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

// expressionRule is an expression that may use some variables.
type expressionRule struct{ variables []string }

func (s expressionRule) read(c *checker, n *node) *expression {
	if !c.IsText(n) {
		return nil
	}
	program, from, ok := inside(n.Str)
	if !ok {
		c.Fixf(ruleExpression, n, "write it as "+quote("${ "+strings.TrimSpace(n.Str)+" }"), "%s must be an expression", nameOf(n))
		return nil
	}
	return c.expression(n, program, from, s.variables)
}

// expression compiles a program that stands in a text from a byte on; nil if it cannot.
func (c *checker) expression(n *node, program string, from int, variables []string) *expression {
	if name, refers := functionReference(program); refers {
		if formula := c.functionIn(n, name, from); formula != nil {
			return &expression{fn: formula, where: nameOf(n)}
		}
		return nil
	}
	compiled, err := c.compile(program, variables)
	if broken, ok := errors.AsType[*jq.Error](err); ok {
		at := n.Within(c.Source.Text, from+broken.Offset)
		c.Add(ruleJQ, n, at, broken.Fix, fmt.Sprintf("%s: %s", nameOf(n), broken.Message))
		return nil
	}
	return &expression{program: compiled, where: nameOf(n)}
}

// functionIn returns the expression function that ${ fn:name } refers to, nil if it
// refers to none.
func (c *checker) functionIn(n *node, name string, from int) *expression {
	at := n.Within(c.Source.Text, from)
	defined := c.functions.find(name)
	switch {
	case defined == nil:
		c.Add(ruleReference, n, at, c.DidYouMean(ruleReference, name, c.functions.names, quote), fmt.Sprintf("%s: there is no function %s", nameOf(n), quote(name)))
	case defined.read.formula == nil:
		c.Add(ruleReference, n, at, "call it by an action of type invokeFunction", fmt.Sprintf("%s: the function %s is no expression", nameOf(n), quote(name)))
	default:
		return defined.read.formula
	}
	return nil
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

// template reads a value in which each text, at any depth, may be an expression.
func (c *checker) template(n *node, variables ...string) template {
	t := c.evaluated(n, variables)
	t.orConstant(n)
	return t
}

// evaluated is template; it returns none for a value in which nothing is evaluated.
func (c *checker) evaluated(n *node, variables []string) (t template) {
	found := false
	inner := func(n *node) template {
		t := c.evaluated(n, variables)
		found = found || t.evaluates()
		return t
	}
	switch n.Kind {
	case jsontext.String:
		if program, from, ok := inside(n.Str); ok {
			return template{expression: c.expression(n, program, from, variables)}
		} else if strings.Contains(n.Str, "${") {
			c.Valuef(ruleLiteral, n, "%s is taken as it stands: an expression is the whole of a text", quote(n.Str))
		}
	case jsontext.Number:
		if len(n.Str) > jq.MaxDigits {
			c.Valuef(ruleValue, n, "a number has %d digits; %d is the most", len(n.Str), jq.MaxDigits)
		}
	default:
		for _, item := range n.Items {
			t.list = append(t.list, inner(item))
		}
		for _, m := range n.Members {
			t.members = append(t.members, templateMember{m.Name, inner(m.Value)})
		}
	}
	if !found {
		return template{}
	}
	for i, item := range n.Items {
		t.list[i].orConstant(item)
	}
	for i, m := range n.Members {
		t.members[i].value.orConstant(m.Value)
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

// A template is a value in which texts may be expressions.
type template struct {
	constant   any // when there are none
	expression *expression
	list       []template
	members    []templateMember
}

// evaluates reports whether something in the template is evaluated.
func (t *template) evaluates() bool { return t.expression != nil || t.list != nil || t.members != nil }

// orConstant makes the template what a value is, unless something in it is evaluated.
func (t *template) orConstant(n *node) {
	if !t.evaluates() {
		t.constant = treeOf(n)
	}
}

type templateMember struct {
	name  string
	value template
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

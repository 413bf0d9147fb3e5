package asl

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/internal/jsonata"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// In JSONata, texts between {% and %} are expressions.

const expressionStart, expressionEnd = "{%", "%}"

// isExpression reports whether a value is an expression, or was meant to be one,
// which is reported. Its node means a *jsonata.Expression.
func (c *checker) isExpression(n *node) bool {
	if n.Kind != jsontext.String {
		return false
	}
	opens, closes := strings.HasPrefix(n.Str, expressionStart), strings.HasSuffix(n.Str, expressionEnd)
	trimmed := strings.TrimSpace(n.Str)
	switch {
	case opens && closes && len(n.Str) >= len(expressionStart+expressionEnd):
		c.expression(n)
		return true
	case strings.HasPrefix(trimmed, expressionStart) && strings.HasSuffix(trimmed, expressionEnd) && trimmed != n.Str:
		c.fixf(ruleNotEvaluated, n, "remove the blanks around it", "%s looks like an expression but is taken as it stands", nameOf(n))
	case opens:
		c.fixf(ruleDelimiters, n, "end it with %}", "%s begins like an expression but does not end with %%}", nameOf(n))
		return true
	case closes:
		c.fixf(ruleDelimiters, n, "begin it with {%", "%s ends like an expression but does not begin with {%%", nameOf(n))
		return true
	}
	return false
}

// expression reads an expression.
func (c *checker) expression(n *node) {
	if c.patterns > jsonata.MaxPatterns {
		return // there is an error already
	}
	text := strings.TrimSuffix(strings.TrimPrefix(n.Str, expressionStart), expressionEnd)
	e, err := jsonata.Parse(text)
	if broken, ok := errors.AsType[*jsonata.ParseError](err); ok {
		c.add(ruleJSONata, n, c.within(n, broken.Offset), "", nameOf(n)+": "+broken.Message)
		return
	}
	if c.patterns += e.Patterns(); c.patterns > jsonata.MaxPatterns {
		c.add(ruleJSONata, n, n.At, "lower their repetitions",
			fmt.Sprintf("the regular expressions of the definition compile to more than %d instructions", jsonata.MaxPatterns))
		return
	}
	n.Means = e
	for _, use := range e.Inputs() {
		name := jsontext.Cut(use.Name)
		fix, message := "such as $states.input."+name, fmt.Sprintf("%s: Reference to '%s' at the top level is not supported", nameOf(n), name)
		switch {
		case use.Name == "$$":
			fix, message = "", nameOf(n)+": Reference to '$$' is not supported"
		case strings.ContainsAny(use.Name, "$*"):
			fix = "such as $states.input"
		}
		c.add(ruleTopLevel, n, c.within(n, use.Offset), fix, message)
	}
	for _, use := range e.Variables() {
		c.use(n, use)
	}
}

// use checks a variable of an expression.
func (c *checker) use(n *node, use jsonata.Use) {
	switch {
	case use.Name == "states":
		if len(use.Members) > 0 {
			c.useStates(n, use)
		}
	case use.Name == "eval":
		c.add(ruleTopLevel, n, c.within(n, use.Offset), "", nameOf(n)+": the function $eval is not supported")
	case !jsonata.HasFunction(use.Name):
		c.read(n, use.Name)
	}
}

// within returns where in the definition's text a byte of an expression stands.
func (c *checker) within(n *node, offset int) int {
	if c.source[n.At] != '"' {
		return n.At // it was put in the place of an object
	}
	return n.Within(c.source, offset+len(expressionStart))
}

// useStates checks a member of $states.
func (c *checker) useStates(n *node, use jsonata.Use) {
	name, there := use.Members[0], statesMembers(n)
	if slices.Contains(there, name) {
		return
	}
	fix := c.didYouMean(ruleStates, name, there, func(name string) string { return "$states." + name })
	switch name {
	case "result":
		fix = "it is there in Output and Assign of a Task, Parallel or Map state"
	case "errorOutput":
		fix = "it is there in Output and Assign of a catcher"
	}
	c.add(ruleStates, n, c.within(n, use.Offset), fix, fmt.Sprintf("%s: Field '$states.%s' does not exist here", nameOf(n), jsontext.Cut(name)))
}

// statesMembers returns what $states has where a value stands.
func statesMembers(n *node) []string {
	there := []string{"context", "input"}
	var field, inner string // of the state, and of an entry of a list in it
	for ; n.Parent != nil; n = n.Parent {
		if is, ok := n.Means.(stateMeaning); ok {
			output := field == "Output" || field == "Assign"
			switch {
			case output && (is.kind == taskState || is.kind == parallelState || is.kind == mapState):
				there = append(there, "result")
			case field == "Catch" && (inner == "Output" || inner == "Assign"):
				there = append(there, "errorOutput")
			}
			break
		}
		if n.Key != "" {
			field, inner = n.Key, field
		}
	}
	return there
}

// expressions reads a value in which every text may be an expression.
func (c *checker) expressions(n *node) {
	c.isExpression(n)
	for _, m := range n.Members {
		if strings.HasSuffix(m.Name, ".$") {
			c.namef(ruleNotEvaluated, m, "write {% … %} as the value", "%s is a field of JSONPath; in JSONata its value is taken as it stands", jsontext.Cut(m.Name))
		}
		c.expressions(m.Value)
	}
	for _, item := range n.Items {
		c.expressions(item)
	}
}

// expressionOr is a valueRule, or in JSONata an expression instead.
type expressionOr struct{ valueRule }

func (s expressionOr) check(c *checker, n *node) {
	if c.language != inJSONata || !c.isExpression(n) {
		s.valueRule.check(c, n)
	}
}

// conditionRule is the condition of a rule in JSONata.
type conditionRule struct{}

func (conditionRule) check(c *checker, n *node) {
	if n.Kind != jsontext.Bool && !c.isExpression(n) {
		c.valuef(ruleType, n, "%s must be an expression between {%% and %%}, true or false", nameOf(n))
	}
}

// itemsRule is what a Map state in JSONata goes over.
type itemsRule struct{}

func (itemsRule) check(c *checker, n *node) {
	switch {
	case n.Kind == jsontext.Array, n.Kind == jsontext.Object:
		c.expressions(n)
	case !c.isExpression(n):
		c.valuef(ruleType, n, "%s must be an array, an object, or an expression between {%% and %%}", nameOf(n))
	}
}

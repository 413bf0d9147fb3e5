package asl

import (
	"strings"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// choiceRule is a rule of Choices.
type choiceRule struct{}

func (choiceRule) check(c *checker, n *node) {
	switch {
	case n.Kind != jsontext.Object:
		c.valuef(ruleType, n, "a rule must be an object, found %s", n.Kind)
	case c.language == inJSONata:
		choiceRuleObject.check(c, n)
	default:
		c.condition(n, true)
		if n.Get("Next") == nil {
			c.valuef(ruleRequired, n, "a rule of Choices needs Next")
		}
	}
}

// condition checks a rule in JSONPath: one of And, Or, Not or a comparison. Only
// an outer one says what is next.
func (c *checker) condition(n *node, outer bool) {
	if n.Kind != jsontext.Object {
		c.valuef(ruleType, n, "a rule must be an object, found %s", n.Kind)
		return
	}
	found := 0
	for _, m := range n.Members {
		operator, isOperator := operators[m.Name]
		switch legal := choiceRuleObject.fields[m.Name]; {
		case m.Name == "And" || m.Name == "Or":
			found++
			c.conditions(m.Value)
		case m.Name == "Not":
			found++
			c.condition(m.Value, false)
		case isOperator:
			found++
			c.comparison(n, m, operator)
		case m.Name == "Variable":
			c.path(m.Value)
		case legal.is == nil:
			c.notOperator(m)
		case legal.in&inJSONPath == 0:
			c.namef(ruleLanguageField, m, "", "%s is for QueryLanguage %s", m.Name, legal.in)
		case !outer && m.Name != "Comment":
			c.namef(ruleInner, m, "", "%s is for rules of Choices, not for the rules inside them", m.Name)
		default:
			legal.is.check(c, m.Value)
		}
	}
	if found != 1 {
		c.valuef(ruleOperator, n, "a rule needs exactly one of And, Or, Not or a comparison such as StringEquals, found %d", found)
	}
}

// conditions checks what And or Or combines.
func (c *checker) conditions(n *node) {
	if n.Kind != jsontext.Array || len(n.Items) == 0 {
		c.valuef(ruleEmpty, n, "%s must be an array of at least one rule", nameOf(n))
		return
	}
	for _, item := range n.Items {
		c.condition(item, false)
	}
}

// comparison checks the operator of a rule and what it compares with.
func (c *checker) comparison(n *node, m jsontext.Member, o operator) {
	if n.Get("Variable") == nil {
		c.valuef(ruleRequired, n, "a rule with %s needs Variable", m.Name)
	}
	switch v := m.Value; {
	case isPathOperator(m.Name):
		c.path(v)
	case !o.operand.accepts(treeOf(v)) && !c.hasPlaceholder(v):
		fix := ""
		if _, paths := operators[m.Name+"Path"]; paths {
			fix = c.pathFix(v)
		}
		rule := ruleType
		if o.operand == timeOperand && v.Kind == jsontext.String {
			rule = ruleTimestamp
		}
		c.fixf(rule, v, fix, "%s must be %s, found %s", m.Name, o.operand, v.Kind)
	}
}

// isPathOperator reports whether an operator compares with what a path names.
func isPathOperator(name string) bool { return strings.HasSuffix(name, "Path") }

func (c *checker) notOperator(m jsontext.Member) {
	c.namef(ruleOperator, m, c.didYouMean(ruleOperator, m.Name, operatorNames, plainly), "%s is no comparison", jsontext.Cut(m.Name))
}

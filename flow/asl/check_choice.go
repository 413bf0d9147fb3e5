package asl

import (
	"cmp"
	"strings"

	"github.com/ebbflow/ebb/internal/jsonpath"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// choiceRule is a rule of Choices.
type choiceRule struct{}

func (choiceRule) read(c *checker, n *node) *rule {
	r := &rule{}
	switch {
	case n.Kind != jsontext.Object:
		c.Valuef(ruleType, n, "a rule must be an object, found %s", n.Kind)
	case c.language == inJSONata:
		choiceRuleObject.fill(c, n, r)
	default:
		r.test = c.condition(n, r)
		if n.Get("Next") == nil {
			c.Valuef(ruleRequired, n, "a rule of Choices needs Next")
		}
	}
	return r
}

// condition reads a rule in JSONPath: one of And, Or, Not or a comparison. Only an
// outer one, of Choices, says what is next.
func (c *checker) condition(n *node, outer *rule) (read test) {
	if n.Kind != jsontext.Object {
		c.Valuef(ruleType, n, "a rule must be an object, found %s", n.Kind)
		return nil
	}
	found := 0
	compared, variable := &comparison{}, (*jsonpath.Path)(nil)
	for _, m := range n.Members {
		operator, isOperator := operators[m.Name]
		switch legal := choiceRuleObject.fields[m.Name]; {
		case m.Name == "And":
			found++
			read = allOf(c.conditions(m.Value))
		case m.Name == "Or":
			found++
			read = anyOf(c.conditions(m.Value))
		case m.Name == "Not":
			found++
			read = not{c.condition(m.Value, nil)}
		case isOperator:
			found++
			compared = c.comparison(n, m, operator)
			read = compared
		case m.Name == "Variable":
			variable = c.path(m.Value)
		case legal.is == nil:
			c.notOperator(m)
		case legal.in&inJSONPath == 0:
			c.Namef(ruleLanguageField, m, "", "%s is for QueryLanguage %s", m.Name, legal.in)
		case outer == nil && m.Name != "Comment":
			c.Namef(ruleInner, m, "", "%s is for rules of Choices, not for the rules inside them", m.Name)
		default:
			legal.read(c, m.Value, cmp.Or(outer, &rule{}))
		}
	}
	if found != 1 {
		c.Valuef(ruleOperator, n, "a rule needs exactly one of And, Or, Not or a comparison such as StringEquals, found %d", found)
	}
	compared.variable = variable
	return read
}

// conditions reads what And or Or combines.
func (c *checker) conditions(n *node) []test {
	if n.Kind != jsontext.Array || len(n.Items) == 0 {
		c.Valuef(ruleEmpty, n, "%s must be an array of at least one rule", nameOf(n))
		return nil
	}
	parts := make([]test, len(n.Items))
	for i, item := range n.Items {
		parts[i] = c.condition(item, nil)
	}
	return parts
}

// isPathOperator reports whether an operator compares with what a path names.
func isPathOperator(name string) bool { return strings.HasSuffix(name, "Path") }

// comparison reads the operator of a rule and what it compares with.
func (c *checker) comparison(n *node, m jsontext.Member, o operator) *comparison {
	if n.Get("Variable") == nil {
		c.Valuef(ruleRequired, n, "a rule with %s needs Variable", m.Name)
	}
	v := m.Value
	if isPathOperator(m.Name) {
		return &comparison{operator: o, path: c.path(v)}
	}
	literal := treeOf(v)
	if !o.operand.accepts(literal) && !c.hasPlaceholder(v) {
		fix := ""
		if _, paths := operators[m.Name+"Path"]; paths {
			fix = c.pathFix(v)
		}
		rule := ruleType
		if o.operand == timeOperand && v.Kind == jsontext.String {
			rule = ruleTimestamp
		}
		c.Fixf(rule, v, fix, "%s must be %s, found %s", m.Name, o.operand, v.Kind)
	}
	return &comparison{operator: o, literal: literal}
}

func (c *checker) notOperator(m jsontext.Member) {
	c.Namef(ruleOperator, m, c.DidYouMean(ruleOperator, m.Name, operatorNames, plainly), "%s is no comparison", jsontext.Cut(m.Name))
}

// outputPathOfRules hands the OutputPath of a Choice state to its rules.
func outputPathOfRules(_ *checker, _ *node, s *state) {
	for _, r := range s.choices {
		r.out.outputPath = s.out.outputPath
	}
}

package check

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/flow/asl/internal/expression"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/internal/jsonpath"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// choiceRule accepts a rule of Choices.
type choiceRule struct{}

func (choiceRule) read(c *checker, n *node) *syntax.Rule {
	r := &syntax.Rule{At: n.At, Text: conditionText(n)}
	switch {
	case n.Kind != jsontext.Object:
		c.Valuef(ruleType, n, "a rule must be an object, found %s", n.Kind)
	case c.language == syntax.JSONata && pathMember(n) != nil:
		m := pathMember(n)
		fix := `write "Condition": "{% $states.input.x > 1 %}"`
		if n.Get("Condition") != nil {
			fix = "leave it out: Condition decides"
		}
		if c.machineLanguage != syntax.JSONata {
			fix += `, or set "QueryLanguage": "JSONPath"`
		}
		c.Namef(ruleLanguageField, *m, fix, "%s is for QueryLanguage JSONPath", m.Name)
		for _, m := range n.Members {
			if field := choiceRuleObject.fields[m.Name]; field.is != nil && field.in&syntax.JSONata != 0 {
				field.read(c, m.Value, r)
			}
		}
	case c.language == syntax.JSONata:
		choiceRuleObject.fill(c, n, r)
	case n.Get("Condition") != nil && pathMember(n) == nil:
		c.Fixf(ruleLanguageField, n.Get("Condition"), `set "QueryLanguage": "JSONata"`,
			"Condition is for QueryLanguage JSONata")
		if next := choiceRuleObject.fields["Next"]; n.Get("Next") != nil {
			next.read(c, n.Get("Next"), r)
		}
	default:
		r.Test = c.condition(n, r)
		if n.Get("Next") == nil {
			c.Valuef(ruleRequired, n, "a rule of Choices needs Next")
		}
	}
	return r
}

// pathMember returns the first member of a rule that only rules in JSONPath have; nil if there is none.
func pathMember(n *node) *jsontext.Member {
	for i, m := range n.Members {
		if _, is := expression.Operators[m.Name]; is || slices.Contains([]string{"Variable", "And", "Or", "Not"}, m.Name) {
			return &n.Members[i]
		}
	}
	return nil
}

// condition reads a rule in JSONPath: one of And, Or, Not or a comparison. Only an outer rule, of Choices, has a
// Next.
func (c *checker) condition(n *node, outer *syntax.Rule) (read expression.Test) {
	if n.Kind != jsontext.Object {
		c.Valuef(ruleType, n, "a rule must be an object, found %s", n.Kind)
		return nil
	}
	found := 0
	compared, variable := &expression.Comparison{}, (*jsonpath.Path)(nil)
	for _, m := range n.Members {
		operator, isOperator := expression.Operators[m.Name]
		switch legal := choiceRuleObject.fields[m.Name]; {
		case m.Name == "And":
			found++
			read = expression.AllOf(c.conditions(m.Value))
		case m.Name == "Or":
			found++
			read = expression.AnyOf(c.conditions(m.Value))
		case m.Name == "Not":
			found++
			read = expression.Not(c.condition(m.Value, nil))
		case isOperator:
			found++
			compared = c.comparison(n, m, operator)
			read = compared.Holds
		case m.Name == "Variable":
			variable = c.path(m.Value)
		case legal.is == nil:
			found++ // one mistake is reported once
			c.notOperator(m)
		case legal.in&syntax.JSONPath == 0:
			c.Namef(ruleLanguageField, m, c.counterpart(&m, nil), "%s is for QueryLanguage %s", m.Name, legal.in)
		case outer == nil && m.Name != "Comment":
			c.Namef(ruleInner, m, "", "%s is for rules of Choices, not for the rules inside them", m.Name)
		default:
			legal.read(c, m.Value, cmp.Or(outer, &syntax.Rule{}))
		}
	}
	if found != 1 {
		c.Valuef(ruleOperator, n, "a rule needs exactly one of And, Or, Not or a comparison such as StringEquals, found %d",
			found)
	}
	compared.Variable = variable
	return read
}

// conditions reads the operands of And or Or.
func (c *checker) conditions(n *node) []expression.Test {
	if n.Kind != jsontext.Array || len(n.Items) == 0 {
		c.Valuef(ruleEmpty, n, "%s must be an array of at least one rule", nameOf(n))
		return nil
	}
	parts := make([]expression.Test, len(n.Items))
	for i, item := range n.Items {
		parts[i] = c.condition(item, nil)
	}
	return parts
}

// isPathOperator reports whether an operator compares with the value that a path names.
func isPathOperator(name string) bool { return strings.HasSuffix(name, "Path") }

// comparison reads the operator of a rule and its operand.
func (c *checker) comparison(n *node, m jsontext.Member, o expression.Operator) *expression.Comparison {
	if n.Get("Variable") == nil {
		c.Valuef(ruleRequired, n, "a rule with %s needs Variable", m.Name)
	}
	v := m.Value
	if isPathOperator(m.Name) {
		return &expression.Comparison{Operator: o, Path: c.path(v)}
	}
	literal := v.Tree()
	if !o.Operand.Accepts(literal) && !hasPlaceholder(c, v) {
		fix := ""
		if _, paths := expression.Operators[m.Name+"Path"]; paths {
			fix = c.pathFix(v)
		}
		rule := ruleType
		if o.Operand == expression.TimeOperand && v.Kind == jsontext.String {
			rule = ruleTimestamp
		}
		c.Fixf(rule, v, fix, "%s must be %s, found %s", m.Name, o.Operand, v.Kind)
	}
	return &expression.Comparison{Operator: o, Literal: literal}
}

func (c *checker) notOperator(m jsontext.Member) {
	c.Namef(ruleOperator, m, c.DidYouMean(ruleOperator, m.Name, expression.OperatorNames, plainly), "%s is no comparison",
		jsontext.Cut(m.Name))
}

// outputPathOfRules copies the OutputPath of a Choice state to its rules.
func outputPathOfRules(_ *checker, _ *node, s *syntax.State) {
	for _, r := range s.Choices {
		r.Out.OutputPath = s.Out.OutputPath
	}
}

package check

import (
	"strings"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// longestCondition is how many characters of a condition a picture shows.
const longestCondition = 60

// conditionText returns the condition of a rule as a picture shows it: $.total > 100.
func conditionText(n *node) string {
	text := strings.Join(strings.Fields(conditionOf(n)), " ")
	if runes := []rune(text); len(runes) > longestCondition {
		text = string(runes[:longestCondition-1]) + "…"
	}
	return text
}

func conditionOf(n *node) string {
	if n.Kind != jsontext.Object {
		return ""
	}
	variable := ""
	if v := n.Get("Variable"); v != nil {
		variable = v.Str
	}
	for _, m := range n.Members {
		switch m.Name {
		case "Condition":
			if m.Value.Kind == jsontext.String {
				return strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(m.Value.Str, expressionStart), expressionEnd))
			}
			return m.Value.Str
		case "And", "Or":
			return combined(m.Value, " "+strings.ToLower(m.Name)+" ")
		case "Not":
			return "not (" + conditionOf(m.Value) + ")"
		case "Variable", "Next", "Comment", "Assign", "Output":
		default:
			return comparisonText(variable, m.Name, m.Value)
		}
	}
	return ""
}

// combined returns the rules that And or Or combines. It stops where no picture shows more.
func combined(n *node, with string) string {
	var text strings.Builder
	for i, item := range n.Items {
		if text.Len() > 4*longestCondition {
			break
		}
		if i > 0 {
			text.WriteString(with)
		}
		part := conditionOf(item)
		if item.Kind == jsontext.Object && (item.Get("And") != nil || item.Get("Or") != nil) {
			part = "(" + part + ")"
		}
		text.WriteString(part)
	}
	return text.String()
}

// relations are the signs of comparisons, by the end of the comparison's name. A longer name precedes the names with
// which it ends.
var relations = []struct{ name, sign string }{
	{"LessThanEquals", "≤"},
	{"GreaterThanEquals", "≥"},
	{"LessThan", "<"},
	{"GreaterThan", ">"},
	{"Equals", "="},
	{"Matches", "matches"},
}

// comparisonText returns a comparison: $.total > 100, $.vip is present.
func comparisonText(variable, operator string, with *node) string {
	if what, is := strings.CutPrefix(operator, "Is"); is {
		not := ""
		if with.Str == "false" {
			not = "not "
		}
		return variable + " is " + not + strings.ToLower(what)
	}
	value := with.Str
	if isPathOperator(operator) {
		operator = strings.TrimSuffix(operator, "Path")
	} else if with.Kind == jsontext.String {
		value = `"` + value + `"`
	}
	return variable + " " + sign(operator) + " " + value
}

// sign returns the sign of a comparison.
func sign(operator string) string {
	for _, r := range relations {
		if strings.HasSuffix(operator, r.name) {
			return r.sign
		}
	}
	return operator
}

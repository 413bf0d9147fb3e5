package asl

import (
	"math"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/flow"
)

// arranged returns problems in AWS's order: that a level has no end follows the others, and stands for all states that
// cannot be reached there.
func arranged(problems flow.Diagnostics) []*flow.Diagnostic {
	endless := map[string]bool{}
	for i := range problems {
		if problems[i].Rule == "end" {
			endless[problems[i].Pointer] = true
		}
	}
	var all, ends []*flow.Diagnostic
	for i := range problems {
		switch p := &problems[i]; {
		case p.Rule == "end":
			ends = append(ends, p)
		case p.Rule != "unreachable" || !endless[path.Dir(p.Pointer)]:
			all = append(all, p)
		}
	}
	return append(all, ends...)
}

// unnamed returns a message about an expression without the name of its field, which the location has.
func unnamed(message string) string {
	if _, rest, ok := strings.Cut(message, ": "); ok {
		return rest
	}
	return message
}

// awsWords are AWS's words for the problems of rules, by Ebb's messages. Those without a message have the words of all
// problems of the rule. At the parent, AWS locates what it says about a field.
var awsWords = []struct {
	rule, message, words string
	parent               bool
}{
	{"required", `^these fields are required: (.*)$`, "These fields are required: [$1]", false},
	{"required", `^a rule of Choices needs (\w+)$`, "These fields are required: [$1]", false},
	{"required", `^a rule with \w+ needs Variable$`, choiceSelectors, false},
	{"required", `^one of (.*) must be there$`, "This object should have only one of the following fields: [$1]", false},
	{"next-or-end", `^one of`, "This object should have only one of the following fields: [Next, End]", false},
	{"next-or-end", `has no Next$`, "There should only be one of the following fields: [Next, End]", true},
	{"exclusive", `^only one of (.*) may be there$`, "There should only be one of the following fields: [$1]", true},
	{"field", `^(.*) is not supported in`, "Field '$1' is not supported", true},
	{"unknown-field", `^(.*) is no field of`, "Field '$1' is not supported", true},
	{"inner-rule", `^(\w+) is for`, "Field '$1' is not supported", true},
	{"distributed", `^(\w+) is for`, "Field '$1' is not supported", true},
	{"distributed", `needs (\w+)$`, "These fields are required: [$1]", false},
	{"csv-headers", `^(\w+) is for`, "Field '$1' is not supported", true},
	{"csv-headers", `^(CSVHeaders) must`, "These fields are required: [$1]", false},
	{"csv-headers", `^(\w+) must`, "The field '$1' is required", false},
	{"type", `must be a whole number`, "Expected value of type Integer", false},
	{"value", `must be a whole number`, "Expected value of type Integer", false},
	{"reader", ``, "The field 'Resource' does not match any of the allowed values", false},
	{"credentials", `not for activities$`, "The field 'Credentials' is not supported for activities", true},
	{"states-all", ``, "States.ALL must appear alone and at end of list", false},
	{"delimiters", ``, "JSONata string must start with {% and end with %}", false},
	{"reference-path", ``, "Value is not a Reference Path", false},
	{"timestamp", ``, "String does not match RFC3339 timestamp", false},
	{"empty", ``, "Value cannot be empty", false},
}

// choiceSelectors is what AWS says of a rule of Choices that has none of these fields, or several.
const choiceSelectors = "The object must have only one of the following fields, [And, Or, Not, Variable, Condition]"

// inAWSWords returns the finding in the words that AWS has for a problem of a rule.
func inAWSWords(one Finding, rule string, at steps) Finding {
	if _, list, ok := strings.Cut(one.Message, ` must be "`); ok && rule == "value" {
		list = strings.NewReplacer(`"`, "", " or ", ", ").Replace(list)
		one.Message = "Value should be one of the following: [" + list + "]"
		return one
	}
	for _, w := range awsWords {
		if w.rule != rule {
			continue
		}
		pattern := regexp.MustCompile(w.message)
		if m := pattern.FindStringSubmatchIndex(one.Message); m != nil {
			one.Message = string(pattern.ExpandString(nil, w.words, one.Message, m))
			if w.parent {
				one.Location = at.parent().String()
			}
			break
		}
	}
	return one
}

// invalidCall is what AWS says about a value in a payload template that it cannot read.
const invalidCall = "must be a valid JSONPath or a valid intrinsic function call"

// wrongPath returns the finding for what is no path, or no call of an intrinsic function. AWS does not name the fault.
func wrongPath(one Finding, at steps, said string, isPath bool) Finding {
	switch {
	case strings.HasSuffix(at.last(), ".$") && (isPath || strings.Contains(one.Message, invalidCall)):
		one.Message = "The value for the field '" + at.last() + "' " + invalidCall
		one.Location = at.parent().String()
	case !isPath:
	case !strings.Contains(one.Location, "/Choices["):
		one.Message = "Value must be a valid JSONPath."
	case strings.HasPrefix(said, "$"):
		one.Message = "Value is not a Reference Path"
	default:
		one.Message = "Value is not a Reference Path: Reference path didn't start with '$'"
	}
	return one
}

// selectors counts the fields of a rule of Choices of which there is one.
func selectors(rule map[string]any) (n int) {
	for _, name := range []string{"And", "Or", "Not", "Variable", "Condition"} {
		if _, ok := rule[name]; ok {
			n++
		}
	}
	return n
}

var limited = regexp.MustCompile(` has \d+ characters; (\d+) is the most$`)

// tooLong returns AWS's words for a name that is too long; the message for other problems.
func tooLong(what, name, message string) string {
	m := limited.FindStringSubmatch(message)
	if m == nil {
		return message
	}
	return "Invalid " + what + " name: " + what + " '" + name + "' exceeds the " + m[1] +
		"-character limit allowed by the service"
}

// fullName returns the name of a member that a pointer has cut.
func fullName(object map[string]any, name string) string {
	start, cut := strings.CutSuffix(name, "…")
	if _, ok := object[name]; ok || !cut {
		return name
	}
	for full := range object {
		if strings.HasPrefix(full, start) {
			return full
		}
	}
	return name
}

var bounds = regexp.MustCompile(`must be a (whole )?number (?:from (\d+) to (\d+)|of at least (\d+))$`)

// outOfBounds returns AWS's words for a number that is too small or too large; "" for other problems.
func outOfBounds(value any, message string) string {
	n, ok := value.(float64)
	m := bounds.FindStringSubmatch(message)
	if !ok || m == nil || m[1] != "" && n != math.Trunc(n) {
		return ""
	}
	bound, most := m[2]+m[4], false
	if least, err := strconv.ParseFloat(bound, 64); err != nil || n >= least {
		bound, most = m[3], true
	}
	switch {
	case bound == "":
		return ""
	case m[1] == "":
		bound += ".0" // a fraction is allowed
	}
	if most {
		return "Maximum value is " + bound
	}
	return "Minimum value is " + bound
}

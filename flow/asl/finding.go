package asl

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/flow"
)

// A Finding is a problem of a definition as AWS's ValidateStateMachineDefinition reports it. The JSON has AWS's names.
type Finding struct {
	Severity string `json:"severity"`           // ERROR or WARNING
	Code     string `json:"code"`               // such as SCHEMA_VALIDATION_FAILED
	Message  string `json:"message"`            // AWS's words, as far as they are known
	Location string `json:"location,omitempty"` // such as /States/Pay/Catch[0]/Next; "" if AWS gives none
}

// Findings returns problems of a definition in AWS's form, in their order. It leaves out warnings that AWS does not
// have. A problem of [flow.SeverityUnsupported] is an ERROR with the code [NotSupported].
func Findings(text []byte, problems flow.Diagnostics) []Finding {
	var document any
	if len(problems) > 0 {
		_ = json.Unmarshal(text, &document) // of a text that is not JSON, no place is known
	}
	findings := []Finding{}
	for _, p := range arranged(problems) {
		findings = append(findings, found(text, document, p)...)
	}
	return slices.Compact(findings) // of three fields that exclude each other, two are reported
}

// Refusal returns the message with which AWS's CreateStateMachine refuses a definition:
//
//	Invalid State Machine Definition: 'MISSING_TRANSITION_TARGET: Missing 'Next' target: Shipp at /States/Pay/Next'
func Refusal(findings []Finding) string {
	var all []string
	for _, f := range findings {
		if f.Severity == string(flow.SeverityError) {
			all = append(all, fmt.Sprintf("%s: %s at %s", f.Code, f.Message, cmp.Or(f.Location, "null")))
		}
	}
	return "Invalid State Machine Definition: '" + strings.Join(all, ", ") + "'"
}

// Unrecognized returns the Finding for a resource that AWS does not have.
func Unrecognized(resource, location string) Finding {
	return Finding{
		Severity: string(flow.SeverityError), Code: "INVALID_RESOURCE",
		Message: fmt.Sprintf("The resource provided %s is not recognized. The value is not a valid resource ARN, or the "+
			"resource is not available in this region.", resource),
		Location: location,
	}
}

// awsWarnings are the codes of the warnings that AWS has.
var awsWarnings = []flow.DiagnosticCode{"NO_DOLLAR", "NO_PATH", "PASS_RESULT_IS_STATIC"}

// found returns what AWS reports for a problem.
func found(text []byte, document any, p *flow.Diagnostic) []Finding {
	value, path := follow(document, p.Pointer)
	one := Finding{
		Severity: string(flow.SeverityError), Code: string(p.Code), Message: plain(p.Message), Location: path.String(),
	}
	if p.Severity == flow.SeverityWarning {
		if !slices.Contains(awsWarnings, p.Code) && p.Rule != "extension" {
			return nil
		}
		one.Severity = string(flow.SeverityWarning)
		return []Finding{one}
	}
	said, _ := value.(string)
	switch p.Rule {
	case "json":
		return []Finding{notJSON(text, p)}
	case "object":
		if p.Pointer == "" {
			one.Message, one.Location = "Definition must be a valid JSON object", ""
		}
	case "language-field":
		return []Finding{otherLanguage(one, path, p)}
	case "target":
		one.Message = "Missing 'Next' target: " + said
	case "unreachable":
		one.Message = fmt.Sprintf("State %q is not reachable.", path.last())
	case "state-once":
		one.Message = "Duplicate State name: " + path.last()
	case "label-once":
		one.Message = "Duplicate Label name: " + said
	case "state-name":
		one.Message = tooLong("State", path.last(), one.Message)
	case "label":
		one.Message = tooLong("Label", said, one.Message)
	case "end":
		one.Message = "Workflow has no terminal state"
		if one.Location = path.parent().String(); one.Location == "/" {
			one.Location = ""
		}
	case "value":
		if bound := outOfBounds(value, one.Message); bound != "" {
			one.Message = bound
		} else {
			one = inAWSWords(one, p.Rule, path)
		}
	case "operator":
		if rule, ok := value.(map[string]any); ok && selectors(rule) != 1 {
			one.Message = choiceSelectors
		}
	case "path", "template":
		one = wrongPath(one, path, said, p.Rule == "path")
	case "jsonata", "states":
		one.Message = unnamed(one.Message)
	case "top-level":
		one.Message = unnamed(one.Message) + "."
	case "variable-name":
		if one.Code = "INVALID_VARIABLE_NAME"; path.last() == "states" {
			one.Code, one.Message = "RESERVED_VARIABLE_NAME", "Cannot assign to reserved variable '$states'."
		} else {
			one.Message = fmt.Sprintf("Invalid variable name '%s': the variable name contains invalid characters.", path.last())
		}
	case "resource", "arn":
		if strings.HasPrefix(said, "arn:") {
			one = Unrecognized(said, one.Location)
		} else {
			one.Code, one.Message = "SCHEMA_VALIDATION_FAILED", "Value is not a valid resource ARN"
		}
	case "integration", "misspelled":
		one.Message = Unrecognized(said, "").Message
	case "placeholder": // to AWS it is a text like any other
		switch path.last() {
		case "Resource":
			one = Unrecognized(said, one.Location)
		case "StartAt", "Next", "Default":
			one.Code, one.Message = "MISSING_TRANSITION_TARGET", "Missing 'Next' target: "+said
		default:
			one.Code = "SCHEMA_VALIDATION_FAILED"
		}
	case "express":
		if strings.HasSuffix(said, ".waitForTaskToken") {
			one.Message += " " // AWS's
		}
	default:
		one = inAWSWords(one, p.Rule, path)
	}
	return []Finding{one}
}

// plain returns a message without the prefix that names the state.
func plain(message string) string {
	if _, rest, ok := strings.Cut(message, `": `); ok && strings.HasPrefix(message, `state "`) {
		return rest
	}
	return message
}

// otherLanguage returns the finding for a field of the other query language.
func otherLanguage(one Finding, path steps, p *flow.Diagnostic) Finding {
	legal := ""
	for _, language := range []string{"JSONPath", "JSONata"} {
		if strings.HasSuffix(p.Message, "is for QueryLanguage "+language) {
			legal = language
		}
	}
	if legal == "" {
		return one
	}
	set := "JSONPath"
	if legal == set {
		set = "JSONata"
	}
	one.Message = fmt.Sprintf("The QueryLanguage is set to '%s', but field '%s' is only supported for the '%s' "+
		"QueryLanguage", set, path.last(), legal)
	one.Location = path.parent().String()
	return one
}

// notJSON returns the finding for a text that is not JSON. AWS shows the message of its parser.
func notJSON(text []byte, p *flow.Diagnostic) Finding {
	message, place := syntaxMessage(string(text))
	if message == "" { // JSON that the language does not take
		message, place = p.Message, source(string(text), p.Line, p.Column)
	}
	return Finding{
		Severity: string(p.Severity), Code: string(p.Code), Message: message + "\n at " + place, Location: place,
	}
}

// Steps lead from a document to a value in it.
type steps []step

type step struct {
	name  string
	index bool // the name is an index of an array
}

// String returns AWS's location of the value.
func (s steps) String() string {
	var b strings.Builder
	for _, one := range s {
		if one.index {
			b.WriteString("[" + one.name + "]")
		} else {
			b.WriteString("/" + one.name)
		}
	}
	return cmp.Or(b.String(), "/")
}

func (s steps) last() string {
	if len(s) == 0 {
		return ""
	}
	return s[len(s)-1].name
}

func (s steps) parent() steps { return s[:max(0, len(s)-1)] }

// follow returns the value at a JSON pointer, and the steps to it.
func follow(document any, pointer string) (value any, path steps) {
	value = document
	for i, name := range strings.Split(pointer, "/") {
		if i == 0 {
			continue
		}
		name = strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~")
		one := step{name: name}
		switch v := value.(type) {
		case map[string]any:
			one.name = fullName(v, name)
			value = v[one.name]
		case []any:
			one.index, value = true, nil
			if at, err := strconv.Atoi(name); err == nil && at >= 0 && at < len(v) {
				value = v[at]
			}
		default:
			value = nil
		}
		path = append(path, one)
	}
	return value, path
}

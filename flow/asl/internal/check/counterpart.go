package check

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// counterparts maps a field to the fields of the other query language that do the same. The first one that an object
// has is meant. If a field such as SecondsPath is not listed, its counterpart is Seconds.
var counterparts = map[string][]string{
	// In JSONata.
	"InputPath": {"Arguments", "ItemSelector", "Output"}, "Parameters": {"Arguments", "ItemSelector", "Output"},
	"Result": {"Output"}, "ResultSelector": {"Output"}, "ResultPath": {"Output"}, "OutputPath": {"Output"},
	// In JSONPath.
	"Arguments": {"Parameters"}, "Items": {"ItemsPath"}, "Output": {"ResultSelector", "Parameters", "OutputPath"},
}

// counterpart returns the fix for a field that belongs to the other query language. Legal are the names of the fields
// that the object has in its own.
func (c *checker) counterpart(m *jsontext.Member, legal []string) string {
	to := ""
	for _, name := range append(slices.Clone(counterparts[m.Name]), strings.TrimSuffix(m.Name, "Path")) {
		if to == "" && slices.Contains(legal, name) {
			to = name
		}
	}
	switch {
	case c.language == syntax.JSONPath && to == "":
		return `set "QueryLanguage": "JSONata"`
	case c.language == syntax.JSONPath:
		return fmt.Sprintf(`write %q, or set "QueryLanguage": "JSONata"`, to)
	}
	fix := ""
	switch expression := inExpression(m, slices.Contains(legal, "Catch")); {
	case to == "":
	case m.Value.Kind == jsontext.Object:
		fix = fmt.Sprintf(`write %q, with values such as "{%% %s %%}"`, to, expression)
	default:
		fix = fmt.Sprintf(`write %q: "{%% %s %%}"`, to, expression)
	}
	if c.machineLanguage != syntax.JSONata {
		return strings.TrimPrefix(fix+`, or set "QueryLanguage": "JSONPath"`, ", ")
	}
	return fix
}

// plainPath is a path that reads the same in an expression.
var plainPath = regexp.MustCompile(`^\$\$?(\.[A-Za-z_][A-Za-z0-9_]*)*$`)

// inExpression returns the expression with the value of a JSONPath field. works says that the state has a result.
func inExpression(m *jsontext.Member, works bool) string {
	switch {
	case works && m.Name == "ResultPath", m.Name == "ResultSelector":
		return "$states.result"
	case m.Name == "ResultPath":
		return "$states.input"
	case m.Value.Kind != jsontext.String || !plainPath.MatchString(m.Value.Str):
		return "$states.input.x"
	}
	if path, context := strings.CutPrefix(m.Value.Str, "$$"); context {
		return "$states.context" + path
	}
	return "$states.input" + m.Value.Str[1:]
}

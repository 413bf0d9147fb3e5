package check

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/expression"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/internal/jsonata"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// In JSONata, texts between {% and %} are expressions.

const expressionStart, expressionEnd = "{%", "%}"

// query reads a value that is an expression. If the value looks like an expression and is not valid, query reports
// that and returns nil.
func (c *checker) query(n *node) (read *expression.Query, is bool) {
	if n.Kind != jsontext.String {
		return nil, false
	}
	opens, closes := strings.HasPrefix(n.Str, expressionStart), strings.HasSuffix(n.Str, expressionEnd)
	trimmed := strings.TrimSpace(n.Str)
	switch {
	case opens && closes && len(n.Str) >= len(expressionStart+expressionEnd):
		return c.expression(n), true
	case strings.HasPrefix(trimmed, expressionStart) && strings.HasSuffix(trimmed, expressionEnd) && trimmed != n.Str:
		c.Fixf(ruleNotEvaluated, n, "remove the blanks around it", "%s looks like an expression but is taken as it stands",
			nameOf(n))
	case opens:
		c.Fixf(ruleDelimiters, n, "end it with %}", "%s begins like an expression but does not end with %%}", nameOf(n))
		return nil, true
	case closes:
		c.Fixf(ruleDelimiters, n, "begin it with {%", "%s ends like an expression but does not begin with {%%", nameOf(n))
		return nil, true
	}
	return nil, false
}

// queryInstead reads an expression that may replace another kind of value.
func (c *checker) queryInstead(n *node) (*expression.Query, bool) {
	if c.language != syntax.JSONata {
		return nil, false
	}
	return c.query(n)
}

// expression reads an expression.
func (c *checker) expression(n *node) *expression.Query {
	if c.patterns > jsonata.MaxPatterns {
		return nil // an error was already reported
	}
	text := strings.TrimSuffix(strings.TrimPrefix(n.Str, expressionStart), expressionEnd)
	e, err := jsonata.Parse(text)
	if broken, ok := errors.AsType[*jsonata.ParseError](err); ok {
		c.Add(ruleJSONata, n, c.within(n, broken.Offset), "", nameOf(n)+": "+broken.Message)
		return nil
	}
	if c.patterns += e.Patterns(); c.patterns > jsonata.MaxPatterns {
		c.Add(ruleJSONata, n, n.At, "lower their repetitions",
			fmt.Sprintf("the regular expressions of the definition compile to more than %d instructions", jsonata.MaxPatterns))
		return nil
	}
	for _, use := range e.Inputs() {
		name := jsontext.Cut(use.Name)
		fix, message := "such as $states.input."+name, fmt.Sprintf("%s: Reference to '%s' at the top level is not supported",
			nameOf(n), name)
		switch {
		case use.Name == "$$":
			fix, message = "", nameOf(n)+": Reference to '$$' is not supported"
		case strings.ContainsAny(use.Name, "$*"):
			fix = "such as $states.input"
		}
		c.Add(ruleTopLevel, n, c.within(n, use.Offset), fix, message)
	}
	for _, use := range e.Variables() {
		c.use(n, use)
	}
	return expression.QueryOf(e, c.place(n, strings.TrimSpace(e.Text())))
}

// place returns the position of a value in its state.
func (c *checker) place(n *node, text string) expression.Place {
	return expression.Place{Field: n.Key, Location: c.locationOf(n), Text: text}
}

// locationOf returns AWS's form of the position of a value in a state, such as Choices[1]/Output/total.
func (c *checker) locationOf(n *node) string {
	if n == c.state || n.Parent == nil {
		return ""
	}
	around := c.locationOf(n.Parent)
	switch {
	case n.Parent.Kind == jsontext.Array:
		return around + "[" + strconv.Itoa(n.Index) + "]"
	case around == "":
		return n.Key
	}
	return around + "/" + n.Key
}

// use checks a variable of an expression.
func (c *checker) use(n *node, use jsonata.Use) {
	switch {
	case use.Name == "states":
		if len(use.Members) > 0 {
			c.useStates(n, use)
		}
	case !jsonata.HasFunction(use.Name):
		c.read(n, use.Name)
	}
}

// within returns the offset in the definition's text of a byte of an expression.
func (c *checker) within(n *node, offset int) int {
	if c.Source.Text[n.At] != '"' {
		return n.At // the text replaces an object
	}
	return n.Within(c.Source.Text, offset+len(expressionStart))
}

// useStates checks a member of $states.
func (c *checker) useStates(n *node, use jsonata.Use) {
	name, there := use.Members[0], c.statesMembers(n)
	if slices.Contains(there, name) {
		if name == "context" {
			c.contextMember(n, "$states.context", use.Members[1:])
		}
		return
	}
	fix := c.DidYouMean(ruleStates, name, there, func(name string) string { return "$states." + name })
	switch name {
	case "result":
		fix = "it is there in Output and Assign of a Task, Parallel or Map state"
	case "errorOutput":
		fix = "it is there in Output and Assign of a catcher"
	}
	c.Add(ruleStates, n, c.within(n, use.Offset), fix, fmt.Sprintf("%s: Field '$states.%s' does not exist here", nameOf(n),
		jsontext.Cut(name)))
}

// statesMembers returns the members of $states at the position of a value.
func (c *checker) statesMembers(n *node) []string {
	there := []string{"context", "input"}
	var field, inner string // names of the state's field and of the field in an entry of its list
	for ; n != c.state && n.Parent != nil; n = n.Parent {
		if n.Key != "" {
			field, inner = n.Key, field
		}
	}
	kind, _ := kindOf(n)
	output := field == "Output" || field == "Assign"
	switch {
	case output && (kind == syntax.TaskState || kind == syntax.ParallelState || kind == syntax.MapState):
		there = append(there, "result")
	case field == "Catch" && (inner == "Output" || inner == "Assign"):
		there = append(there, "errorOutput")
	}
	return there
}

// document reads a payload in JSONata.
func (c *checker) document(n *node) expression.Payload {
	d := &expression.Document{}
	rest := c.addTo(d, nil, n)
	switch {
	case len(d.Queries) == 0:
		value, err := jsonata.Decode(rest)
		return expression.Fixed{Value: data.ConstantOf(atom.FromJSON(rest), n.Tree(), value, err == nil)}
	case n.Kind == jsontext.String:
		return d.Queries[0]
	}
	d.Texts = append(d.Texts, string(rest))
	return d
}

// addTo adds a value, in which any text may be an expression, to a document. The text after the last query is
// passed from call to call.
func (c *checker) addTo(d *expression.Document, text []byte, n *node) []byte {
	if q, is := c.query(n); is {
		if q != nil {
			d.Texts, d.Queries = append(d.Texts, string(text)), append(d.Queries, q)
		}
		return text[:0]
	}
	switch n.Kind {
	case jsontext.Array:
		text = append(text, '[')
		for i, item := range n.Items {
			text = c.addTo(d, data.Separated(text, i), item)
		}
		return append(text, ']')
	case jsontext.Object:
		text = append(text, '{')
		for i, m := range n.Members {
			c.jsonPathField(m)
			text = c.addTo(d, append(jsontext.AppendString(data.Separated(text, i), m.Name), ':'), m.Value)
		}
		return append(text, '}')
	case jsontext.String:
		if fix := c.braces(n); fix != "" {
			c.Fixf(ruleNotEvaluated, n, fix, "%s looks like an expression but is taken as it stands", nameOf(n))
		}
		return jsontext.AppendString(text, n.Str)
	case jsontext.Null:
		return append(text, "null"...)
	default:
		return append(text, n.Str...)
	}
}

// unbraced matches what looks like an expression outside of {% and %}: $states, a member of a variable, a call, a path.
// It does not match names such as $LATEST.
var unbraced = regexp.MustCompile(`^\$(states\b|\$?[.\[]|[a-z]\w*([.\[]|\(.*\)$))`)

// braces returns the fix for a text in JSONata that looks like an expression; "" for other values.
func (c *checker) braces(n *node) string {
	if c.language != syntax.JSONata || n.Kind != jsontext.String || !unbraced.MatchString(n.Str) {
		return ""
	}
	return fmt.Sprintf(`write "{%% %s %%}"`, jsontext.Cut(n.Str))
}

// jsonPathField warns of a field that looks as if its value were evaluated as JSONPath.
func (c *checker) jsonPathField(m jsontext.Member) {
	if strings.HasSuffix(m.Name, ".$") {
		c.Namef(ruleNotEvaluated, m, "write {% … %} as the value",
			"%s is a field of JSONPath; in JSONata its value is taken as it stands", jsontext.Cut(m.Name))
	}
}

// conditionRule is the condition of a rule in JSONata.
type conditionRule struct{}

func (conditionRule) read(c *checker, n *node) expression.Test {
	if n.Kind == jsontext.Bool {
		return expression.Always(n.IsTrue())
	}
	q, is := c.query(n)
	if !is {
		fix := ""
		if n.Kind == jsontext.String {
			fix = fmt.Sprintf(`write "{%% %s %%}"`, jsontext.Cut(strings.TrimSpace(n.Str)))
		}
		c.Fixf(ruleType, n, fix, "%s must be an expression between {%% and %%}, true or false", nameOf(n))
	}
	return q.Holds
}

// itemsRule accepts the Items of a Map state in JSONata.
type itemsRule struct{}

func (itemsRule) read(c *checker, n *node) *syntax.Items {
	text := expression.Plain(n.Tree())
	if n.Kind == jsontext.Array || n.Kind == jsontext.Object {
		return &syntax.Items{Payload: c.document(n), At: c.place(n, text)}
	}
	q, is := c.query(n)
	switch {
	case !is:
		c.Fixf(ruleType, n, c.braces(n), "%s must be an array, an object, or an expression between {%% and %%}", nameOf(n))
	case q != nil:
		return &syntax.Items{Payload: q, At: q.At}
	}
	return nil
}

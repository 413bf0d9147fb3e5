package check

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/expression"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/flow/internal/definition"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// dynamicField returns the first member, at any depth, whose name ends in .$; nil if there is none.
func dynamicField(n *node) *node {
	for _, m := range n.Members {
		if strings.HasSuffix(m.Name, ".$") {
			return m.Value
		}
		if found := dynamicField(m.Value); found != nil {
			return found
		}
	}
	for _, item := range n.Items {
		if found := dynamicField(item); found != nil {
			return found
		}
	}
	return nil
}

// textRule accepts any text.
type textRule struct{}

func (textRule) read(c *checker, n *node) string {
	c.isText(n)
	return n.Str
}

// isText reports a value that is not a text.
func (c *checker) isText(n *node) bool {
	substitute(n)
	if name := placeholderObject(n); name != "" {
		placeholder(c, n, name)
		return false
	}
	return c.IsText(n)
}

// wordRule accepts one of some words.
type wordRule []string

func (w wordRule) read(c *checker, n *node) string {
	switch {
	case n.Kind == jsontext.String && slices.Contains(w, n.Str), hasPlaceholder(c, n):
	case n.Kind == jsontext.String:
		fix := ""
		if len(w) > 1 {
			fix = c.DidYouMean(ruleValue, n.Str, w, jsontext.Quote)
		}
		c.Fixf(ruleValue, n, fix, "%s must be %s", nameOf(n), definition.OneOf(w))
	default:
		c.Valuef(ruleType, n, "%s must be %s, found %s", nameOf(n), definition.OneOf(w), n.Kind)
	}
	return n.Str
}

// boolRule accepts true and false.
type boolRule struct{}

func (boolRule) read(c *checker, n *node) bool { return c.Bool(n) }

// wholeRule accepts an integer.
type wholeRule struct{ least, most int64 }

const (
	maxDelay = 31_622_400
	//limit:asl name of a state; of a variable; label of a Map | 80 characters (128 under `spec2016`); {};
	//limit:and {maxLabel}
	maxNameLength = 80  // characters of a variable's name
	maxCandidates = 500 // maximum number of names to search for a suggestion
)

var secondsRule = wholeRule{1, syntax.MaxSeconds}

func (s wholeRule) read(c *checker, n *node) int64 {
	v, ok := expression.WholeNumber(n.Str)
	switch {
	case hasPlaceholder(c, n):
	case n.Kind != jsontext.Number:
		c.Fixf(ruleType, n, c.pathFix(n), "%s must be a whole number from %d to %d", nameOf(n), s.least, s.most)
	case !ok || v < s.least || v > s.most:
		c.Valuef(ruleValue, n, "%s must be a whole number from %d to %d", nameOf(n), s.least, s.most)
	default:
		return v
	}
	return 0
}

// durationRule accepts an integer number of seconds.
type durationRule struct{ wholeRule }

func (s durationRule) read(c *checker, n *node) time.Duration {
	return time.Duration(s.wholeRule.read(c, n)) * time.Second
}

// pathFix returns the fix for a value that is not a path.
func (c *checker) pathFix(n *node) string {
	switch {
	case c.language == syntax.JSONPath && looksEvaluated(n):
		return fixLanguage
	case n.Kind != jsontext.String || !looksDynamic(n.Str):
		return c.braces(n)
	case c.language == syntax.JSONata:
		return "for what is to be evaluated, write {% … %}"
	}
	return "for a path, use " + n.Key + "Path"
}

// numberRule accepts a number.
type numberRule struct{ least, most float64 }

func (s numberRule) read(c *checker, n *node) float64 {
	v, err := strconv.ParseFloat(n.Str, 64)
	switch {
	case hasPlaceholder(c, n):
	case n.Kind != jsontext.Number:
		c.Fixf(ruleType, n, c.pathFix(n), "%s must be %s", nameOf(n), s)
	case err != nil || v < s.least || v > s.most:
		c.Valuef(ruleValue, n, "%s must be %s", nameOf(n), s)
	default:
		return v
	}
	return 0
}

// String returns the range as messages describe it.
func (s numberRule) String() string {
	least := strconv.FormatFloat(s.least, 'g', -1, 64)
	if s.most == math.MaxFloat64 {
		return "a number of at least " + least
	}
	return "a number from " + least + " to " + strconv.FormatFloat(s.most, 'g', -1, 64)
}

// amountRule accepts an integer or, in JSONata, an expression that returns one.
type amountRule struct{ wholeRule }

func (r amountRule) read(c *checker, n *node) syntax.Amount {
	if q, is := c.queryInstead(n); is {
		return syntax.Amount{Said: true, Query: q}
	}
	return syntax.Amount{Said: true, Fixed: r.wholeRule.read(c, n)}
}

// percentageRule accepts a number up to 100 or, in JSONata, an expression that returns one.
type percentageRule struct{ numberRule }

func (r percentageRule) read(c *checker, n *node) syntax.Amount {
	if q, is := c.queryInstead(n); is {
		return syntax.Amount{Said: true, Query: q}
	}
	return syntax.Amount{Said: true, Number: r.numberRule.read(c, n)}
}

// timestampRule accepts a timestamp or, in JSONata, an expression that returns one.
type timestampRule struct{}

func (timestampRule) read(c *checker, n *node) syntax.Timestamp {
	if q, is := c.queryInstead(n); is {
		return syntax.Timestamp{Query: q}
	}
	at, ok := expression.ParseTimestamp(n.Str)
	switch {
	case hasPlaceholder(c, n) || !c.isText(n):
	case !ok:
		c.Fixf(ruleTimestamp, n, cmp.Or(c.pathFix(n), `such as "2026-01-31T12:00:00Z"`),
			"%s does not match RFC3339 timestamp", nameOf(n))
	}
	return syntax.Timestamp{At: at}
}

// messageRule accepts a text of a Fail state or, in JSONata, an expression that returns one.
type messageRule struct{}

func (messageRule) read(c *checker, n *node) syntax.Message {
	if q, is := c.queryInstead(n); is {
		return syntax.Message{Given: expression.TextQuery{Query: q}}
	}
	c.expressionInPath(n)
	if c.isText(n) && looksDynamic(n.Str) {
		c.Fixf(ruleNoPath, n, c.pathFix(n), "%s looks like a path but is taken as it stands", nameOf(n))
	}
	text := n.Str
	return syntax.Message{Text: &text}
}

// listRule accepts an array.
type listRule[V any] struct {
	of    valueRule[V]
	least int
}

func (s listRule[V]) read(c *checker, n *node) []V {
	var all []V
	for _, item := range c.Items(n, s.least) {
		all = append(all, s.of.read(c, item))
	}
	return all
}

// resultRule accepts the Result of a Pass state: any value, which is not evaluated.
type resultRule struct{}

func (resultRule) read(c *checker, n *node) *data.Value {
	if dynamic := dynamicField(n); dynamic != nil {
		c.Fixf(ruleStaticResult, dynamic, "use Parameters for what is to be evaluated",
			"Result is taken as it stands; %s is not evaluated", jsontext.Quote(dynamic.Key))
	}
	return data.Constant(n.Tree())
}

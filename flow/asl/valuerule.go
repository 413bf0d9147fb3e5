package asl

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// A valueRule says what the value of a field looks like. It reports what is wrong
// with a value, and describes itself as JSON Schema.
type valueRule interface {
	valueCheck
	schema(s *schemas) schema
}

// textRule is any text.
type textRule struct{}

func (textRule) check(c *checker, n *node) { c.isText(n) }

// isText reports a value that is no text.
func (c *checker) isText(n *node) bool {
	if substitute(n); n.Kind == jsontext.String {
		return true
	}
	if name := placeholderObject(n); name != "" {
		c.placeholder(n, name)
		return false
	}
	c.valuef(ruleType, n, "%s must be a string, found %s", nameOf(n), n.Kind)
	return false
}

// wordRule is one of some words.
type wordRule []string

func (w wordRule) check(c *checker, n *node) {
	switch {
	case n.Kind == jsontext.String && slices.Contains(w, n.Str), c.hasPlaceholder(n):
	case n.Kind == jsontext.String:
		fix := ""
		if len(w) > 1 {
			fix = c.didYouMean(ruleValue, n.Str, w, jsontext.Quote)
		}
		c.fixf(ruleValue, n, fix, "%s must be %s", nameOf(n), w)
	default:
		c.valuef(ruleType, n, "%s must be %s, found %s", nameOf(n), w, n.Kind)
	}
}

// String returns the words as messages list them.
func (w wordRule) String() string {
	quoted := make([]string, len(w))
	for i, word := range w {
		quoted[i] = strconv.Quote(word)
	}
	if len(w) == 1 {
		return quoted[0]
	}
	return strings.Join(quoted[:len(w)-1], ", ") + " or " + quoted[len(w)-1]
}

// boolRule is true or false.
type boolRule struct{}

func (boolRule) check(c *checker, n *node) {
	if n.Kind != jsontext.Bool {
		c.valuef(ruleType, n, "%s must be true or false, found %s", nameOf(n), n.Kind)
	}
}

// wholeRule is a whole number. Its nodes mean an int64.
type wholeRule struct{ least, most int64 }

const (
	maxSeconds = 99_999_999
	maxDelay   = 31_622_400
	maxItems   = 100_000_000
)

var secondsRule = wholeRule{1, maxSeconds}

func (s wholeRule) check(c *checker, n *node) {
	v, ok := wholeOf(n)
	switch {
	case c.hasPlaceholder(n):
	case n.Kind != jsontext.Number:
		c.fixf(ruleType, n, c.pathFix(n), "%s must be a whole number from %d to %d", nameOf(n), s.least, s.most)
	case !ok || v < s.least || v > s.most:
		c.valuef(ruleValue, n, "%s must be a whole number from %d to %d", nameOf(n), s.least, s.most)
	default:
		n.Means = v
	}
}

// pathFix is the fix for a path in a field that is none.
func (c *checker) pathFix(n *node) string {
	switch {
	case n.Kind != jsontext.String || !looksDynamic(n.Str):
		return ""
	case c.language == inJSONata:
		return "for what is to be evaluated, write {% … %}"
	}
	return "for a path, use " + n.Key + "Path"
}

// numberRule is a number. Its nodes mean a float64.
type numberRule struct{ least, most float64 }

func (s numberRule) check(c *checker, n *node) {
	v, err := strconv.ParseFloat(n.Str, 64)
	switch {
	case c.hasPlaceholder(n):
	case n.Kind != jsontext.Number:
		c.fixf(ruleType, n, c.pathFix(n), "%s must be %s", nameOf(n), s)
	case err != nil || v < s.least || v > s.most:
		c.valuef(ruleValue, n, "%s must be %s", nameOf(n), s)
	default:
		n.Means = v
	}
}

// String returns the range as messages tell it.
func (s numberRule) String() string {
	least := strconv.FormatFloat(s.least, 'g', -1, 64)
	if s.most == math.MaxFloat64 {
		return "a number of at least " + least
	}
	return "a number from " + least + " to " + strconv.FormatFloat(s.most, 'g', -1, 64)
}

// timestampRule is a point in time. Its nodes mean a time.Time.
type timestampRule struct{}

func (timestampRule) check(c *checker, n *node) {
	at, ok := parseTimestamp(n.Str)
	switch {
	case c.hasPlaceholder(n) || !c.isText(n):
	case !ok:
		c.fixf(ruleTimestamp, n, cmp.Or(c.pathFix(n), `such as "2026-01-31T12:00:00Z"`), "%s does not match RFC3339 timestamp", nameOf(n))
	default:
		n.Means = at
	}
}

// messageRule is the text of a Fail state.
type messageRule struct{}

func (messageRule) check(c *checker, n *node) {
	if c.isText(n) && looksDynamic(n.Str) {
		c.fixf(ruleNoPath, n, c.pathFix(n), "%s looks like a path but is taken as it stands", nameOf(n))
	}
}

// listRule is an array.
type listRule struct {
	of    valueRule
	least int
}

func (s listRule) check(c *checker, n *node) {
	switch {
	case n.Kind != jsontext.Array:
		c.valuef(ruleType, n, "%s must be an array, found %s", nameOf(n), n.Kind)
	case len(n.Items) < s.least:
		c.valuef(ruleEmpty, n, "%s must not be empty", nameOf(n))
	}
	for _, item := range n.Items {
		s.of.check(c, item)
	}
}

// resultRule is the Result of a Pass state: any value, taken as it stands.
type resultRule struct{}

func (resultRule) check(c *checker, n *node) {
	if dynamic := dynamicField(n); dynamic != nil {
		c.fixf(ruleStaticResult, dynamic, "use Parameters for what is to be evaluated",
			"Result is taken as it stands; %s is not evaluated", jsontext.Quote(dynamic.Key))
	}
}

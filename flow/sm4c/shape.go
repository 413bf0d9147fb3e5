package sm4c

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// textRule is any text.
type textRule struct{}

func (textRule) check(c *checker, n *node) { c.isText(n) }

// isText reports a value that is no text.
func (c *checker) isText(n *node) bool {
	if n.Kind == jsontext.String {
		return true
	}
	c.valuef(ruleType, n, "%s must be a string, found %s", nameOf(n), n.Kind)
	return false
}

// nameRule is the name of something.
type nameRule struct{}

func (nameRule) check(c *checker, n *node) {
	switch {
	case !c.isText(n):
	case n.Str == "":
		c.valuef(ruleValue, n, "%s must not be empty", nameOf(n))
	case len(n.Str) > maxName:
		c.valuef(ruleValue, n, "%s has %d bytes; %d is the most", nameOf(n), len(n.Str), maxName)
	}
}

// wordRule is one of some words, in any case of messages. Its nodes mean a word.
type wordRule struct {
	words []string
	more  []string // also known; each means the word of the same index
}

func (w wordRule) check(c *checker, n *node) {
	if !c.isText(n) {
		return
	}
	for _, known := range [][]string{w.words, w.more} {
		for i, one := range known {
			if strings.EqualFold(n.Str, one) {
				n.Means = word(i)
				return
			}
		}
	}
	c.fixf(ruleValue, n, didYouMean(n.Str, w.words), "%s must be %s, found %s", nameOf(n), w, quote(n.Str))
}

// A word is the index of one that a wordRule allows.
type word int

// String returns the words as messages list them.
func (w wordRule) String() string {
	quoted := make([]string, len(w.words))
	for i, one := range w.words {
		quoted[i] = strconv.Quote(one)
	}
	return strings.Join(quoted[:len(quoted)-1], ", ") + " or " + quoted[len(quoted)-1]
}

// boolRule is true or false.
type boolRule struct{}

func (boolRule) check(c *checker, n *node) {
	if n.Kind != jsontext.Bool {
		c.valuef(ruleType, n, "%s must be true or false, found %s", nameOf(n), n.Kind)
	}
}

// wholeRule is a whole number. Its nodes mean an int.
type wholeRule struct{ least int }

const mostWhole = 1 << 30

func (s wholeRule) check(c *checker, n *node) {
	v, err := strconv.Atoi(n.Str)
	switch {
	case n.Kind != jsontext.Number:
		c.valuef(ruleType, n, "%s must be a whole number, found %s", nameOf(n), n.Kind)
	case err != nil || v < s.least || v > mostWhole:
		c.valuef(ruleValue, n, "%s must be a whole number from %d to %d", nameOf(n), s.least, mostWhole)
	default:
		n.Means = v
	}
}

// factorRule is a number that is not negative. Its nodes mean a float64.
type factorRule struct{}

func (factorRule) check(c *checker, n *node) {
	v, err := strconv.ParseFloat(n.Str, 64)
	switch {
	case n.Kind != jsontext.Number:
		c.valuef(ruleType, n, "%s must be a number, found %s", nameOf(n), n.Kind)
	case err != nil || v < 0:
		c.valuef(ruleValue, n, "%s must be a number that is not negative", nameOf(n))
	default:
		n.Means = v
	}
}

// timespanRule is a length of time. Its nodes mean a time.Duration.
type timespanRule struct{}

func (timespanRule) check(c *checker, n *node) {
	if !c.isText(n) {
		return
	}
	span, ok := parseTimespan(n.Str)
	if !ok {
		c.fixf(ruleTimespan, n, `such as "PT90S" or "00:01:30"`, "%s: %s is no time span", nameOf(n), quote(n.Str))
		return
	}
	n.Means = span
}

// jitterRule is a part of a delay, or a time span. Its nodes mean a float64 or a
// time.Duration.
type jitterRule struct{}

func (jitterRule) check(c *checker, n *node) {
	if n.Kind == jsontext.Number {
		factorRule{}.check(c, n)
		return
	}
	timespanRule{}.check(c, n)
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

// collectionRule is an array of definitions, or the URI of a document that has
// it. The definitions have been read by then, with all that is in them.
type collectionRule struct{ of *objectRule }

func (s collectionRule) check(c *checker, n *node) {
	if n.Kind != jsontext.Array && n.Kind != jsontext.String {
		c.valuef(ruleType, n, "%s must be an array, or the URI of a document, found %s", nameOf(n), n.Kind)
	}
}

// anyRule is any value.
type anyRule struct{}

func (anyRule) check(*checker, *node) {}

// documentsRule are documents by their URIs.
type documentsRule struct{}

func (documentsRule) check(c *checker, n *node) {
	if n.Kind != jsontext.Object {
		c.valuef(ruleType, n, "%s must be an object of documents by their URIs, found %s", nameOf(n), n.Kind)
	}
}

// referenceRule is the name of something that is defined. Its nodes mean the
// name as it is defined.
type referenceRule struct{ to kind }

func (s referenceRule) check(c *checker, n *node) {
	if !c.isText(n) {
		return
	}
	defined := c.defined[s.to].find(n.Str)
	if defined == nil {
		c.fixf(ruleReference, n, didYouMean(n.Str, c.defined[s.to].names), "%s: there is no %s %s", nameOf(n), s.to, quote(n.Str))
		return
	}
	n.Means = defined
}

// contextRule are the attributes of an event that is sent: texts by names.
type contextRule struct{}

func (contextRule) check(c *checker, n *node) {
	if n.Kind != jsontext.Object {
		c.valuef(ruleType, n, "%s must be an object of strings, found %s", nameOf(n), n.Kind)
		return
	}
	var seen []string
	for _, m := range n.Members {
		name := strings.ToLower(m.Name)
		if slices.Contains(seen, name) {
			c.namef(ruleOnce, m, "", "the attribute %s is there twice: letters of events' attributes have no case", quote(name))
		}
		seen = append(seen, name)
		if c.isText(m.Value) {
			c.template(m.Value)
		}
	}
}

// argumentsRule are the arguments of a call: an object in which each text, at
// any depth, may be an expression.
type argumentsRule struct{ variables []string }

func (s argumentsRule) check(c *checker, n *node) {
	if n.Kind != jsontext.Object {
		c.valuef(ruleType, n, "%s must be an object, found %s", nameOf(n), n.Kind)
		return
	}
	c.template(n, s.variables...)
}

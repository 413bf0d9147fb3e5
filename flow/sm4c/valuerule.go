package sm4c

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/flow/internal/definition"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// textRule is any text.
type textRule struct{}

func (textRule) read(c *checker, n *node) string {
	c.IsText(n)
	return n.Str
}

// nameRule is the name of something.
type nameRule struct{}

func (nameRule) read(c *checker, n *node) string {
	switch {
	case !c.IsText(n):
	case n.Str == "":
		c.Valuef(ruleValue, n, "%s must not be empty", nameOf(n))
	case len(n.Str) > maxName:
		c.Valuef(ruleValue, n, "%s has %d bytes; %d is the most", nameOf(n), len(n.Str), maxName)
	default:
		return n.Str
	}
	return ""
}

// wordRule is one of some words, in any case of their characters.
type wordRule[W ~uint8] struct {
	words []string // by what they mean
	more  []string // also known; each means the word of the same index
}

func (w wordRule[W]) read(c *checker, n *node) W {
	if !c.IsText(n) {
		return 0
	}
	found, ok := w.find(n.Str)
	if !ok {
		c.Fixf(ruleValue, n, c.DidYouMean(ruleValue, n.Str, w.words, quote), "%s must be %s, found %s", nameOf(n), definition.OneOf(w.words), quote(n.Str))
	}
	return found
}

// find returns what a text means.
func (w wordRule[W]) find(text string) (W, bool) {
	for _, known := range [][]string{w.words, w.more} {
		if i := slices.IndexFunc(known, func(word string) bool { return strings.EqualFold(text, word) }); i >= 0 {
			return W(i), true
		}
	}
	return 0, false
}

// boolRule is true or false.
type boolRule struct{}

func (boolRule) read(c *checker, n *node) bool { return c.Bool(n) }

// wholeRule is a whole number.
type wholeRule struct{ least int }

const mostWhole = 1 << 30

func (s wholeRule) read(c *checker, n *node) int {
	v, err := strconv.Atoi(n.Str)
	switch {
	case n.Kind != jsontext.Number:
		c.Valuef(ruleType, n, "%s must be a whole number, found %s", nameOf(n), n.Kind)
	case err != nil || v < s.least || v > mostWhole:
		c.Valuef(ruleValue, n, "%s must be a whole number from %d to %d", nameOf(n), s.least, mostWhole)
	default:
		return v
	}
	return 0
}

// factorRule is a number that is not negative.
type factorRule struct{}

func (factorRule) read(c *checker, n *node) float64 {
	v, err := strconv.ParseFloat(n.Str, 64)
	switch {
	case n.Kind != jsontext.Number:
		c.Valuef(ruleType, n, "%s must be a number, found %s", nameOf(n), n.Kind)
	case err != nil || v < 0:
		c.Valuef(ruleValue, n, "%s must be a number that is not negative", nameOf(n))
	default:
		return v
	}
	return 0
}

// timespanRule is a length of time.
type timespanRule struct{}

func (timespanRule) read(c *checker, n *node) time.Duration {
	if !c.IsText(n) {
		return 0
	}
	span, ok := parseTimespan(n.Str)
	if !ok {
		c.Fixf(ruleTimespan, n, `such as "PT90S" or "00:01:30"`, "%s: %s is no time span", nameOf(n), quote(n.Str))
	}
	return span
}

// jitterRule is a part of a delay, or a time span.
type jitterRule struct{}

func (jitterRule) read(c *checker, n *node) jitter {
	if n.Kind == jsontext.Number {
		return jitter{part: factorRule{}.read(c, n)}
	}
	return jitter{span: timespanRule{}.read(c, n)}
}

// listRule is an array.
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

// collectionRule is an array of definitions, or the URI of a document that has
// it. The definitions have been read by then, with all that is in them.
type collectionRule struct{ of described }

func (collectionRule) read(c *checker, n *node) struct{} {
	if n.Kind != jsontext.Array && n.Kind != jsontext.String {
		c.Valuef(ruleType, n, "%s must be an array, or the URI of a document, found %s", nameOf(n), n.Kind)
	}
	return struct{}{}
}

// anyRule is any value.
type anyRule struct{}

func (anyRule) read(*checker, *node) struct{} { return struct{}{} }

// documentsRule are documents by their URIs.
type documentsRule struct{}

func (documentsRule) read(c *checker, n *node) struct{} {
	if n.Kind != jsontext.Object {
		c.Valuef(ruleType, n, "%s must be an object of documents by their URIs, found %s", nameOf(n), n.Kind)
	}
	return struct{}{}
}

// referenceRule is the name of something that is defined.
type referenceRule[D any] struct {
	among func(*checker) *definitions[D]
}

func (s referenceRule[D]) read(c *checker, n *node) *D {
	if !c.IsText(n) {
		return nil
	}
	among := s.among(c)
	found := among.find(n.Str)
	if found == nil {
		c.Fixf(ruleReference, n, c.DidYouMean(ruleReference, n.Str, among.names, quote), "%s: there is no %s %s", nameOf(n), among.kind.name, quote(n.Str))
		return nil
	}
	return found.read
}

// contextRule are the attributes of an event that is sent: texts by names.
type contextRule struct{}

func (contextRule) read(c *checker, n *node) []templateMember {
	if n.Kind != jsontext.Object {
		c.Valuef(ruleType, n, "%s must be an object of strings, found %s", nameOf(n), n.Kind)
		return nil
	}
	var seen []string
	var all []templateMember
	for _, m := range n.Members {
		name := strings.ToLower(m.Name)
		if slices.Contains(seen, name) {
			c.Namef(ruleOnce, m, "", "the attribute %s is there twice: letters of events' attributes have no case", quote(name))
		}
		seen = append(seen, name)
		if c.IsText(m.Value) {
			all = append(all, templateMember{name, c.template(m.Value)})
		}
	}
	return all
}

// argumentsRule are the arguments of a call: an object in which each text, at
// any depth, may be an expression.
type argumentsRule struct{ variables []string }

func (s argumentsRule) read(c *checker, n *node) *template {
	if !c.IsObject(n) {
		return nil
	}
	t := c.template(n, s.variables...)
	return &t
}

// templateTextRule is a text, or an expression that gives one.
type templateTextRule struct{}

func (templateTextRule) read(c *checker, n *node) *template {
	if !c.IsText(n) {
		return nil
	}
	t := c.template(n)
	return &t
}

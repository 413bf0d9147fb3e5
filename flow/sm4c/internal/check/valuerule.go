package check

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/flow/internal/definition"
	"github.com/ebbflow/ebb/flow/sm4c/internal/syntax"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// textRule accepts any text.
type textRule struct{}

func (textRule) read(c *checker, n *node) string {
	c.IsText(n)
	return n.Str
}

// nameRule accepts a name.
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

// wordRule accepts one of some words, in any case.
type wordRule[W ~uint8] struct {
	words []string // indexed by value
	more  []string // aliases of the word with the same index
}

func (w wordRule[W]) read(c *checker, n *node) W {
	if !c.IsText(n) {
		return 0
	}
	found, ok := w.find(n.Str)
	if !ok {
		c.Fixf(ruleValue, n, c.DidYouMean(ruleValue, n.Str, w.words, quote), "%s must be %s, found %s", nameOf(n),
			definition.OneOf(w.words), quote(n.Str))
	}
	return found
}

// find returns the value of a word.
func (w wordRule[W]) find(text string) (W, bool) {
	for _, known := range [][]string{w.words, w.more} {
		if i := slices.IndexFunc(known, func(word string) bool { return strings.EqualFold(text, word) }); i >= 0 {
			return W(i), true
		}
	}
	return 0, false
}

// boolRule accepts true and false.
type boolRule struct{}

func (boolRule) read(c *checker, n *node) bool { return c.Bool(n) }

// wholeRule accepts an integer.
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

// factorRule accepts a number that is not negative.
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

// timespanRule accepts a time span.
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

// jitterRule accepts a fraction of a delay, or a time span.
type jitterRule struct{}

func (jitterRule) read(c *checker, n *node) syntax.Jitter {
	if n.Kind == jsontext.Number {
		return syntax.Jitter{Part: factorRule{}.read(c, n)}
	}
	return syntax.Jitter{Span: timespanRule{}.read(c, n)}
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

// collectionRule accepts an array of definitions, or the URI of a document that contains the array. The definitions
// have already been read.
type collectionRule struct{ of described }

func (collectionRule) read(c *checker, n *node) struct{} {
	if n.Kind != jsontext.Array && n.Kind != jsontext.String {
		c.Valuef(ruleType, n, "%s must be an array, or the URI of a document, found %s", nameOf(n), n.Kind)
	}
	return struct{}{}
}

// anyRule accepts any value.
type anyRule struct{}

func (anyRule) read(*checker, *node) struct{} { return struct{}{} }

// documentsRule accepts an object of documents, by URI.
type documentsRule struct{}

func (documentsRule) read(c *checker, n *node) struct{} {
	if n.Kind != jsontext.Object {
		c.Valuef(ruleType, n, "%s must be an object of documents by their URIs, found %s", nameOf(n), n.Kind)
	}
	return struct{}{}
}

// referenceRule accepts the name of a definition.
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
		c.Fixf(ruleReference, n, c.DidYouMean(ruleReference, n.Str, among.names, quote), "%s: there is no %s %s", nameOf(n),
			among.kind.name, quote(n.Str))
		return nil
	}
	return found.read
}

// contextRule accepts the attributes of an outgoing event: an object of strings.
type contextRule struct{}

func (contextRule) read(c *checker, n *node) []syntax.TemplateMember {
	if n.Kind != jsontext.Object {
		c.Valuef(ruleType, n, "%s must be an object of strings, found %s", nameOf(n), n.Kind)
		return nil
	}
	var seen []string
	var all []syntax.TemplateMember
	for _, m := range n.Members {
		name := strings.ToLower(m.Name)
		if slices.Contains(seen, name) {
			c.Namef(ruleOnce, m, "", "the attribute %s is there twice: letters of events' attributes have no case", quote(name))
		}
		seen = append(seen, name)
		if c.IsText(m.Value) {
			all = append(all, syntax.TemplateMember{Name: name, Value: c.template(m.Value)})
		}
	}
	return all
}

// argumentsRule accepts the arguments of a call: an object in which any text, at any depth, may be an expression.
type argumentsRule struct{ variables []string }

func (s argumentsRule) read(c *checker, n *node) *syntax.Template {
	if !c.IsObject(n) {
		return nil
	}
	t := c.template(n, s.variables...)
	return &t
}

// templateTextRule accepts a text, or an expression that returns a text.
type templateTextRule struct{}

func (templateTextRule) read(c *checker, n *node) *syntax.Template {
	if !c.IsText(n) {
		return nil
	}
	t := c.template(n)
	return &t
}

package asl

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// A checker reads a definition and reports every rule that it breaks. On the way
// it notes in the nodes what they mean, from which the compiler then builds the
// machine: nothing is read twice, and a definition without errors can be
// compiled.
type checker struct {
	report
	options

	names  map[string]*node // of all states, where each was named first
	labels map[string]*node
	scope  *scope // the States object being read
	scopes []*scope

	machineLanguage queryLanguage
	language        queryLanguage // of the state being read
	patterns        int           // instructions of all regular expressions so far
	reverting       bool          // what is being read is evaluated when a state is undone
}

// options are the choices about how a definition is read.
type options struct {
	profile Profile
	strict  bool
	express bool
}

// An Option is a choice about how a definition is read.
type Option func(*options)

// Strict refuses what Ebb adds to the language, such as Revert, and what AWS
// refuses though it could be run: states that no transition leads to.
func Strict() Option { return func(o *options) { o.strict = true } }

// Express checks the definition as an Express machine, which has no activities,
// no .sync, no .waitForTaskToken and no distributed Map.
func Express() Option { return func(o *options) { o.express = true } }

// Under reads the definition by the rules of a profile; [AWS] is the default.
func Under(p Profile) Option { return func(o *options) { o.profile = p } }

// check reports the problems of a definition in the order of the text. The node
// is the whole definition, nil when it could not be read.
func check(file string, source []byte, opts []Option) (*checker, *node) {
	c := &checker{
		report: report{file: file, source: source},
		names:  map[string]*node{}, labels: map[string]*node{},
		machineLanguage: inJSONPath, language: inJSONPath,
	}
	for _, opt := range opts {
		opt(&c.options)
	}
	root := c.root()
	if root != nil {
		c.repeated(root)
		c.machine(root)
	}
	c.sort()
	return c, root
}

func (r *report) sort() {
	slices.SortStableFunc(r.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// root reads the text, or reports why it cannot be read.
func (c *checker) root() *node {
	if len(c.source) > MaxDefinition {
		c.add(ruleSize, nil, 0, "", fmt.Sprintf("the definition has %d bytes; %d is the most", len(c.source), MaxDefinition))
		return nil
	}
	if strings.TrimSpace(string(c.source)) == "" {
		c.add(ruleObject, nil, 0, "", "the definition must be a JSON object, found nothing")
		return nil
	}
	root, err := jsontext.Parse(c.source, MaxNesting)
	if broken, ok := errors.AsType[*jsontext.Error](err); ok {
		if broken.Deep {
			c.add(ruleNesting, nil, broken.Offset, "", fmt.Sprintf("objects and arrays nest deeper than %d", MaxNesting))
		} else {
			c.add(ruleJSON, nil, broken.Offset, "", broken.Problem)
		}
		return nil
	}
	if root.Kind != jsontext.Object {
		c.valuef(ruleObject, root, "the definition must be a JSON object, found %s", root.Kind)
		return nil
	}
	return root
}

// repeated reports names that occur twice in one object, everywhere.
func (c *checker) repeated(n *node) {
	seen := make(map[string]bool, len(n.Members))
	for _, m := range n.Members {
		if seen[m.Name] {
			rule := ruleOnce
			if n.Key == "States" {
				rule = ruleStateOnce
			}
			c.namef(rule, m, "", "the name %s occurs twice in one object", jsontext.Quote(m.Name))
		}
		seen[m.Name] = true
		c.repeated(m.Value)
	}
	for _, item := range n.Items {
		c.repeated(item)
	}
}

// machine reads the whole definition.
func (c *checker) machine(root *node) {
	c.machineLanguage = c.queryLanguage(languageHolder(root))
	c.level(machineObject, root, false)
	for _, s := range c.scopes {
		c.shadows(s)
		c.unassigned(s)
	}
}

// languageRule is a QueryLanguage.
type languageRule struct{}

var languageWords = wordRule{inJSONPath.String(), inJSONata.String()}

func (languageRule) check(c *checker, n *node) { languageWords.check(c, n) }

// languageHolder returns the object that sets the machine's QueryLanguage: the
// definition, or by a slip that is often made, its States.
func languageHolder(root *node) *node {
	if list := root.Get("States"); list != nil && root.Get("QueryLanguage") == nil {
		return list
	}
	return root
}

// queryLanguage returns the language that an object sets, that of the whole
// machine if none.
func (c *checker) queryLanguage(n *node) queryLanguage {
	v := n.Get("QueryLanguage")
	switch {
	case v == nil, v.Kind != jsontext.String:
	case v.Str == inJSONata.String():
		return inJSONata
	case v.Str == inJSONPath.String() && c.machineLanguage == inJSONata:
		c.valuef(ruleDowngrade, n, "'QueryLanguage' can not be 'JSONPath' if set to 'JSONata' for whole state machine")
		return inJSONPath
	case v.Str == inJSONPath.String():
		return inJSONPath
	}
	return c.machineLanguage
}

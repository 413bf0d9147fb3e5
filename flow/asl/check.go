package asl

import (
	"github.com/ebbflow/ebb/flow/internal/definition"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// A checker reads a definition and reports every rule that it breaks. On the way
// it makes the machine: nothing is read twice, and a definition without errors can be
// run.
type checker struct {
	definition.Report
	options

	names  map[string]*node // of all states, where each was named first
	labels map[string]*node
	scope  *scope // the States object being read
	scopes []*scope
	states map[string]*state

	machineLanguage queryLanguage
	language        queryLanguage // of the state being read
	state           *node         // which that is
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

// check returns the machine that a definition describes, and its problems in the order
// of the text. With errors among them the machine is of no use.
func check(name string, text []byte, opts []Option) (*Machine, Problems) {
	c := &checker{
		Report: definition.Report{Rules: common, Source: definition.Source{File: name, Text: text}},
		names:  map[string]*node{}, labels: map[string]*node{}, states: map[string]*state{},
		machineLanguage: inJSONPath, language: inJSONPath,
	}
	for _, opt := range opts {
		opt(&c.options)
	}
	m := &Machine{name: name, profile: c.profile, states: c.states}
	if root := c.Read(false); root != nil {
		c.Repeated(root, func(in *node) *Rule {
			if in.Key == "States" {
				return ruleStateOnce
			}
			return ruleOnce
		})
		m.top = c.machine(root)
	}
	problems := c.Sorted(name)
	if problems.Legal() {
		m.top.link()
	}
	return m, problems
}

// machine reads the whole definition.
func (c *checker) machine(root *node) *level {
	c.machineLanguage = c.queryLanguage(languageHolder(root))
	top := c.level(machineObject, root, false)
	for _, s := range c.scopes {
		c.shadows(s)
		c.unassigned(s)
	}
	return top
}

// languageRule is a QueryLanguage.
type languageRule struct{}

var languageWords = wordRule{inJSONPath.String(), inJSONata.String()}

func (languageRule) read(c *checker, n *node) string { return languageWords.read(c, n) }

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
		c.Valuef(ruleDowngrade, n, "'QueryLanguage' can not be 'JSONPath' if set to 'JSONata' for whole state machine")
		return inJSONPath
	case v.Str == inJSONPath.String():
		return inJSONPath
	}
	return c.machineLanguage
}

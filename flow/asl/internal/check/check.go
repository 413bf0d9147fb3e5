package check

import (
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/flow/internal/definition"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// A checker reads a definition and reports every rule that it breaks. On the way
// it makes the machine: nothing is read twice, and a definition without errors can be
// run.
type checker struct {
	definition.Report
	Options

	names  map[string]*node // of all states, where each was named first
	labels map[string]*node
	scope  *scope // the States object being read
	scopes []*scope
	states map[string]*syntax.State

	machineLanguage syntax.QueryLanguage
	language        syntax.QueryLanguage // of the state being read
	state           *node                // which that is
	patterns        int                  // instructions of all regular expressions so far
	reverting       bool                 // what is being read is evaluated when a state is undone
}

// Options are the choices about how a definition is read.
type Options struct {
	Profile syntax.Profile
	Strict  bool
	Express bool
}

// Definition returns the machine that a definition describes, and its problems in the order
// of the text. With errors among them the machine is of no use.
func Definition(name string, text []byte, o Options) (*syntax.Machine, flow.Diagnostics) {
	c := &checker{
		Options: o,
		Report:  definition.Report{Rules: common, Source: definition.Source{File: name, Text: text}},
		names:   map[string]*node{}, labels: map[string]*node{}, states: map[string]*syntax.State{},
		machineLanguage: syntax.JSONPath, language: syntax.JSONPath,
	}
	m := &syntax.Machine{Name: name, Profile: c.Profile, States: c.states}
	if root := c.Read(false); root != nil {
		c.Repeated(root, func(in *node) *definition.Rule {
			if in.Key == "States" {
				return ruleStateOnce
			}
			return ruleOnce
		})
		m.Top = c.machine(root)
	}
	problems := c.Sorted(name)
	if problems.Legal() {
		m.Top.Link()
	}
	return m, problems
}

// machine reads the whole definition.
func (c *checker) machine(root *node) *syntax.Level {
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

var languageWords = wordRule{syntax.JSONPath.String(), syntax.JSONata.String()}

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
func (c *checker) queryLanguage(n *node) syntax.QueryLanguage {
	v := n.Get("QueryLanguage")
	switch {
	case v == nil, v.Kind != jsontext.String:
	case v.Str == syntax.JSONata.String():
		return syntax.JSONata
	case v.Str == syntax.JSONPath.String() && c.machineLanguage == syntax.JSONata:
		c.Valuef(ruleDowngrade, n, "'QueryLanguage' can not be 'JSONPath' if set to 'JSONata' for whole state machine")
		return syntax.JSONPath
	case v.Str == syntax.JSONPath.String():
		return syntax.JSONPath
	}
	return c.machineLanguage
}

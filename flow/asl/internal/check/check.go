package check

import (
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/flow/internal/definition"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// A checker reads a definition and reports every rule that the definition breaks. At the same time it builds the
// machine, so it reads the definition once. If it finds no errors, the machine can run.
type checker struct {
	definition.Report
	Options

	names  map[string]*node // first state with each name
	labels map[string]*node
	scope  *scope // the States object that is being read
	scopes []*scope
	states map[string]*syntax.State

	machineLanguage syntax.QueryLanguage
	language        syntax.QueryLanguage // query language of the state that is being read
	state           *node                // node of the state that is being read
	patterns        int                  // total instructions of all regular expressions
	reverting       bool                 // the value that is being read is evaluated when a state is undone
}

// Options determine how a definition is read.
type Options struct {
	Profile  syntax.Profile
	Strict   bool
	ForAWS   bool
	Express  bool
	Accepted bool
	// A placeholder as a Resource is the name of a task.
	Placeholders bool
}

// Definition returns the machine that a definition describes, and its problems in the order of the text. If there
// are errors, the machine cannot be used.
func Definition(name string, text []byte, o Options) (*syntax.Machine, flow.Diagnostics) {
	c := &checker{
		Options: o,
		Report:  definition.Report{Rules: common, Source: definition.Source{File: name, Text: text}, Accepted: o.Accepted},
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
		m.Undoes = syntax.Some([]*syntax.Level{m.Top}, (*syntax.State).Undoes)
		c.staysDone(m)
		problems = c.Sorted(name)
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

// languageRule accepts a QueryLanguage.
type languageRule struct{}

var languageWords = wordRule{syntax.JSONPath.String(), syntax.JSONata.String()}

func (languageRule) read(c *checker, n *node) string { return languageWords.read(c, n) }

// languageHolder returns the object that sets the machine's QueryLanguage: the definition or, by a common mistake,
// its States.
func languageHolder(root *node) *node {
	if list := root.Get("States"); list != nil && root.Get("QueryLanguage") == nil {
		return list
	}
	return root
}

// queryLanguage returns the query language that an object sets, or that of the whole machine.
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

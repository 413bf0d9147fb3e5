package check

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// A scope is a States object that is being checked.
type scope struct {
	outer   *scope
	names   []string // names of its states, in the order of the text
	states  map[string]*node
	level   *syntax.Level
	read    map[string]*syntax.State
	assigns map[string][]assignment // assignments of each variable
	reads   []reading
	owner   string              // the state of the outer scope that contains it
	current string              // the state that is being read
	before  map[string][]string // the states that lead to each state; nil until computed
	lost    bool                // a transition leads to a state that does not exist
	apart   bool                // it belongs to a distributed Map: it sees no variables of outer levels
}

// statesRule accepts a States object.
type statesRule struct{}

func (statesRule) read(c *checker, n *node) struct{} {
	if n.Kind != jsontext.Object {
		c.Valuef(ruleType, n, "States must be an object with at least one state, found %s", n.Kind)
		return struct{}{}
	}
	if len(n.Members) == 0 {
		c.Valuef(ruleEmpty, n, "States must be an object with at least one state")
	}
	for _, name := range c.scope.names {
		c.scope.current = name
		c.readState(c.scope.read[name], c.scope.states[name])
	}
	return struct{}{}
}

// checkLevel checks a machine, a branch or a processor as a whole, after StartAt and States were read.
func checkLevel(c *checker, n *node, _ *syntax.Level) {
	if list := n.Get("States"); list != nil && len(c.scope.names) > 0 {
		ends(c, list)
		unreachable(c, n)
		endlessLoops(c)
	}
}

// levelRule accepts a machine inside another: a branch or a processor.
type levelRule struct{ *objectRule[syntax.Level] }

func (s levelRule) read(c *checker, n *node) *syntax.Level { return c.level(s.objectRule, n, false) }

// level reads a machine, a branch or a processor, in a scope of its own.
func (c *checker) level(f *objectRule[syntax.Level], n *node, apart bool) *syntax.Level {
	language, outer, around := c.language, c.scope, c.state
	l := &syntax.Level{}
	c.scope = &scope{
		outer: outer, level: l, states: map[string]*node{}, read: map[string]*syntax.State{},
		assigns: map[string][]assignment{}, apart: apart,
	}
	c.language = c.machineLanguage
	if outer != nil {
		c.scope.owner = outer.current
	}
	c.scopes = append(c.scopes, c.scope)
	if list := n.Get("States"); list != nil {
		c.declare(list)
	}
	f.fill(c, n, l)
	c.language, c.scope, c.state = language, outer, around
	return l
}

// declare collects the names of a level's states, so that states can refer to each other.
func (c *checker) declare(list *node) {
	for _, m := range list.Members {
		if m.Name == "QueryLanguage" && m.Value.Kind == jsontext.String && c.scope.outer == nil {
			c.Namef(ruleMisplaced, m, "move it out of States",
				"QueryLanguage is set inside States and taken as if it stood beside it")
			continue
		}
		c.stateName(m)
		if m.Value.Kind != jsontext.Object {
			c.Valuef(ruleType, m.Value, "the state %s must be an object, found %s", jsontext.Quote(m.Name), m.Value.Kind)
			continue
		}
		if c.scope.states[m.Name] != nil {
			continue // already reported as repeated
		}
		if first := c.names[m.Name]; first != nil {
			c.Namef(ruleStateOnce, m, "",
				"the state name %s is taken in line %d; names are unique in the whole machine, branches included",
				jsontext.Quote(m.Name), c.Line(ruleStateOnce, first))
		} else {
			c.names[m.Name] = m.Value
		}
		s := &syntax.State{Name: m.Name, At: m.At}
		c.scope.states[m.Name], c.scope.read[m.Name], c.states[m.Name] = m.Value, s, s
		c.scope.level.States = append(c.scope.level.States, s)
		c.scope.names = append(c.scope.names, m.Name)
	}
}

func (c *checker) stateName(m jsontext.Member) {
	most := c.Profile.Rules().NameLength
	switch n := utf8.RuneCountInString(m.Name); {
	case m.Name == "":
		c.Namef(ruleStateName, m, "", "a state's name must not be empty")
	case n > most:
		c.Namef(ruleStateName, m, "", "the state name %s has %d characters; %d is the most", jsontext.Quote(m.Name), n, most)
	case strings.ContainsFunc(m.Name, unicode.IsControl):
		c.Namef(ruleStateName, m, "", "the state name %s has a control character", jsontext.Quote(m.Name))
	}
}

// targetRule accepts the name of a state of the same level.
type targetRule struct{}

func (targetRule) read(c *checker, n *node) *syntax.State {
	switch {
	case hasPlaceholder(c, n):
	case n.Kind != jsontext.String:
		c.Valuef(ruleType, n, "%s must be a state's name, found %s", nameOf(n), n.Kind)
	case c.scope.states[n.Str] == nil:
		fix := "a transition stays within its own States; that state is in another"
		if c.names[n.Str] == nil {
			fix = c.DidYouMean(ruleTarget, n.Str, c.scope.names, jsontext.Quote)
		}
		c.Fixf(ruleTarget, n, fix, "%s %s is no state", nameOf(n), jsontext.Quote(n.Str))
		c.scope.lost = true
	default:
		return c.scope.read[n.Str]
	}
	return nil
}

package asl

import "github.com/ebbflow/ebb/internal/jsontext"

import "strings"

// state checks one state.
func (c *checker) state(name string, n *node) {
	where, language := c.where, c.language
	c.where = "state " + jsontext.Quote(name) + ": "
	defer func() { c.where, c.language = where, language }()
	kind, known := kindOf(n)
	if !known {
		c.unknownType(n)
		return
	}
	c.language = c.queryLanguage(n)
	n.Means = stateMeaning{kind, c.language}
	stateForms[kind].check(c, n)
}

// stateMeaning is what the node of a state means.
type stateMeaning struct {
	kind     stateKind
	language queryLanguage
}

// kindOf returns the type of a state, if it has one of those there are.
func kindOf(n *node) (stateKind, bool) {
	if t := n.Get("Type"); t != nil && t.Kind == jsontext.String {
		for kind, name := range kindNames {
			if t.Str == name {
				return stateKind(kind), true
			}
		}
	}
	return 0, false
}

// unknownType reports a state of which nothing else can be said.
func (c *checker) unknownType(n *node) {
	if t := n.Get("Type"); t != nil {
		typeRule{}.check(c, t)
	} else {
		c.valuef(ruleRequired, n, "these fields are required: Type")
	}
	for _, field := range []string{"Next", "End"} {
		if v := n.Get(field); v != nil {
			nextFields[field].is.check(c, v)
		}
	}
}

// typeRule is the Type of a state.
type typeRule struct{}

func (typeRule) check(c *checker, n *node) {
	if _, known := kindOf(n.Parent); !known {
		c.fixf(ruleValue, n, c.didYouMean(ruleValue, n.Str, kindNames[:], jsontext.Quote),
			"The field 'Type' should have one of these values: [Task, Wait, Pass, Succeed, Fail, Choice, Parallel, Map]")
	}
}

// nextOrEnd is demanded of states that go on.
type nextOrEnd struct{}

func (nextOrEnd) check(c *checker, n *node) {
	next, end := n.Get("Next"), n.Get("End")
	switch {
	case next != nil && end.IsTrue():
		c.valuef(ruleNextOrEnd, next, "a state that ends the machine has no Next")
	case next == nil && !end.IsTrue() && (end == nil || end.Kind == jsontext.Bool):
		c.valuef(ruleNextOrEnd, n, `one of Next and "End": true must be there`)
	}
}

// errorCauseCheck is what the 2016 text demands of Fail states.
type errorCauseCheck struct{}

func (errorCauseCheck) check(c *checker, n *node) {
	if !profiles[c.profile].failNeedsBoth {
		return
	}
	var missing []string
	for _, field := range []string{"Error", "Cause"} {
		if n.Get(field) == nil && n.Get(field+"Path") == nil {
			missing = append(missing, field)
		}
	}
	if len(missing) > 0 {
		c.valuef(ruleErrorCause, n, "the language of 2016 demands %s of a Fail state", strings.Join(missing, " and "))
	}
}

package asl

import (
	"strings"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// readState reads one state.
func (c *checker) readState(s *state, n *node) {
	where, language := c.Where, c.language
	c.Where = "state " + jsontext.Quote(s.name) + ": "
	defer func() { c.Where, c.language = where, language }()
	kind, known := kindOf(n)
	if !known {
		c.unknownType(n)
		return
	}
	c.language, c.state = c.queryLanguage(n), n
	s.kind, s.language = kind, c.language
	switch kind {
	case taskState:
		s.task, s.out.as = &task{}, "result"
	case waitState:
		s.wait = &wait{}
	case failState:
		s.failure, s.ends = &failing{}, true
	case parallelState:
		s.out.as = "result"
	case mapState:
		s.items, s.out.as = &iterated{distributed: &distributed{}}, "result"
	case succeedState:
		s.ends = true
	case passState, choiceState:
	}
	stateForms[kind].fill(c, n, s)
	if m := s.items; m != nil {
		m.path = unlessRoot(m.path)
		if m.selector == nil {
			m.selector = s.arguments
		}
		s.arguments = nil
	}
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
		typeRule{}.read(c, t)
	} else {
		c.Valuef(ruleRequired, n, "these fields are required: Type")
	}
	for _, field := range []string{"Next", "End"} {
		if v := n.Get(field); v != nil {
			nextFields[field].read(c, v, &state{})
		}
	}
}

// typeRule is the Type of a state.
type typeRule struct{}

func (typeRule) read(c *checker, n *node) string {
	if _, known := kindOf(n.Parent); !known {
		c.Fixf(ruleValue, n, c.DidYouMean(ruleValue, n.Str, kindNames[:], jsontext.Quote),
			"The field 'Type' should have one of these values: [Task, Wait, Pass, Succeed, Fail, Choice, Parallel, Map]")
	}
	return n.Str
}

// checkErrorAndCause is what the 2016 text demands of Fail states.
func checkErrorAndCause(c *checker, n *node, _ *state) {
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
		c.Valuef(ruleErrorCause, n, "the language of 2016 demands %s of a Fail state", strings.Join(missing, " and "))
	}
}

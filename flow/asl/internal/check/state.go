package check

import (
	"strings"

	"github.com/ebbflow/ebb/flow/asl/internal/expression"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// readState reads one state.
func (c *checker) readState(s *syntax.State, n *node) {
	where, language := c.Where, c.language
	c.Where = "state " + jsontext.Quote(s.Name) + ": "
	defer func() { c.Where, c.language = where, language }()
	kind, known := kindOf(n)
	if !known {
		c.unknownType(n)
		return
	}
	c.language, c.state = c.queryLanguage(n), n
	s.Kind, s.Language = kind, c.language
	switch kind {
	case syntax.TaskState:
		s.Task, s.Out.As = &syntax.Task{}, "result"
	case syntax.WaitState:
		s.Wait = &syntax.Wait{}
	case syntax.FailState:
		s.Failure, s.Ends = &syntax.Fail{}, true
	case syntax.ParallelState:
		s.Out.As = "result"
	case syntax.MapState:
		s.Items, s.Out.As = &syntax.Map{Distributed: &syntax.Distributed{}}, "result"
	case syntax.SucceedState:
		s.Ends = true
	case syntax.PassState, syntax.ChoiceState:
	}
	stateForms[kind].fill(c, n, s)
	if other := n.Get("Default"); other != nil {
		s.Default = other.At
	}
	if m := s.Items; m != nil {
		m.Path = expression.UnlessRoot(m.Path)
		if m.Selector == nil {
			m.Selector = s.Arguments
		}
		s.Arguments = nil
	}
}

// kindOf returns the type of a state, if the type exists.
func kindOf(n *node) (syntax.Kind, bool) {
	if t := n.Get("Type"); t != nil && t.Kind == jsontext.String {
		for kind, name := range syntax.KindNames {
			if t.Str == name {
				return syntax.Kind(kind), true
			}
		}
	}
	return 0, false
}

// unknownType reports a state whose type does not exist.
func (c *checker) unknownType(n *node) {
	if t := n.Get("Type"); t != nil {
		typeRule{}.read(c, t)
	} else {
		c.Valuef(ruleRequired, n, "these fields are required: Type")
	}
	for _, field := range []string{"Next", "End"} {
		if v := n.Get(field); v != nil {
			nextFields[field].read(c, v, &syntax.State{})
		}
	}
}

// typeRule accepts the Type of a state.
type typeRule struct{}

func (typeRule) read(c *checker, n *node) string {
	if _, known := kindOf(n.Parent); !known {
		c.Fixf(ruleValue, n, c.DidYouMean(ruleValue, n.Str, syntax.KindNames[:], jsontext.Quote),
			"The field 'Type' should have one of these values: [Task, Wait, Pass, Succeed, Fail, Choice, Parallel, Map]")
	}
	return n.Str
}

// checkErrorAndCause checks the fields that the 2016 text requires of Fail states.
func checkErrorAndCause(c *checker, n *node, _ *syntax.State) {
	if !c.Profile.Rules().FailNeedsBoth {
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

package saga

import (
	"regexp"
	"strings"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// task adds the plain form of a Task.
func (s *scope) task(name string, state *object, language string) {
	by, reverts := state.Get("Revert")
	state = except(state, "Revert")
	switch undo := revertOf(by); {
	case undo != nil:
		s.revertible(name, state, language, undo)
		return
	case reverts && by == false && s.number > 0:
		s.refusef(name, "a point of no return inside a Parallel or Map has no plain form: AWS shows no branch what ended "+
			"before in another")
	case reverts && by == false:
		state = state.With("Assign", joined(get(state, "Assign"), jsontext.OrderedMapOf(s.done(), nil)))
	}
	s.add(name, s.goesOn(s.catching(name, state, language, nil)))
}

// revertible adds a Task that something undoes: a state that keeps the input, and the Task, which records what it did
// and, if it fails, that it may have done something.
func (s *scope) revertible(name string, state *object, language string, by *object) {
	s.keepsInput(name, state, language)
	s.reverts = append(s.reverts, revert{name, language == jsonata, by})
	if same := text(state, "Resource"); text(by, "Resource") == same && !strings.Contains(same, ":states:::") {
		s.notef(name, "its own resource is called to undo it, and knows that only by its input")
	}

	before := func(o *object) *object {
		o.Set(reference(language, "input", "$"+s.input(), "$"+s.input()))
		return o
	}
	after := func(o *object) *object {
		o.Set(reference(language, "before", "$"+s.done(), "$"+s.done()))
		return jsontext.OrderedMapOf(s.done(), o)
	}
	failed := before(jsontext.OrderedMapOf("state", name))
	failed.Set(reference(language, "failure", "$", "$states.errorOutput"))
	did := before(jsontext.OrderedMapOf("state", name))
	did.Set(reference(language, "result", "$", "$states.result"))

	if arguments, ok := state.Get("Arguments"); ok && !mentions(arguments, "Task.Token") {
		state = state.With("Arguments", "{% $"+s.input()+" %}") // it is evaluated once
	}
	if !has(state, "ResultSelector") {
		state = state.With("Assign", joined(get(state, "Assign"), after(did)))
		s.add(name, s.goesOn(s.catching(name, state, language, after(failed))))
		return
	}
	result := s.fresh(name + ": result")
	only := joined(except(state, "ResultSelector", "ResultPath", "OutputPath", "Assign", "Next", "End"),
		jsontext.OrderedMapOf("ResultPath", nil, "Assign", after(did), "Next", result))
	s.add(name, s.goesOn(s.catching(name, only, language, after(failed))))
	s.notef(name, "an error of its ResultSelector is not caught, since that belongs to a Pass state now")
	s.result(result, state, "$"+s.done()+".result")
}

// result adds a Pass state in JSONPath that does with a value what a state does with its result.
func (s *scope) result(name string, of *object, value string) {
	pass := jsontext.OrderedMapOf("Type", "Pass", "InputPath", value)
	if selector, ok := of.Get("ResultSelector"); ok {
		pass.Set("Parameters", selector)
	}
	s.add(name, s.goesOn(joined(pass, only(of, "ResultPath", "OutputPath", "Assign", "Next", "End"))))
}

// keepsInput adds the state before a Task that keeps the Task's effective input in a variable. What computes the input
// may fail, so the state is a Parallel, which has the Task's catchers.
func (s *scope) keepsInput(name string, state *object, language string) {
	enters := s.enters[name]
	given := only(state, "InputPath", "Parameters", "Arguments")
	for field, v := range given.All() {
		switch {
		case mentions(v, "Task.Token"):
			given = given.With(field, untokened(v))
			s.notef(name, "what undoes it does not see the task token")
		case language == jsonPath && changing.Match(inline(nil, v)):
			s.notef(name, "its Parameters are evaluated twice: what undoes it sees other values of States.UUID, "+
				"States.MathRandom and $$.State")
		}
	}
	same := jsontext.OrderedMapOf("Type", "Pass")
	if own := text(state, "QueryLanguage"); own != "" {
		same.Set("QueryLanguage", own)
	}
	if given.Len() == 0 {
		same.Set("Assign", pair(reference(language, s.input(), "$", "$states.input")))
		same.Set("Next", name)
		s.add(enters, same)
		return
	}
	inner := s.fresh(name + ": same")
	branch := jsontext.OrderedMapOf("StartAt", inner, "States", jsontext.OrderedMapOf(inner, same.With("End", true)))
	keep := joined(same.With("Type", "Parallel"), given)
	keep.Set("Branches", []any{branch})
	keep.Set("Assign", pair(reference(language, s.input(), "$[0]", "$states.result[0]")))
	if language == jsonata {
		keep.Set("Output", "{% $states.input %}")
	} else {
		keep.Set("ResultPath", nil)
	}
	if catch, ok := state.Get("Catch"); ok {
		keep.Set("Catch", catch)
	}
	keep = s.goesOn(s.catching(name, keep, language, nil))
	s.add(enters, keep.With("Next", name))
}

// changing matches what has another value each time it is evaluated.
var changing = regexp.MustCompile(`States\.(UUID|MathRandom)|\$\$\.State\.`)

// pair returns an object with one member.
func pair(name string, v any) *object { return jsontext.OrderedMapOf(name, v) }

// mentions reports whether a text in a value contains a part.
func mentions(v any, part string) bool { return strings.Contains(string(inline(nil, v)), part) }

// untokened returns arguments without the values that are made from the task token.
func untokened(v any) any {
	switch v := v.(type) {
	case string:
		if strings.Contains(v, "Task.Token") {
			return ""
		}
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = untokened(v[i])
		}
		return out
	case *object:
		out := jsontext.NewOrderedMap(v.Len())
		for name, member := range v.All() {
			if path, is := member.(string); is && strings.Contains(path, "Task.Token") {
				name = strings.TrimSuffix(name, ".$")
			}
			out.Set(name, untokened(member))
		}
		return out
	}
	return v
}

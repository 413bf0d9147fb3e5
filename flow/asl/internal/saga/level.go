package saga

import (
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/internal/jsontext"
)

const (
	jsonPath = "JSONPath"
	jsonata  = "JSONata"
)

// languageOf returns the QueryLanguage that a machine or a state sets, or the default.
func languageOf(o *object) string {
	if own := text(o, "QueryLanguage"); own != "" {
		return own
	}
	return jsonPath
}

// A scope is a level that is being written: the machine, a branch or an iteration.
type scope struct {
	*writer

	number int               // of the level, in the names of its variables
	enters map[string]string // the state to which a transition to a state leads, if it is another one
	failed string            // the state to which each failure leads
	ended  string            // the state to which each end leads; "" in the machine
	fails  bool              // some failure leads there
	ends   bool              // some end leads there
	states *object           // what is written
}

// onFailure returns the state to which a failure leads.
func (s *scope) onFailure() string {
	s.fails = true
	return s.failed
}

// onEnd returns the state to which an end leads.
func (s *scope) onEnd() string {
	s.ends = true
	return s.ended
}

// The variables of a level, which an inner level can read and must not assign.
func (s *scope) done() string    { return s.variable("Done") }    // what was done: {state, input, result, before}; null
func (s *scope) input() string   { return s.variable("Input") }   // of the Task that follows
func (s *scope) failure() string { return s.variable("Error") }   // {Error, Cause}
func (s *scope) results() string { return s.variable("Results") } // of a Parallel or Map
func (s *scope) taken() string   { return s.variable("Undoing") } // the Task that is being undone
func (s *scope) todo() string    { return s.variable("Todo") }    // lists that are being undone

func (s *scope) variable(name string) string {
	if s.number == 0 {
		return s.prefix + name
	}
	return s.prefix + name + strconv.Itoa(s.number)
}

// level returns the plain form of a level. If it hands out, it never fails: its output has the result or the failure,
// and what was done.
func (w *writer) level(level *object, handsOut bool) *object {
	s := &scope{
		writer: w, number: w.levels, enters: map[string]string{}, states: jsontext.NewOrderedMap(0),
	}
	w.levels++
	if handsOut {
		s.ended, s.failed = w.fresh("Did well"), w.fresh("Did fail")
	} else {
		s.failed = w.fresh("Undo")
	}
	for name, state := range statesOf(level) {
		if by, _ := state.Get("Revert"); revertOf(by) != nil {
			s.enters[name] = w.fresh(name + ": input")
		}
	}
	begin := w.fresh("Begin")
	s.add(begin, s.helper("Pass", "Assign", jsontext.OrderedMapOf(s.done(), nil), "Next", s.entry(text(level, "StartAt"))))
	for name, state := range statesOf(level) {
		s.state(name, state)
	}
	if handsOut {
		s.handOut()
	} else {
		s.undo()
	}
	out := jsontext.NewOrderedMap(0)
	for name, v := range level.All() {
		switch name {
		case "StartAt":
			v = begin
		case "States":
			v = s.states
		}
		out.Set(name, v)
	}
	return out
}

// helper returns a state in JSONata.
func (s *scope) helper(kind string, members ...any) *object {
	o := jsontext.OrderedMapOf("Type", kind)
	if !s.jsonata {
		o.Set("QueryLanguage", jsonata)
	}
	for name, v := range jsontext.OrderedMapOf(members...).All() {
		o.Set(name, v)
	}
	return o
}

func (s *scope) add(name string, state *object) { s.states.Set(name, state) }

// entry returns where a transition to a state leads.
func (s *scope) entry(state string) string {
	if enters := s.enters[state]; enters != "" {
		return enters
	}
	return state
}

// state adds the plain form of a state.
func (s *scope) state(name string, state *object) {
	language := s.languageOf(state)
	switch text(state, "Type") {
	case "Task":
		s.task(name, state, language)
	case "Parallel", "Map":
		s.fork(name, state, language)
	case "Fail":
		s.fail(name, state)
	case "Choice":
		s.choice(name, state)
	case "Succeed":
		if s.ended != "" {
			state = state.With("Type", "Pass").With("Next", s.onEnd())
		}
		s.add(name, state)
	default:
		s.add(name, s.goesOn(state))
	}
}

func (s *scope) languageOf(state *object) string {
	if s.jsonata {
		return jsonata
	}
	return languageOf(state)
}

// goesOn returns a state with its transitions.
func (s *scope) goesOn(state *object) *object {
	if next := text(state, "Next"); next != "" {
		state = state.With("Next", s.entry(next))
	}
	if s.ended != "" && has(state, "End") {
		state = except(state, "End").With("Next", s.onEnd())
	}
	if catch := list(state, "Catch"); catch != nil {
		state = state.With("Catch", mapped(catch, s.leads))
	}
	return state
}

// leads returns a catcher, or a rule of a Choice, with its transition.
func (s *scope) leads(o *object) *object { return o.With("Next", s.entry(text(o, "Next"))) }

// choice adds a Choice that leads to the undo if no rule matches.
func (s *scope) choice(name string, state *object) {
	state = state.With("Choices", mapped(list(state, "Choices"), s.leads))
	if def := text(state, "Default"); def != "" {
		s.add(name, state.With("Default", s.entry(def)))
		return
	}
	lost := s.fresh(name + ": no match")
	s.add(name, state.With("Default", lost))
	s.add(lost, s.helper("Pass", "Assign", jsontext.OrderedMapOf(s.failure(), jsontext.OrderedMapOf(
		"Error", "States.Runtime", "Cause", "no rule of the state "+name+" matches")), "Next", s.onFailure()))
}

// fail adds a Pass that leads to the undo with the error of a Fail.
func (s *scope) fail(name string, state *object) {
	failure := jsontext.NewOrderedMap(2)
	for _, part := range []string{"Error", "Cause"} {
		if v, ok := state.Get(part); ok {
			failure.Set(part, v)
		} else if path := text(state, part+"Path"); path != "" {
			failure.Set(part+".$", path)
		}
	}
	pass := joined(pair("Type", "Pass"), only(state, "Comment", "QueryLanguage"))
	s.add(name, joined(pass, jsontext.OrderedMapOf("Assign", pair(s.failure(), failure), "Next", s.onFailure())))
}

// caught returns a catcher that leads to the undo.
func (s *scope) caught(language string, assign *object) *object {
	all := joined(assign, pair(reference(language, s.failure(), "$", "$states.errorOutput")))
	return jsontext.OrderedMapOf("ErrorEquals", []any{"States.ALL"}, "Assign", all, "Next", s.onFailure())
}

// reference returns a member whose value is a path or an expression.
func reference(language, name, path, expression string) (string, any) {
	if language == jsonata {
		return name, "{% " + expression + " %}"
	}
	return name + ".$", path
}

// catching returns a state that assigns something with each of its catchers, and leads to the undo with every other
// error.
func (s *scope) catching(name string, state *object, language string, assign *object) *object {
	var catch []any
	all := false
	for _, v := range list(state, "Catch") {
		k, _ := v.(*object)
		if has(k, "Revert") {
			s.refusef(name, "the Revert of a catcher has no plain form: undo by Choice states and Tasks of your own")
		}
		k = k.With("Assign", joined(get(k, "Assign"), assign))
		if get(k, "Assign").Len() == 0 {
			k = except(k, "Assign")
		}
		catch = append(catch, k)
		all = all || strings.Contains(string(inline(nil, list(k, "ErrorEquals"))), `"States.ALL"`)
	}
	if !all {
		catch = append(catch, s.caught(language, assign))
	}
	return state.With("Catch", catch)
}

// joined returns an object with the members of two.
func joined(a, b *object) *object {
	out := jsontext.NewOrderedMap(a.Len() + b.Len())
	for _, o := range []*object{a, b} {
		for name, v := range o.All() {
			out.Set(name, v)
		}
	}
	return out
}

// handOut adds the ends of a level that hands out.
func (s *scope) handOut() {
	done := "{% $" + s.done() + " %}"
	if s.ends {
		s.add(s.ended, s.helper("Pass", "Output",
			jsontext.OrderedMapOf("result", "{% $states.input %}", "done", done), "End", true))
	}
	if s.fails {
		s.add(s.failed, s.helper("Pass", "Output", jsontext.OrderedMapOf("failure", "{% $"+s.failure()+" %}",
			"at", "{% $states.context.State.EnteredTime %}", "done", done), "End", true))
	}
}

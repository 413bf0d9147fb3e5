package saga

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// fork adds the plain form of a Parallel or Map. If something inside is undone, its branches hand out what they did, a
// Choice behind it decides, and a Pass does with the results what the state did.
func (s *scope) fork(name string, state *object, language string) {
	if !slices.ContainsFunc(levelsOf(state), undoes) {
		s.add(name, s.goesOn(s.catching(name, inside(state, stripped), language, nil)))
		return
	}
	s.forkable(name, state)
	if text(state, "Type") == "Map" {
		s.notef(name, "if an iteration fails, the others are run to their end, and then undone")
	} else {
		s.notef(name, "if a branch fails, the others are run to their end, and then undone")
	}
	decide, result := s.fresh(name+": decide"), s.fresh(name+": result")

	out := except(state, "ResultSelector", "ResultPath", "OutputPath", "Output", "Assign", "Retry", "Next", "End")
	out = inside(out, func(level *object) *object { return s.level(level, true) })
	if language == jsonata {
		out.Set("Output", "{% $states.input %}")
	} else {
		out.Set("ResultPath", nil)
	}
	out.Set("Assign", pair(reference(language, s.results(), "$", "$states.result")))
	out.Set("Next", decide)
	s.add(name, s.goesOn(s.catching(name, out, language, nil)))

	results := "$" + s.results()
	push := jsontext.OrderedMapOf("lists", "{% ["+results+".{'top': done}] %}", "before", "{% $"+s.done()+" %}")
	s.add(decide, s.helper("Choice",
		"Choices", []any{jsontext.OrderedMapOf(
			"Condition", "{% $exists("+results+".failure) %}",
			"Assign", jsontext.OrderedMapOf(s.done(), push, s.failure(),
				"{% $sort("+results+"[$exists(failure)], function($a, $b) { $a.at > $b.at })[0].failure %}"),
			"Next", s.caughtInside(name, state, language),
		)},
		"Default", result,
		"Assign", jsontext.OrderedMapOf(s.done(), push, s.results(), fmt.Sprintf(
			"{%% $count(%[1]s) = 0 ? [] : $map(%[1]s, function($r) { $r.result })[] %%}", results)),
	))
	if language == jsonPath {
		s.result(result, state, results)
		return
	}
	pass := s.helper("Pass", "Output", "{% "+results+" %}")
	if output, ok := state.Get("Output"); ok {
		pass.Set("Output", renamed(output, statesResult, results))
	}
	if assign, ok := state.Get("Assign"); ok {
		pass.Set("Assign", renamed(assign, statesResult, results))
	}
	s.add(result, s.goesOn(joined(pass, only(state, "Next", "End"))))
}

// forkable refuses what has no plain form if something inside a state is undone.
func (s *scope) forkable(name string, state *object) {
	if len(list(state, "Retry")) > 0 {
		s.refusef(name, "the Retry of a state in which something is undone has no plain form: AWS does not undo before it "+
			"tries again")
	}
	for _, field := range []string{
		"ResultWriter", "ToleratedFailureCount", "ToleratedFailureCountPath", "ToleratedFailurePercentage",
		"ToleratedFailurePercentagePath",
	} {
		if has(state, field) {
			s.refusef(name, "%s has no plain form in a state in which something is undone: its iterations do not fail, they "+
				"hand out what they did", field)
		}
	}
}

// caughtInside adds what a state's catchers do with an error that a branch has handed out, and returns the state to
// which such an error leads.
func (s *scope) caughtInside(name string, state *object, language string) string {
	catch := list(state, "Catch")
	if len(catch) == 0 {
		return s.onFailure()
	}
	failure := "$" + s.failure()
	choose := s.fresh(name + ": caught")
	var rules []any
	for _, v := range catch {
		k, _ := v.(*object)
		by := s.fresh(name + ": catcher")
		rules = append(rules, jsontext.OrderedMapOf(
			"Condition", "{% "+matches(failure, list(k, "ErrorEquals"))+" %}", "Next", by))
		if language == jsonata {
			output, ok := k.Get("Output")
			if !ok {
				output = "{% " + failure + " %}"
			}
			pass := s.helper("Pass", "Output", renamed(output, errorOutput, failure))
			if assign, ok := k.Get("Assign"); ok {
				pass.Set("Assign", renamed(assign, errorOutput, failure))
			}
			pass.Set("Next", s.entry(text(k, "Next")))
			s.add(by, pass)
			continue
		}
		s.add(by, joined(jsontext.OrderedMapOf("Type", "Pass", "InputPath", failure), only(k, "ResultPath", "Assign")).
			With("Next", s.entry(text(k, "Next"))))
	}
	s.add(choose, s.helper("Choice", "Choices", rules, "Default", s.onFailure()))
	return choose
}

// matches returns a condition for an error that a catcher names.
func matches(failure string, names []any) string {
	var all []string
	for _, v := range names {
		switch name, _ := v.(string); name {
		case "States.ALL":
			all = append(all, "$not("+failure+".Error in ['States.DataLimitExceeded', 'States.Runtime'])")
		case "States.TaskFailed":
			all = append(all, "$not("+failure+".Error in ['States.DataLimitExceeded', 'States.Runtime', 'States.Timeout'])")
		default:
			all = append(all, failure+".Error = "+quoted(name))
		}
	}
	return strings.Join(all, " or ")
}

var (
	statesResult = regexp.MustCompile(`\$states\.result\b`)
	errorOutput  = regexp.MustCompile(`\$states\.errorOutput\b`)
)

// renamed returns a value in whose expressions a name stands for another.
func renamed(v any, name *regexp.Regexp, by string) any {
	switch v := v.(type) {
	case string:
		if strings.HasPrefix(v, "{%") {
			return name.ReplaceAllLiteralString(v, by)
		}
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = renamed(v[i], name, by)
		}
		return out
	case *object:
		out := jsontext.NewOrderedMap(v.Len())
		for member, inner := range v.All() {
			out.Set(member, renamed(inner, name, by))
		}
		return out
	}
	return v
}

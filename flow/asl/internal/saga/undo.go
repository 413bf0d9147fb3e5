package saga

import (
	"fmt"
	"strings"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// undo adds the loop that undoes what the machine did, and fails. Its variable todo holds lists, each in an object
// {"top": …}. A turn takes the first entry of the last list: the record of a Task, or the lists of a Parallel or Map.
func (s *scope) undo() {
	next, take, which := s.fresh("Undo: next"), s.fresh("Undo: take"), s.fresh("Undo: which")
	undone, failure := s.fresh("Undone"), "$"+s.failure()
	s.add(s.failed, s.helper("Pass", "Assign", pair(s.todo(), "{% [{'top': $"+s.done()+"}] %}"), "Next", next))

	top := "$" + s.todo() + "[-1].top"
	others := fmt.Sprintf("$filter($%[1]s, function($v, $i) { $i < $count($%[1]s) - 1 })", s.todo())
	s.add(next, s.helper("Choice", "Choices", []any{
		jsontext.OrderedMapOf("Condition", "{% $count($"+s.todo()+") = 0 %}", "Next", undone),
		jsontext.OrderedMapOf("Condition", "{% "+top+" = null %}", "Assign", pair(s.todo(), "{% ["+others+"] %}"),
			"Next", next),
		jsontext.OrderedMapOf("Condition", "{% $exists("+top+".state) %}", "Next", take),
	}, "Default", next, "Assign", pair(s.todo(), "{% ["+others+", {'top': "+top+".before}, "+top+".lists] %}")))
	s.add(take, s.helper("Pass", "Output", report(top), "Assign", jsontext.OrderedMapOf(
		s.taken(), "{% "+top+".state %}", s.todo(), "{% ["+others+", {'top': "+top+".before}] %}"), "Next", which))

	var rules []any
	tasks := jsontext.NewOrderedMap(len(s.reverts))
	for _, r := range s.reverts {
		name := s.fresh("Undo " + r.state)
		rules = append(rules, jsontext.OrderedMapOf("Condition", "{% $"+s.taken()+" = "+quoted(r.state)+" %}", "Next", name))
		task := pair("Type", "Task")
		if r.jsonata && !s.jsonata {
			task.Set("QueryLanguage", jsonata)
		}
		tasks.Set(name, joined(task, r.by.With("Next", next)))
	}
	s.add(which, s.helper("Choice", "Choices", rules))
	s.states = joined(s.states, tasks)
	s.add(undone, s.helper("Fail", "Error", "{% $exists("+failure+".Error) ? "+failure+".Error : '' %}",
		"Cause", "{% $exists("+failure+".Cause) ? "+failure+".Cause : '' %}"))
}

// report returns the expression for the input of what undoes a Task, as Ebb makes it of the Task's record.
func report(record string) string {
	return "{% ( $did := " + record + "; $error := $did.failure; " +
		"$unknown := $error.Error in ['States.Timeout', 'States.HeartbeatTimeout']; $merge([" +
		"{'Input': $did.input, 'Result': $exists($error) ? null : $did.result, " +
		"'Outcome': $not($exists($error)) ? 'Done' : $unknown ? 'Unknown' : 'Failed'}, " +
		"$exists($error) and $not($unknown) ? $error : {}]) ) %}"
}

// quoted returns a text as JSONata has it.
func quoted(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\t", `\t`, "\r", `\r`).Replace(text) + "'"
}

package asl

import (
	"fmt"
	"maps"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
)

// A revert says how a Task state is undone: Ebb's addition to the language.
type revert struct {
	resource   string
	at         int       // where the resource stands in the text
	parameters *template // nil: the undo task is given the whole report
}

// revert reads Revert: a resource, or an object with Resource and Parameters.
func (c *compiler) revert(s *state) {
	n := s.source.get("Revert")
	switch {
	case n == nil:
		return
	case c.strict:
		c.schemaf(n, "Revert is Ebb's addition to the language and refused by strict validation")
	case n.kind == stringNode:
		if resource, ok := c.uri(n); ok {
			s.revert = &revert{resource: resource, at: n.at}
		}
	case n.kind == boolNode && n.str == "false":
		c.unsupported(n, `a state that cannot be undone ("Revert": false)`)
	case n.kind == objectNode:
		c.revertObject(s, n)
	default:
		c.refusef(SchemaValidationFailed, n, `such as "exec:./cancel"`, "Revert must be a resource, or an object with Resource, found %s", n.kind)
	}
}

func (c *compiler) revertObject(s *state, n *node) {
	c.fields(n, "a Revert", revertFields)
	resource := n.get("Resource")
	if resource == nil {
		c.schemaf(n, "these fields are required: Resource")
		return
	}
	s.revert = &revert{at: resource.at}
	s.revert.resource, _ = c.uri(resource)
	c.reverting = true
	s.revert.parameters = c.template(n.get("Parameters"))
	c.reverting = false
}

// Undo returns what the task that undoes a Task state is given. Without
// Parameters that is
//
//	{"Input": …, "Result": …, "Outcome": "Done"}
//
// where Input is the effective input of the task that is undone, Result its
// result or null, and Outcome is Done, Failed or Unknown; a failed one also has
// Error and Cause. Parameters are evaluated with that object as $.
func (m *Machine) Undo(ask *flow.UndoAsk) (atom.Value, error) {
	if ask.Spec.Undo == nil {
		return nil, fmt.Errorf("asl: %s has nothing to undo it with", ask.Path)
	}
	s := m.states[ask.Spec.Undo.Note]
	if s == nil || s.revert == nil {
		return nil, fmt.Errorf("asl: %s: the definition %s has no state %q with a Revert", ask.Path, m.name, ask.Spec.Undo.Note)
	}
	report := treeDatum(undoReport(ask))
	if s.revert.parameters == nil {
		return report.encoded(), nil
	}
	w := &walk{machine: m, ask: &flow.Ask{Run: ask.Run, Path: ask.Path, Now: ask.Now}, state: s}
	if n, err := readNote(ask.Spec.Note); err == nil {
		w.enteredAt = n.at
	}
	input, f := s.revert.parameters.datum(&view{input: textDatum(report.encoded()), walk: w})
	if f != nil {
		return nil, fmt.Errorf("asl: %s: Revert: %s", ask.Path, f.cause)
	}
	return input.encoded(), nil
}

func undoReport(ask *flow.UndoAsk) map[string]any {
	input := ask.Spec.Input
	if input == nil {
		input = atom.Null
	}
	report := map[string]any{"Input": textDatum(input), "Result": nil, "Outcome": "Unknown"}
	if result, ok := ask.Did.Done(); ok {
		report["Outcome"] = "Done"
		if result != nil {
			report["Result"] = textDatum(result)
		}
	}
	if failure, ok := ask.Did.Failed(); ok {
		report["Outcome"] = "Failed"
		maps.Copy(report, taskFault(failure, ask.Spec.Task).output())
	}
	return report
}

package template

import (
	"github.com/ebbflow/ebb/cmd/ebb/internal/document"
)

// A condition is a condition of the template, and its value as soon as it is known.
type condition struct {
	doc          *document.Document
	known, holds bool
	asked        bool // it is being computed
}

// holds reports whether a named condition holds. One that is not there holds.
func (e *evaluator) holds(name *document.Document) bool {
	if name == nil {
		return true
	}
	c := e.conditions[name.Says()]
	switch {
	case c == nil:
		e.problemf(name.Place, "the template has no condition %q%s", name.Says(),
			near(name.Says(), sortedNames(e.conditions)))
		return true
	case c.known:
		return c.holds
	case c.asked:
		e.problemf(name.Place, "the condition %s refers to itself", name.Says())
		return true
	}
	c.asked = true
	c.holds = e.isTrue(c.doc)
	c.known = true
	return c.holds
}

// isTrue evaluates a condition.
func (e *evaluator) isTrue(d *document.Document) bool {
	if e.depth++; e.depth > maxDepth {
		e.depth--
		e.tooLarge(d.Place)
		return true
	}
	defer func() { e.depth-- }()
	arguments := []*document.Document{}
	if len(d.Members) == 1 {
		arguments = d.Members[0].Value.Items
	}
	switch name := onlyName(d); {
	case name == "Condition":
		return e.holds(d.Members[0].Value)
	case name == "Fn::Equals" && len(arguments) == 2:
		return e.say(arguments[0]) == e.say(arguments[1])
	case name == "Fn::Not" && len(arguments) == 1:
		return !e.isTrue(arguments[0])
	case name == "Fn::And", name == "Fn::Or":
		for _, of := range arguments {
			if e.isTrue(of) == (name == "Fn::Or") {
				return name == "Fn::Or"
			}
		}
		return name == "Fn::And"
	}
	e.problemf(d.Place, "want a condition: Fn::Equals, Fn::And, Fn::Or, Fn::Not or Condition")
	return true
}

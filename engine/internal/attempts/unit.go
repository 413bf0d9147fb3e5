package attempts

import (
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
)

// A Unit is what is attempted: a grown node, or an atom of the plan.
type Unit struct {
	Node *scheduler.Node
	Atom int32 // -1 if it is not an atom of the plan
}

// Unknown is the unit of loaded attempts whose node the scheduler does not know yet: reverts of grown nodes, which may
// no longer be needed.
var Unknown = Unit{Atom: -1}

// UnitOf returns the unit of a command.
func UnitOf(cmd *scheduler.Command) Unit { return Unit{cmd.Node, cmd.Atom} }

// Ended returns the event for the end of an attempt of the unit, without how it ended.
func (u Unit) Ended() scheduler.Event {
	return scheduler.Event{Kind: scheduler.Completed, Atom: u.Atom, Node: u.Node}
}

// Path returns the path of a unit; "" for that of the run itself.
func (t *Table) Path(u Unit) string {
	switch {
	case u.Node != nil:
		return u.Node.Path
	case u.Atom >= 0:
		return t.plan.Atoms[u.Atom].Name()
	default:
		return ""
	}
}

// Record returns the record of a unit, which is known.
func (t *Table) Record(u Unit) *scheduler.Record {
	if u.Node != nil {
		return &u.Node.Rec
	}
	return t.s.Record(u.Atom)
}

// Reverts reports whether the unit can be undone. If it begins a run, that run is undone with it.
func (t *Table) Reverts(u Unit) bool {
	if u.Node != nil {
		return u.Node.Spec.Reverts()
	}
	return t.plan.Atoms[u.Atom].Reverts()
}

// language returns the language of a growing flow; nil if the flow is planned.
func (t *Table) language() flow.Language { return t.plan.Atoms[0].Language }

// grows reports whether the flow is a growing one, which is then the whole plan.
func (t *Table) grows() bool { return len(t.plan.Atoms) == 1 && t.language() != nil }

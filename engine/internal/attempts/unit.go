package attempts

import "github.com/ebbflow/ebb/flow"

// language returns the language of a growing flow; nil if the flow is planned.
func (t *Table) language() flow.Language { return t.plan.Atoms[0].Language }

// grows reports whether the flow is a growing one, which is then the whole plan.
func (t *Table) grows() bool { return len(t.plan.Atoms) == 1 && t.language() != nil }

package driver

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// did reports whether an atom in that state took effect and is not undone.
func did(s states.Task) bool {
	return s != states.TaskPending && s != states.TaskIgnore && s != states.TaskReverted
}

// Adopt moves the run to the driver's plan, which differs from the plan that the run started on. The caller names
// removed atoms whose records to delete. It may name atoms of the earlier plan that the run has not reached: those of
// facts, which is nil if that plan is not known. If other atoms do not allow the change, Adopt returns an error that
// wraps [ErrChanged].
func (r *run) Adopt(forget []string, atoms []storage.Atom, facts map[string][]string) error {
	var problems []error
	for _, path := range forget {
		_, had := facts[path]
		if !had && facts != nil && !slices.ContainsFunc(atoms, func(a storage.Atom) bool { return a.Path == path }) {
			problems = append(problems, fmt.Errorf("the run has no atom %q, which AcceptChange names", path))
		}
	}
	for i := range atoms {
		was := &atoms[i]
		at := r.plan.Index(was.Path)
		switch {
		case was.Spec != nil:
			problems = append(problems, errors.New("a flow of a language has no atoms to compare"))
		case at >= 0 && (r.plan.Atoms[at].Kind() == atom.KindRetry) != (was.Kind == storage.KindRetry):
			problems = append(problems, fmt.Errorf("atom %q changed between retry and task", was.Path))
		case at >= 0:
		case did(was.State) && !slices.Contains(forget, was.Path):
			problems = append(problems, fmt.Errorf("atom %q was removed and is %v; name it to AcceptChange to leave what it did",
				was.Path, was.State))
		default:
			r.Draft.Forget = append(r.Draft.Forget, was.Path)
		}
	}
	if len(problems) > 0 {
		return fmt.Errorf("%w: run %q: %w", ErrChanged, r.Claim.Run, errors.Join(problems...))
	}
	r.Draft.Structure, r.Draft.Dirty = r.plan.Hash, true
	r.env.Log.Warn(logevent.RunFlowChanged, logevent.Attributes(
		"run", r.Claim.Run, "flow", r.about.Flow, "forgotten", strings.Join(r.Draft.Forget, ", "))...)
	return nil
}

// Accepted adds to the history what differs in the flow that the run has adopted.
func (r *run) Accepted(changes string) {
	r.Draft.Command(storage.Entry{
		Kind: storage.EntryCommand, Type: "accept-change",
		Path:   strings.ToValidUTF8(changes[:min(len(changes), mostChanges)], ""),
		Issuer: &storage.Issuer{Via: storage.ViaLibrary},
	})
}

// mostChanges is how many bytes the history has of what differs in a flow.
const mostChanges = 1000

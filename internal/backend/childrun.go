package backend

import (
	"strconv"

	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/nodepath"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// BegunBy returns the id of the run that a stored atom of a run has begun, or of the run that continues it. It returns
// "" if the atom has begun none. It also returns whether the atom waits for the end of that run.
func BegunBy(run string, a *storage.Atom) (id string, awaited bool) {
	var spec grow.Spec
	switch {
	case a.Kind != storage.KindRun || a.Spec.Decode(&spec) != nil || a.Spec != nil && spec.Child == nil:
		return "", false
	case a.Successor != "":
		id = a.Successor
	case a.Spec == nil:
		id = PlannedChildID(run, a.Path, a.Incarnation, a.Attempt)
	default:
		id = ChildID(run, a.Path, a.Incarnation, a.Attempt, spec.Child)
	}
	open := a.State == states.TaskRunning || a.State == states.TaskReverting
	return id, open && (spec.Child == nil || !spec.Child.Detached)
}

// ChildID returns the id of the run that an attempt of a node starts. Attempts are counted from 1 again in each
// incarnation.
func ChildID(run, path string, incarnation, attempt int, child *grow.Child) string {
	if child.ID != "" {
		return child.ID
	}
	id := run + "/" + path
	if incarnation > 0 || attempt > 1 {
		id += "@" + strconv.Itoa(attempt)
	}
	if incarnation > 0 {
		id += "." + strconv.Itoa(incarnation+1)
	}
	return nodepath.RunID(id)
}

// PlannedChildID returns the id of the run that an attempt of an atom of a plan starts. Attempts are counted from 1
// again in each incarnation.
func PlannedChildID(run, path string, incarnation, attempt int) string {
	id := run + "/" + path
	if incarnation > 0 || attempt > 1 {
		id += "@" + strconv.Itoa(incarnation+1)
	}
	if attempt > 1 {
		id += "." + strconv.Itoa(attempt)
	}
	return nodepath.RunID(id)
}

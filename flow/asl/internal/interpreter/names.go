package interpreter

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/flow/asl/internal/expression"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/internal/nodepath"
)

// nodeState returns the state that a part of a path stands for, and the index of
// the child if it has one, else -1.
func (w *surroundings) nodeState(part string) (*syntax.State, int) {
	if fork, i, ok := nodepath.CutIndex(part); ok {
		if s := w.Machine.States[nodepath.State(fork)]; s != nil {
			return s, i
		}
	}
	return w.Machine.States[nodepath.State(part)], -1
}

// ofMapRun reports whether a path leads into a map run, whose executions have
// histories of their own.
func (w *surroundings) ofMapRun(parts []string) bool {
	return slices.ContainsFunc(parts[:len(parts)-1], func(part string) bool {
		s, index := w.nodeState(part)
		return s != nil && index >= 0 && s.Items != nil && s.Items.Distributed != nil
	})
}

// The names that AWS gives to what a distributed Map creates. In a run that was started without AWS's names, they are
// replaced by ids of runs.

// world returns the beginning of the ARNs of everything that belongs to the execution, up to the account. It returns
// false if the execution has no ARN.
func (w *surroundings) world() (string, bool) {
	parts := strings.SplitN(w.attributes().ExecutionID, ":", 6)
	if len(parts) < 6 || parts[0] != "arn" || parts[2] != "states" {
		return "", false
	}
	return strings.Join(parts[:5], ":"), true
}

// labeled returns the name of the state machine that a distributed Map's items run
// on.
func (w *surroundings) labeled() string { return w.attributes().StateMachineName + w.label() }

// label distinguishes that machine from the machine that contains it. Without a Label, it is generated as on AWS or, in
// a run without AWS's names, is the state's name.
func (w *surroundings) label() string {
	d := w.State.Items.Distributed
	if _, ok := w.world(); !ok && !d.Named {
		return "/" + w.State.Name
	}
	return "/" + d.Label
}

// RunID is asl.RunID.
func RunID(world, execution string) string {
	const account, end = 5, 7
	parts := strings.SplitN(execution, ":", end)
	id := parts[len(parts)-1]
	if world != "" && len(parts) == end && strings.Join(parts[:account], ":") != world {
		id = parts[account-1] + "/" + parts[account-2] + "/" + id
	}
	return nodepath.RunID(id)
}

func (w *surroundings) mapRunARN(id string) string {
	if world, ok := w.world(); ok {
		return world + ":mapRun:" + w.labeled() + ":" + id
	}
	return w.Ask.Run.ID + "/" + w.labeled() + ":" + id
}

// childName returns the name of the execution of one item, or batch.
func (w *surroundings) childName(m *mapSettings, index int) string {
	name := m.ID + "/" + strconv.Itoa(index)
	if m.redrive > 0 && w.State.Items.Distributed.Express {
		name += "/" + strconv.Itoa(m.redrive)
	}
	return expression.NamedUUID(name)
}

// childARN returns the ARN of that execution.
func (w *surroundings) childARN(m *mapSettings, index int) string {
	world, ok := w.world()
	switch {
	case !ok:
		return w.childRun(m, index)
	case w.State.Items.Distributed.Express:
		return world + ":express:" + w.childExecution(m, index)
	default:
		return world + ":execution:" + w.childExecution(m, index)
	}
}

// childExecution returns the part of that ARN that follows the kind of execution.
func (w *surroundings) childExecution(m *mapSettings, index int) string {
	name := w.labeled() + ":" + w.childName(m, index)
	if w.State.Items.Distributed.Express {
		name += ":" + m.ID
	}
	return name
}

// childRun returns the id of the run that an item runs as: trip/Ship[3], or the id of its execution on AWS. The flow
// that is asked is the map run, trip/Ship[0], or trip/Ship@2[0] at a second attempt.
func (w *surroundings) childRun(m *mapSettings, index int) string {
	if _, ok := w.world(); ok {
		return RunID(w.attributes().World, w.childARN(m, index))
	}
	id := w.Ask.Run.ID + "/" + nodepath.Child(strings.TrimSuffix(w.Ask.Path, "[0]"), 1, index)
	if m.redrive > 0 && w.State.Items.Distributed.Express {
		id += "." + strconv.Itoa(m.redrive+1)
	}
	return nodepath.RunID(id)
}

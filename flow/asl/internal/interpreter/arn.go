package interpreter

import (
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/flow/asl/internal/expression"
)

// The names that AWS gives to what a distributed Map makes. A run that was started
// without AWS's names has the ids of runs instead.

// world returns the begin of the ARNs of whatever belongs to the execution, up to
// the account; false when the execution has no ARN.
func (w *surroundings) world() (string, bool) {
	parts := strings.SplitN(w.attributes().ExecutionID, ":", 6)
	if len(parts) < 6 || parts[0] != "arn" || parts[2] != "states" {
		return "", false
	}
	return strings.Join(parts[:5], ":"), true
}

// labelled returns the name of the state machine that a distributed Map's items run
// on.
func (w *surroundings) labelled() string { return w.attributes().StateMachineName + w.label() }

// label is what tells that machine from the one it is part of. Without a Label it is
// made as AWS makes it, or is the state's name where nothing else is AWS's.
func (w *surroundings) label() string {
	d := w.State.Items.Distributed
	if _, ok := w.world(); !ok && !d.Named {
		return "/" + w.State.Name
	}
	return "/" + d.Label
}

func (w *surroundings) mapRunARN(id string) string {
	if world, ok := w.world(); ok {
		return world + ":mapRun:" + w.labelled() + ":" + id
	}
	return w.Ask.Run.ID + "/" + w.labelled() + ":" + id
}

// childName returns the name of the execution of one item, or batch.
func childName(mapRun string, index int) string {
	return expression.NamedUUID(mapRun + "/" + strconv.Itoa(index))
}

// childARN returns its ARN.
func (w *surroundings) childARN(m *mapSettings, index int) string {
	world, ok := w.world()
	name := childName(m.ID, index)
	switch {
	case !ok:
		return w.childRun(index)
	case w.State.Items.Distributed.Express:
		return world + ":express:" + w.labelled() + ":" + name + ":" + m.ID
	default:
		return world + ":execution:" + w.labelled() + ":" + name
	}
}

// childRun returns the id of the run that an item runs as: trip/Ship[3]. The flow
// that is asked is the map run, trip/Ship[0], or trip/Ship@2[0] at a second attempt.
func (w *surroundings) childRun(index int) string {
	return w.Ask.Run.ID + "/" + strings.TrimSuffix(w.Ask.Path, "[0]") + "[" + strconv.Itoa(index) + "]"
}

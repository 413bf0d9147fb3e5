package asl

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
	"strings"
)

// The names that AWS gives to what a distributed Map makes. A run that was started
// without AWS's names has the ids of runs instead.

// world returns the begin of the ARNs of whatever belongs to the execution, up to
// the account; false when the execution has no ARN.
func (w *interpreter) world() (string, bool) {
	parts := strings.SplitN(w.attributes().ExecutionID, ":", 6)
	if len(parts) < 6 || parts[0] != "arn" || parts[2] != "states" {
		return "", false
	}
	return strings.Join(parts[:5], ":"), true
}

// labelled returns the name of the state machine that a distributed Map's items run
// on.
func (w *interpreter) labelled() string { return w.attributes().StateMachineName + w.label() }

// label is what tells that machine from the one it is part of. Without a Label it is
// made as AWS makes it, or is the state's name where nothing else is AWS's.
func (w *interpreter) label() string {
	d := w.state.items.distributed
	if _, ok := w.world(); !ok && !d.named {
		return "/" + w.state.name
	}
	return "/" + d.label
}

func (w *interpreter) mapRunARN(id string) string {
	if world, ok := w.world(); ok {
		return world + ":mapRun:" + w.labelled() + ":" + id
	}
	return w.ask.Run.ID + "/" + w.labelled() + ":" + id
}

// childName returns the name of the execution of one item, or batch.
func childName(mapRun string, index int) string { return namedUUID(mapRun + "/" + strconv.Itoa(index)) }

// namedUUID returns the UUID that a name always has (version 8).
func namedUUID(name string) string {
	sum := sha256.Sum256([]byte(name))
	return uuidOf(binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16]), 8)
}

// childARN returns its ARN.
func (w *interpreter) childARN(m *mapSettings, index int) string {
	world, ok := w.world()
	name := childName(m.ID, index)
	switch {
	case !ok:
		return w.childRun(index)
	case w.state.items.distributed.express:
		return world + ":express:" + w.labelled() + ":" + name + ":" + m.ID
	default:
		return world + ":execution:" + w.labelled() + ":" + name
	}
}

// childRun returns the id of the run that an item runs as: trip/Ship[3]. The flow
// that is asked is the map run, trip/Ship[0], or trip/Ship@2[0] at a second attempt.
func (w *interpreter) childRun(index int) string {
	return w.ask.Run.ID + "/" + strings.TrimSuffix(w.ask.Path, "[0]") + "[" + strconv.Itoa(index) + "]"
}

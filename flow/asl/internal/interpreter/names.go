package interpreter

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/flow/asl/internal/expression"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
)

// nodeName returns the name of a state's nth node.
func nodeName(state string, n int) string {
	escaped := nodeEscaper.Replace(state)
	if _, number := splitVisit(state); n <= 1 && number == "" {
		return escaped
	}
	return escaped + "#" + strconv.Itoa(max(n, 1))
}

var (
	nodeEscaper   = strings.NewReplacer("~", "~0", "/", "~1")
	nodeUnescaper = strings.NewReplacer("~1", "/", "~0", "~")
)

// splitVisit cuts the visit's number off a node's name.
func splitVisit(name string) (rest, number string) {
	i := strings.LastIndexByte(name, '#')
	if i < 0 || i == len(name)-1 || strings.Trim(name[i+1:], "0123456789") != "" {
		return name, ""
	}
	return name[:i], name[i+1:]
}

// stateOf returns the name of the state that a node was named after.
func stateOf(node string) string {
	name, _ := splitVisit(node)
	return nodeUnescaper.Replace(name)
}

// nodeState returns the state that a part of a path stands for, and the index of
// the child if it has one, else -1.
func (w *surroundings) nodeState(part string) (*syntax.State, int) {
	if open := strings.LastIndexByte(part, '['); open > 0 && strings.HasSuffix(part, "]") {
		if n, ok := expression.AsWhole(part[open+1 : len(part)-1]); ok {
			if s := w.Machine.States[stateOf(part[:open])]; s != nil {
				return s, int(n)
			}
		}
	}
	return w.Machine.States[stateOf(part)], -1
}

// ofMapRun reports whether a path leads into a map run, whose executions have
// histories of their own.
func (w *surroundings) ofMapRun(parts []string) bool {
	return slices.ContainsFunc(parts[:len(parts)-1], func(part string) bool {
		s, index := w.nodeState(part)
		return s != nil && index >= 0 && s.Items != nil && s.Items.Distributed != nil
	})
}

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

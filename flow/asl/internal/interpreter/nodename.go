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

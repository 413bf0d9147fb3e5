package check

import (
	"slices"
	"strings"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// contextMembers are the members of the objects in the context object.
var contextMembers = map[string][]string{
	"":             {"Execution", "StateMachine", "State", "Task", "Map"},
	"Execution":    {"Id", "Input", "Name", "RoleArn", "StartTime", "RedriveCount", "RedriveTime"},
	"StateMachine": {"Id", "Name"},
	"State":        {"Name", "EnteredTime", "RetryCount"},
	"Task":         {"Token"},
	"Map":          {"Item"},
	"Map.Item":     {"Index", "Value", "Key", "Source"},
}

// contextPath warns of a path into the context object that names nothing there.
func (c *checker) contextPath(n *node, path string) {
	rest, is := strings.CutPrefix(path, "$$.")
	if !is {
		return
	}
	at := ""
	for part := range strings.SplitSeq(rest, ".") {
		members := contextMembers[at]
		if members == nil || strings.ContainsAny(part, "[]*?@()'\" ") || part == "" {
			return
		}
		if !slices.Contains(members, part) {
			c.Fixf(ruleContext, n, c.DidYouMean(ruleContext, part, members, func(name string) string {
				return strings.TrimSuffix("$$."+at, ".") + "." + name
			}), "the context object has no %s", jsontext.Cut("$$."+rest))
			return
		}
		at = strings.TrimPrefix(at+"."+part, ".")
	}
}

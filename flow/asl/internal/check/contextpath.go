package check

import (
	"slices"
	"strings"

	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
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
	if rest, is := strings.CutPrefix(path, "$$."); is {
		c.contextMember(n, "$$", strings.Split(rest, "."))
	}
}

// contextMember warns of members of the context object that do not exist, or not in this state. The root is how the
// query language writes the context object.
func (c *checker) contextMember(n *node, root string, parts []string) {
	at := ""
	for _, part := range parts {
		members := contextMembers[at]
		if members == nil || strings.ContainsAny(part, "[]*?@()'\" ") || part == "" {
			break
		}
		if !slices.Contains(members, part) {
			around := strings.TrimSuffix(root+"."+at, ".")
			c.Fixf(ruleContext, n, c.DidYouMean(ruleContext, part, members, func(name string) string {
				return around + "." + name
			}), "the context object has no %s", jsontext.Cut(root+"."+strings.Join(parts, ".")))
			return
		}
		at = strings.TrimPrefix(at+"."+part, ".")
	}
	switch {
	case c.reverting: // the state is another one by then
	case at == "Task.Token" && !c.waitsForToken():
		c.Fixf(ruleContext, n, "let its Resource end in "+syntax.PatternToken, "%s.Task.Token is there only in a Task that "+
			"waits for its token", root)
	case strings.HasPrefix(at, "Map") && !inMap(n):
		c.Valuef(ruleContext, n, "%s.%s is there only in a Map state and the states in it", root, at)
	}
}

// waitsForToken reports whether the state that is being read is, or may be, a Task that another party ends by a token.
func (c *checker) waitsForToken() bool {
	if c.state == nil {
		return false
	}
	resource := c.state.Get("Resource")
	return resource != nil && (resource.Kind != jsontext.String || strings.Contains(resource.Str, "${") ||
		strings.Contains(resource.Str, ":activity:") || strings.HasSuffix(resource.Str, syntax.PatternToken))
}

// inMap reports whether a value stands in a Map state.
func inMap(n *node) bool {
	for ; n != nil; n = n.Parent {
		if kind, is := kindOf(n); is && kind == syntax.MapState {
			return true
		}
	}
	return false
}

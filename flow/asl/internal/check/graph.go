package check

import (
	"slices"
	"strings"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/internal/digraph"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// ends reports a level that a run cannot leave.
func ends(c *checker, list *node) {
	for _, name := range c.scope.names {
		n := c.scope.states[name]
		kind, known := kindOf(n)
		end := n.Get("End")
		if !known || kind == syntax.SucceedState || kind == syntax.FailState || end != nil &&
			(end.Kind != jsontext.Bool || end.IsTrue()) {
			return
		}
	}
	c.Fixf(ruleEnd, list, `give a state "End": true, or add one of Type Succeed or Fail`, "no state ends the machine")
}

// unreachable warns of states that no transition leads to.
func unreachable(c *checker, level *node) {
	start := level.Get("StartAt")
	if start == nil || c.scope.lost || c.scope.states[start.Str] == nil {
		return // the intended transition is unknown
	}
	reached := reach([]string{start.Str}, func(name string) []string {
		if n := c.scope.states[name]; n != nil {
			return successors(n)
		}
		return nil
	})
	rule := ruleUnreachable
	if c.Strict || c.ForAWS {
		strict := *rule
		strict.Severity = flow.SeverityError
		rule = &strict
	}
	for _, name := range c.scope.names {
		if n := c.scope.states[name]; !reached[name] {
			c.Valuef(rule, n, "no transition leads to the state %s", jsontext.Quote(name))
		}
	}
}

// reach returns the names that can be reached from some names, including these.
func reach(queue []string, next func(string) []string) map[string]bool {
	reached := map[string]bool{}
	for ; len(queue) > 0; queue = queue[1:] {
		if name := queue[0]; !reached[name] {
			reached[name] = true
			queue = append(queue, next(name)...)
		}
	}
	return reached
}

// successors returns the names of the states that may follow; some of them may not exist.
func successors(n *node) []string {
	names := appendText(appendText(nil, n.Get("Next")), n.Get("Default"))
	for _, list := range []*node{n.Get("Choices"), n.Get("Catch")} {
		if list == nil {
			continue
		}
		for _, item := range list.Items {
			names = appendText(names, item.Get("Next"))
		}
	}
	return names
}

func appendText(texts []string, n *node) []string {
	if n != nil && n.Kind == jsontext.String {
		texts = append(texts, n.Str)
	}
	return texts
}

// endlessLoops warns of loops of states that only compute and that a run cannot leave.
func endlessLoops(c *checker) {
	var loops [][]string
	digraph.Loops(c.scope.names, func(name string) []string {
		return slices.DeleteFunc(successors(c.scope.states[name]),
			func(next string) bool { return c.scope.states[next] == nil })
	}, func(loop []string) {
		if isEndless(c, loop) {
			loops = append(loops, loop)
		}
	})
	for _, loop := range loops {
		first := slices.MinFunc(loop, func(a, b string) int { return c.scope.states[a].At - c.scope.states[b].At })
		c.Fixf(ruleEndlessLoop, c.scope.states[first], "let one of them lead to a state that ends, waits or works",
			"the loop of %s only computes and is never left", among(loop))
	}
}

// isEndless reports whether nothing leads out of a loop of states that only
// compute.
func isEndless(c *checker, loop []string) bool {
	inside := make(map[string]bool, len(loop))
	for _, name := range loop {
		inside[name] = true
	}
	for _, name := range loop {
		n := c.scope.states[name]
		kind, known := kindOf(n)
		if !known || kind != syntax.PassState && kind != syntax.ChoiceState || n.Get("End").IsTrue() {
			return false
		}
		next := successors(n)
		if len(next) == 0 {
			return false
		}
		if slices.ContainsFunc(next, func(to string) bool { return !inside[to] }) {
			return false
		}
	}
	return true
}

// among lists names in a message, and shortens a long list.
func among(names []string) string {
	const most = 5
	names = slices.Sorted(slices.Values(names))
	quoted := make([]string, 0, most)
	for i, name := range names {
		if i == most {
			return strings.Join(quoted, ", ") + ", …"
		}
		quoted = append(quoted, jsontext.Quote(name))
	}
	return strings.Join(quoted, ", ")
}

package check

import (
	"strconv"

	"github.com/ebbflow/ebb/flow/sm4c/internal/syntax"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// actionRule is the rule for an action.
type actionRule struct{}

func (actionRule) read(c *checker, n *node) *syntax.Action {
	a := &syntax.Action{Key: childKey(n)}
	if n.Kind != jsontext.Object {
		c.Valuef(ruleType, n, "%s must be an action, found %s", nameOf(n), n.Kind)
		return a
	}
	t := get(n, "type")
	if t == nil {
		c.Valuef(ruleRequired, n, "an action needs type")
		return a
	}
	a.Kind = actionTypes.read(c, t)
	if _, known := actionTypes.find(text(n, "type")); known {
		actionForms[a.Kind].fill(c, n, a)
	}
	return a
}

// oneAction is the rule for the action of a foreach.
type oneAction struct{ actionRule }

func (r oneAction) read(c *checker, n *node) []*syntax.Action {
	return []*syntax.Action{r.actionRule.read(c, n)}
}

// childKey returns the key of a child's result: the child's name, or its index.
func childKey(n *node) string {
	if name := text(n, "name"); name != "" {
		return name
	}
	return strconv.Itoa(n.Index)
}

// checkChildren reports children with the same name.
func checkChildren(c *checker, n *node, _ *syntax.Action) {
	seen := map[string]bool{}
	for _, child := range items(n, "actions") {
		key := childKey(child)
		if seen[key] {
			c.Valuef(ruleChildOnce, child, "there are two children named %s", quote(key))
		}
		seen[key] = true
	}
}

// checkCount reports an n that does not fit the completion type.
func checkCount(c *checker, n *node, a *syntax.Action) {
	count, all := get(n, "n"), len(items(n, "actions"))
	some := a.Completion == syntax.CompleteSome
	switch {
	case some && count == nil:
		c.Valuef(ruleCount, n, "a parallel of type n_of_m needs n")
	case some && a.Need > all:
		c.Valuef(ruleCount, count, "n is %s, but there are %d actions", count.Str, all)
	case !some && count != nil:
		c.Valuef(ruleUnused, count, "n has no effect without \"completionType\": \"n_of_m\"")
	}
	switch a.Completion {
	case syntax.CompleteFirst:
		a.Need = 1
	case syntax.CompleteAll:
		a.Need = all
	case syntax.CompleteSome:
	}
}

// checkCall reports attributes of calls that have no effect.
func checkCall(c *checker, n *node, a *syntax.Action) {
	a.Waits, c.calls[a] = c.waitsFor(n), n
	timeout, revert := get(n, "timeout"), get(n, "revert")
	if a.Timed = timeout != nil; a.Timed && !a.Waits {
		c.Fixf(ruleUnused, timeout, `add "waitForCompletion": true`, "the timeout has no effect: the call is not waited for")
	}
	switch {
	case revert == nil:
	case a.Function != nil && a.Function.Formula != nil:
		c.Valuef(ruleUnused, revert, "an expression does nothing that could be undone")
	case !a.Waits && !a.Revert.None:
		c.Fixf(ruleRevertWaits, revert, `add "waitForCompletion": true`, "revert needs a call that is waited for")
	}
}

// waitsFor reports whether the machine waits for the call.
func (c *checker) waitsFor(n *node) bool {
	if w := get(n, "waitForCompletion"); w != nil {
		return w.IsTrue()
	}
	return c.Waits
}

func placeHandler(c *checker, n *node, h *syntax.Handler) { h.At = c.offset(n) }

// offset returns where a value stands in the definition, -1 if it is in a document that was loaded.
func (c *checker) offset(n *node) int {
	if c.Source.File != c.main.File {
		return -1
	}
	return n.At
}

// checkLast warns of error handlers after a handler without a condition.
func checkLast(c *checker, n *node, _ *syntax.Handler) {
	if n.Parent.Kind != jsontext.Array {
		return
	}
	for _, before := range n.Parent.Items[:n.Index] {
		if get(before, "condition") == nil {
			c.Valuef(ruleUnusedCatch, n, "this error handler is never used: one before it has no condition")
			return
		}
	}
}

// handled warns of a result handler without a result.
func handled[T any](action, handler string) func(*checker, *node, *T) {
	return func(c *checker, n *node, _ *T) {
		if h := get(n, handler); h != nil && get(n, action) == nil {
			c.Valuef(ruleNoAction, h, "%s is not applied: there is no %s", handler, action)
		}
	}
}

// revertRule is the rule for how a call is undone, which is Ebb's addition to the language. False makes the call a
// pivot, and "none" says that it has no effect.
type revertRule struct{}

// revertNone says that there is nothing to undo.
const revertNone = "none"

func isNone(n *node) bool { return n.Kind == jsontext.String && n.Str == revertNone }

func (revertRule) read(c *checker, n *node) *syntax.Revert {
	c.extension(n, "revert")
	if isNone(n) {
		return &syntax.Revert{None: true}
	}
	if n.Kind != jsontext.Bool {
		return revertObject.read(c, n)
	}
	if n.IsTrue() {
		c.Fixf(ruleValue, n, `name the function that undoes the call: {"functionName": …}`,
			"revert must be an object, false, or \"none\"")
	}
	return &syntax.Revert{Pivot: true}
}

// revertSubflowRule is the rule for whether the run of a subflow is undone with the machine.
type revertSubflowRule struct{}

func (revertSubflowRule) read(c *checker, n *node) *syntax.Revert {
	c.extension(n, "revert")
	if isNone(n) {
		return &syntax.Revert{None: true}
	}
	return &syntax.Revert{Pivot: !c.Bool(n)}
}

// checkRevert reports a revert that does nothing.
func checkRevert(c *checker, n *node, r *syntax.Revert) {
	if r.Function != nil && r.Function.Formula != nil {
		c.Valuef(ruleValue, n, "an expression cannot undo anything")
	}
}

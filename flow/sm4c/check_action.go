package sm4c

import (
	"strconv"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// actionRule is an action.
type actionRule struct{}

func (actionRule) read(c *checker, n *node) *action {
	a := &action{key: childKey(n)}
	if n.Kind != jsontext.Object {
		c.Valuef(ruleType, n, "%s must be an action, found %s", nameOf(n), n.Kind)
		return a
	}
	t := get(n, "type")
	if t == nil {
		c.Valuef(ruleRequired, n, "an action needs type")
		return a
	}
	a.kind = actionTypes.read(c, t)
	if _, known := actionTypes.find(text(n, "type")); known {
		actionForms[a.kind].fill(c, n, a)
	}
	return a
}

// oneAction is the action of a foreach.
type oneAction struct{ actionRule }

func (r oneAction) read(c *checker, n *node) []*action { return []*action{r.actionRule.read(c, n)} }

// childKey returns the name under which a child's result is found: its own, or
// its index.
func childKey(n *node) string {
	if name := text(n, "name"); name != "" {
		return name
	}
	return strconv.Itoa(n.Index)
}

// checkChildren is that no two children are known by one name.
func checkChildren(c *checker, n *node, _ *action) {
	seen := map[string]bool{}
	for _, child := range items(n, "actions") {
		key := childKey(child)
		if seen[key] {
			c.Valuef(ruleChildOnce, child, "there are two children named %s", quote(key))
		}
		seen[key] = true
	}
}

// checkCount is that n fits the completion type.
func checkCount(c *checker, n *node, a *action) {
	count, all := get(n, "n"), len(items(n, "actions"))
	some := a.completion == completeSome
	switch {
	case some && count == nil:
		c.Valuef(ruleCount, n, "a parallel of type n_of_m needs n")
	case some && a.need > all:
		c.Valuef(ruleCount, count, "n is %s, but there are %d actions", count.Str, all)
	case !some && count != nil:
		c.Valuef(ruleUnused, count, "n has no effect without \"completionType\": \"n_of_m\"")
	}
	switch a.completion {
	case completeFirst:
		a.need = 1
	case completeAll:
		a.need = all
	case completeSome:
	}
}

// checkCall looks at attributes of calls that have no effect.
func checkCall(c *checker, n *node, a *action) {
	a.waits = c.waitsFor(n)
	timeout, revert := get(n, "timeout"), get(n, "revert")
	if a.timed = timeout != nil; a.timed && !a.waits {
		c.Fixf(ruleUnused, timeout, `add "waitForCompletion": true`, "the timeout has no effect: the call is not waited for")
	}
	switch {
	case revert == nil:
	case a.function != nil && a.function.formula != nil:
		c.Valuef(ruleUnused, revert, "an expression does nothing that could be undone")
	case !a.waits:
		c.Fixf(ruleRevertWaits, revert, `add "waitForCompletion": true`, "revert needs a call that is waited for")
	}
}

// waitsFor reports whether a call is waited for.
func (c *checker) waitsFor(n *node) bool {
	if w := get(n, "waitForCompletion"); w != nil {
		return w.IsTrue()
	}
	return c.waits
}

// checkLast warns of error handlers behind one that takes all errors.
func checkLast(c *checker, n *node, _ *handler) {
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

// revertRule says how a call is undone: Ebb's addition to the language. False
// makes the call a point of no return.
type revertRule struct{}

func (revertRule) read(c *checker, n *node) *revert {
	c.extension(n, "revert")
	if n.Kind != jsontext.Bool {
		return revertObject.read(c, n)
	}
	if n.IsTrue() {
		c.Fixf(ruleValue, n, `name the function that undoes the call: {"functionName": …}`, "revert must be an object, or false")
	}
	return &revert{pivot: true}
}

// revertSubflowRule says whether the run of a subflow is undone with the
// machine.
type revertSubflowRule struct{}

func (revertSubflowRule) read(c *checker, n *node) *revert {
	c.extension(n, "revert")
	return &revert{pivot: !c.Bool(n)}
}

// checkRevert is that what undoes does something.
func checkRevert(c *checker, n *node, r *revert) {
	if r.function != nil && r.function.formula != nil {
		c.Valuef(ruleValue, n, "an expression cannot undo anything")
	}
}

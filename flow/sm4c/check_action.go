package sm4c

import (
	"strconv"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// actionRule is an action.
type actionRule struct{}

func (actionRule) check(c *checker, n *node) {
	if n.Kind != jsontext.Object {
		c.valuef(ruleType, n, "%s must be an action, found %s", nameOf(n), n.Kind)
		return
	}
	t := get(n, "type")
	if t == nil {
		c.valuef(ruleRequired, n, "an action needs type")
		return
	}
	if actionTypes.check(c, t); t.Means != nil {
		actionForms[jsontext.Meaning[word](t)].check(c, n)
	}
}

// typeOfAction returns what an action that was checked is.
func typeOfAction(n *node) actionType { return actionType(jsontext.Meaning[word](get(n, "type"))) }

// childKey returns the name under which a child's result is found: its own, or
// its index.
func childKey(n *node) string {
	if name := text(n, "name"); name != "" {
		return name
	}
	return strconv.Itoa(n.Index)
}

// childrenCheck is that no two children are known by one name.
type childrenCheck struct{}

func (childrenCheck) check(c *checker, n *node) {
	seen := map[string]bool{}
	for _, child := range items(n, "actions") {
		key := childKey(child)
		if seen[key] {
			c.valuef(ruleChildOnce, child, "there are two children named %s", quote(key))
		}
		seen[key] = true
	}
}

// countCheck is that n fits the completion type.
type countCheck struct{}

func (countCheck) check(c *checker, n *node) {
	count, all := get(n, "n"), len(items(n, "actions"))
	some := completion(jsontext.Meaning[word](get(n, "completionType"))) == completeSome
	switch {
	case some && count == nil:
		c.valuef(ruleCount, n, "a parallel of type n_of_m needs n")
	case some && jsontext.Meaning[int](count) > all:
		c.valuef(ruleCount, count, "n is %s, but there are %d actions", count.Str, all)
	case !some && count != nil:
		c.valuef(ruleUnused, count, "n has no effect without \"completionType\": \"n_of_m\"")
	}
}

// callCheck looks at attributes of calls that have no effect.
type callCheck struct{}

func (callCheck) check(c *checker, n *node) {
	if timeout := get(n, "timeout"); timeout != nil && !c.waitsFor(n) {
		c.fixf(ruleUnused, timeout, `add "waitForCompletion": true`, "the timeout has no effect: the call is not waited for")
	}
	revert := get(n, "revert")
	if revert == nil {
		return
	}
	def := jsontext.Meaning[*definition](get(n, "functionName"))
	switch {
	case def != nil && def.formula != nil:
		c.valuef(ruleUnused, revert, "an expression does nothing that could be undone")
	case !c.waitsFor(n):
		c.fixf(ruleRevertWaits, revert, `add "waitForCompletion": true`, "revert needs a call that is waited for")
	}
}

// waitsFor reports whether a call is waited for.
func (c *checker) waitsFor(n *node) bool {
	if w := get(n, "waitForCompletion"); w != nil {
		return w.IsTrue()
	}
	return c.waits
}

// lastHandler warns of error handlers behind one that takes all errors.
type lastHandler struct{}

func (lastHandler) check(c *checker, n *node) {
	if n.Parent.Kind != jsontext.Array {
		return
	}
	for _, before := range n.Parent.Items[:n.Index] {
		if get(before, "condition") == nil {
			c.valuef(ruleUnusedCatch, n, "this error handler is never used: one before it has no condition")
			return
		}
	}
}

// handled warns of a result handler without a result.
type handled struct{ action, handler string }

func (h handled) check(c *checker, n *node) {
	if handler := get(n, h.handler); handler != nil && get(n, h.action) == nil {
		c.valuef(ruleNoAction, handler, "%s is not applied: there is no %s", h.handler, h.action)
	}
}

// revertRule says how a call is undone: Ebb's addition to the language. False
// makes the call a point of no return.
type revertRule struct{}

func (revertRule) check(c *checker, n *node) {
	c.extension(n, "revert")
	switch n.Kind {
	case jsontext.Bool:
		if n.IsTrue() {
			c.fixf(ruleValue, n, `name the function that undoes the call: {"functionName": …}`, "revert must be an object, or false")
		}
	default:
		revertObject.check(c, n)
	}
}

// revertSubflowRule says whether the run of a subflow is undone with the
// machine.
type revertSubflowRule struct{}

func (revertSubflowRule) check(c *checker, n *node) {
	c.extension(n, "revert")
	boolRule{}.check(c, n)
}

// revertCheck is that what undoes does something.
type revertCheck struct{}

func (revertCheck) check(c *checker, n *node) {
	if def := jsontext.Meaning[*definition](get(n, "functionName")); def != nil && def.formula != nil {
		c.valuef(ruleValue, n, "an expression cannot undo anything")
	}
}

package asl

import (
	"slices"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// resourceRule is a resource. Its nodes mean a resource.
type resourceRule struct{}

func (resourceRule) check(c *checker, n *node) {
	if c.hasPlaceholder(n) || !c.isText(n) {
		return
	}
	r, ok := parseResource(n.Str)
	if !ok {
		c.fixf(ruleResource, n, "such as exec:./book, https://example.org/book or a Lambda function's ARN",
			"the resource %s is not recognized", jsontext.Quote(n.Str))
		return
	}
	r.at = n.At
	n.Means = r
	switch patterns, known := r.patterns(); {
	case c.express && r.activity:
		c.valuef(ruleExpress, n, "Express state machine does not support Activity ARN")
	case c.express && r.pattern == patternToken:
		c.valuef(ruleExpress, n, "Express state machine does not support '%s' service integration", r.pattern)
	case c.express && r.pattern != "":
		c.valuef(ruleExpress, n, "Express state machine does not support '%s' service integration", patternSync)
	case r.pattern != "" && known && !slices.Contains(patterns, r.pattern):
		c.fixf(ruleIntegration, n, patternFix(patterns), "the service %s has no pattern %s", r.service, r.pattern)
	}
}

func patternFix(patterns []string) string {
	if len(patterns) == 0 {
		return "leave it out"
	}
	return "leave it out, or use " + strings.Join(patterns, " or ")
}

// heartbeatCheck compares the two limits of a task's time.
type heartbeatCheck struct{}

func (heartbeatCheck) check(c *checker, n *node) {
	timeout, heartbeat := n.Get("TimeoutSeconds"), n.Get("HeartbeatSeconds")
	if t, h := jsontext.Meaning[int64](timeout), jsontext.Meaning[int64](heartbeat); t > 0 && h >= t {
		c.valuef(ruleHeartbeat, heartbeat, "HeartbeatSeconds must be less than TimeoutSeconds")
	}
}

// taskTokenCheck warns of tasks that wait for a token nobody is told.
type taskTokenCheck struct{}

func (taskTokenCheck) check(c *checker, n *node) {
	r := jsontext.Meaning[resource](n.Get("Resource"))
	if r.pattern != patternToken {
		return
	}
	for _, field := range []string{"Parameters", "Arguments"} {
		if v := n.Get(field); v != nil && mentions(v, "Task.Token") {
			return
		}
	}
	fix := `such as "token.$": "$$.Task.Token" in Parameters`
	if c.language == inJSONata {
		fix = `such as "token": "{% $states.context.Task.Token %}" in Arguments`
	}
	c.fixf(ruleTaskToken, n.Get("Resource"), fix, "the task waits for its token to come back but does not hand it on")
}

// mentions reports whether some text in a value has a part, or is the whole
// context, of which the part may be a member.
func mentions(n *node, part string) bool {
	if n.Kind == jsontext.String {
		return strings.Contains(n.Str, part) || strings.TrimSpace(n.Str) == "$$" || strings.Contains(n.Str, "$states.context %}")
	}
	for _, m := range n.Members {
		if mentions(m.Value, part) {
			return true
		}
	}
	return slices.ContainsFunc(n.Items, func(item *node) bool { return mentions(item, part) })
}

// credentialsRule are the Credentials of a task: a payload template with a
// RoleArn in it.
type credentialsRule struct{}

func (credentialsRule) check(c *checker, n *node) {
	switch {
	case n.Kind != jsontext.Object:
		c.valuef(ruleType, n, "%s must be an object, found %s", nameOf(n), n.Kind)
		return
	case n.Get("RoleArn") == nil && (c.language == inJSONata || n.Get("RoleArn.$") == nil):
		c.valuef(ruleCredentials, n, "The field 'RoleArn' is required but was missing")
	}
	payloadRule{}.check(c, n)
}

// revertRule says how a Task state is undone: a resource, an object, or false.
type revertRule struct{}

func (revertRule) check(c *checker, n *node) {
	switch {
	case c.strict:
		c.valuef(ruleExtension, n, "Revert is Ebb's addition to the language and refused by strict validation")
	case n.Kind == jsontext.String:
		resourceRule{}.check(c, n)
	case n.Kind == jsontext.Object:
		c.reverting = true
		revertObject.check(c, n)
		c.reverting = false
	case n.Kind != jsontext.Bool || n.IsTrue():
		c.fixf(ruleType, n, `such as "exec:./cancel"`, "Revert must be a resource, or an object with Resource, found %s", n.Kind)
	}
}

// catchRevertRule says what a catcher has undone before it goes on.
type catchRevertRule struct{}

// The words of a catcher's Revert.
const (
	revertInside = "inside"
	revertAll    = "all"
)

var catchRevertWords = wordRule{revertInside, revertAll}

func (catchRevertRule) check(c *checker, n *node) {
	switch {
	case c.strict:
		c.valuef(ruleExtension, n, "Revert is Ebb's addition to the language and refused by strict validation")
	case n.Kind == jsontext.Object:
		catchRevertObject.check(c, n)
		to := n.Get("To")
		if to == nil || to.Kind != jsontext.String {
			return
		}
		if state := c.scope.states[to.Str]; state != nil && !canBeUndone(state) {
			c.fixf(ruleRevertTo, to, "name a Task with a Revert, or a state with one inside",
				"nothing of the state %s can be undone, so nothing can be undone back to it", jsontext.Quote(to.Str))
		}
	default:
		catchRevertWords.check(c, n)
		if state := c.scope.states[c.scope.current]; isText(n, revertInside) && !canBeUndone(state) {
			c.valuef(ruleRevertInside, n, "nothing of the state can be undone")
		}
	}
	if slices.Contains(textsOf(n.Parent.Get("ErrorEquals")), atom.CodeRevertFailed) {
		c.valuef(ruleRevertFailed, n, "a catcher of %s has no Revert, for something could not be undone", atom.CodeRevertFailed)
	}
}

// canBeUndone reports whether some Task of a state, or inside of it, has a Revert.
func canBeUndone(state *node) bool {
	if r := state.Get("Revert"); r != nil && r.Kind != jsontext.Bool {
		return true
	}
	levels := state.List("Branches")
	if processor := processorOf(state); processor != nil {
		levels = append(slices.Clone(levels), processor)
	}
	for _, level := range levels {
		states := level.Get("States")
		if states != nil && slices.ContainsFunc(states.Members, func(m jsontext.Member) bool { return canBeUndone(m.Value) }) {
			return true
		}
	}
	return false
}

// revertRetryCheck is what the Retry of a Revert must be.
type revertRetryCheck struct{}

func (revertRetryCheck) check(c *checker, n *node) {
	retry := n.Get("Retry")
	list := n.List("Retry")
	if len(list) > 1 || len(list) == 1 && !slices.Equal(textsOf(list[0].Get("ErrorEquals")), []string{statesAll}) {
		c.fixf(ruleRevertRetry, retry, `such as "Retry": [{"ErrorEquals": ["States.ALL"]}]`,
			"what undoes a state is tried again whatever the error: Retry has one entry, for States.ALL")
	}
}

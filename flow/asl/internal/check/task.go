package check

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl/internal/expression"
	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/internal/awsshape"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// resourceRule accepts a resource.
type resourceRule struct{}

func (resourceRule) read(c *checker, n *node) syntax.Resource {
	substitute(n)
	if c.Placeholders && n.Kind == jsontext.String && strings.Contains(n.Str, "${") {
		r, _ := syntax.ParseResource(n.Str)
		r.At = n.At
		return r
	}
	if hasPlaceholder(c, n) || !c.isText(n) {
		return syntax.Resource{}
	}
	r, ok := syntax.ParseResource(n.Str)
	if !ok {
		c.Fixf(ruleResource, n, "such as exec:./book, https://example.org/book or a Lambda function's ARN",
			"the resource %s is not recognized", jsontext.Quote(n.Str))
		return r
	}
	r.At = n.At
	if form, whole := wholeARN(n.Str); !whole {
		c.Fixf(ruleARN, n, "write "+form, "the ARN %s is not complete", jsontext.Quote(n.Str))
	}
	if pattern := r.LambdaPattern(); pattern != "" {
		c.Fixf(ruleKnownIntegration, n, "write arn:aws:states:::lambda:invoke"+syntax.PatternToken+
			", and FunctionName in its parameters", "the ARN of a Lambda function has no pattern %s", pattern)
	}
	switch patterns, known := patternsOf(&r); {
	case c.Express && r.Activity:
		c.Valuef(ruleExpress, n, "Express state machine does not support Activity ARN")
	case c.Express && r.Pattern == syntax.PatternToken:
		c.Valuef(ruleExpress, n, "Express state machine does not support '%s' service integration", r.Pattern)
	case c.Express && r.Pattern != "":
		c.Valuef(ruleExpress, n, "Express state machine does not support '%s' service integration", syntax.PatternSync)
	case r.Pattern != "" && known && !slices.Contains(patterns, r.Pattern):
		c.Fixf(ruleIntegration, n, patternFix(patterns), "%s:%s has no pattern %s", r.Service,
			strings.TrimSuffix(r.Action, r.Pattern), r.Pattern)
	}
	return r
}

// wholeARN reports whether a resource that may be the ARN of a Lambda function or of an activity is whole, and returns
// the form of such an ARN.
func wholeARN(resource string) (form string, whole bool) {
	arn := append(strings.Split(resource, ":"), make([]string, 7)...)
	switch {
	case strings.Contains(resource, "${") || arn[0] != "arn":
		return "", true
	case arn[2] == "lambda":
		form = "arn:aws:lambda:REGION:ACCOUNT:function:NAME"
		whole = arn[5] == "function"
	case arn[2] == "states" && slices.Contains(arn[3:6], "activity"):
		form = "arn:aws:states:REGION:ACCOUNT:activity:NAME"
		whole = arn[5] == "activity"
	default:
		return "", true
	}
	return form, whole && arn[3] != "" && arn[4] != "" && arn[6] != ""
}

// tokenServices have actions that may wait for a token (AWS: Integrating optimized services with Step Functions).
var tokenServices = []string{"apigateway", "bedrock", "ecs", "eks", "events", "lambda", "sns", "sqs", "states"}

// patternsOf returns the patterns that the action of a resource has, and whether they are known.
func patternsOf(r *syntax.Resource) (patterns []string, known bool) {
	if strings.HasPrefix(r.Service, "aws-sdk:") {
		return []string{syntax.PatternToken}, true
	}
	action := strings.TrimSuffix(r.Action, r.Pattern)
	if !strings.HasPrefix(r.URI, "arn:") || integrations()[r.Service+":"+action] == nil {
		return nil, false
	}
	if awsshape.IsJob(r.Service, action) {
		patterns = append(patterns, syntax.PatternSync)
	}
	if r.Service == "states" {
		patterns = append(patterns, syntax.PatternSync2)
	}
	if slices.Contains(tokenServices, r.Service) {
		patterns = append(patterns, syntax.PatternToken)
	}
	return patterns, true
}

func patternFix(patterns []string) string {
	if len(patterns) == 0 {
		return "leave it out"
	}
	return "leave it out, or use " + strings.Join(patterns, " or ")
}

// checkTask compares the two time limits of a task. It warns of a task that waits for a token but passes the token
// to no party.
func checkTask(c *checker, n *node, s *syntax.State) {
	t := s.Task
	if t.Timeout.Fixed > 0 && t.Heartbeat.Fixed >= t.Timeout.Fixed {
		c.Valuef(ruleHeartbeat, n.Get("HeartbeatSeconds"), "HeartbeatSeconds must be less than TimeoutSeconds")
	}
	if credentials := n.Get("Credentials"); t.Activity && credentials != nil {
		c.Valuef(ruleCredentials, credentials, "Credentials are not for activities")
	}
	if !t.Timeout.Said {
		t.Timeout.Fixed = c.Profile.Rules().TaskTimeout
	}
	t.Machine = machineStarted(n, t)
	checkIntegration(c, n, t)
	if t.Pattern != syntax.PatternToken {
		return
	}
	for _, field := range []string{"Parameters", "Arguments"} {
		if v := n.Get(field); v != nil && mentions(v, "Task.Token") {
			return
		}
	}
	fix := `such as "token.$": "$$.Task.Token" in Parameters`
	if c.language == syntax.JSONata {
		fix = `such as "token": "{% $states.context.Task.Token %}" in Arguments`
	}
	c.Fixf(ruleTaskToken, n.Get("Resource"), fix, "the task waits for its token to come back but does not hand it on")
}

// mentions reports whether a text in a value contains part, or is the whole context object, which may contain part.
func mentions(n *node, part string) bool {
	if n.Kind == jsontext.String {
		return strings.Contains(n.Str, part) || strings.TrimSpace(n.Str) == "$$" ||
			strings.Contains(n.Str, "$states.context %}")
	}
	for _, m := range n.Members {
		if mentions(m.Value, part) {
			return true
		}
	}
	return slices.ContainsFunc(n.Items, func(item *node) bool { return mentions(item, part) })
}

// credentialsRule accepts the Credentials of a task: a payload template with a RoleArn.
type credentialsRule struct{}

func (credentialsRule) read(c *checker, n *node) expression.Payload {
	switch {
	case !c.IsObject(n):
		return nil
	case n.Get("RoleArn") == nil && (c.language == syntax.JSONata || n.Get("RoleArn.$") == nil):
		c.Valuef(ruleCredentials, n, "The field 'RoleArn' is required but was missing")
	}
	return payloadRule{}.read(c, n)
}

// revertRule defines how a Task state is undone. It is a resource, an object, false for a point of no return, or "none"
// for a task without effect.
type revertRule struct{}

// revertNone says that there is nothing to undo.
const revertNone = "none"

func (revertRule) read(c *checker, n *node) *syntax.Revert {
	c.extension(n)
	switch {
	case isText(n, revertNone):
		return &syntax.Revert{None: true}
	case n.Kind == jsontext.String:
		return &syntax.Revert{Resource: resourceRule{}.read(c, n)}
	case n.Kind == jsontext.Object:
		c.reverting = true
		defer func() { c.reverting = false }()
		return revertObject.read(c, n)
	case n.Kind != jsontext.Bool || n.IsTrue():
		c.Fixf(ruleType, n, `such as "exec:./cancel"`,
			"Revert must be a resource, an object with Resource, false, or \"none\", found %s", n.Kind)
	}
	return &syntax.Revert{Never: true}
}

// extension reports a Revert, which AWS does not have.
func (c *checker) extension(n *node) {
	rule := *ruleExtension
	switch {
	case c.Strict:
	case c.ForAWS:
		rule.Severity = flow.SeverityWarning
	default:
		return
	}
	c.Valuef(&rule, n, "Revert is Ebb's addition to the language")
}

// catchRevertRule accepts the Revert of a catcher, which names what is undone before the machine continues.
type catchRevertRule struct{}

// The words of a catcher's Revert.
const (
	revertInside = "inside"
	revertAll    = "all"
)

var catchRevertWords = wordRule{revertInside, revertAll}

func (catchRevertRule) read(c *checker, n *node) *syntax.Compensation {
	read := &syntax.Compensation{}
	c.extension(n)
	if n.Kind == jsontext.Object {
		catchRevertObject.fill(c, n, read)
		to := n.Get("To")
		if to == nil || to.Kind != jsontext.String {
			return read
		}
		if state := c.scope.states[to.Str]; state != nil && !canBeUndone(state) {
			c.Fixf(ruleRevertTo, to, "name a Task with a Revert, or a state with one inside",
				"nothing of the state %s can be undone, so nothing can be undone back to it", jsontext.Quote(to.Str))
		}
		if read.To != nil {
			read.To.Repeats = true // its visits are counted, because the last one must be known
		}
	} else {
		catchRevertWords.read(c, n)
		read.Inside = isText(n, revertInside)
		if state := c.scope.states[c.scope.current]; read.Inside && !canBeUndone(state) {
			c.Valuef(ruleRevertInside, n, "nothing of the state can be undone")
		}
	}
	if slices.Contains(textsOf(n.Parent.Get("ErrorEquals")), atom.CodeRevertFailed) {
		c.Valuef(ruleRevertFailed, n, "a catcher of %s has no Revert, for something could not be undone",
			atom.CodeRevertFailed)
	}
	return read
}

// canBeUndone reports whether a Task of a state, or a Task inside it, has a Revert.
func canBeUndone(state *node) bool {
	if r := state.Get("Revert"); r != nil && r.Kind != jsontext.Bool && !isText(r, revertNone) {
		return true
	}
	levels := state.List("Branches")
	if processor := processorOf(state); processor != nil {
		levels = append(slices.Clone(levels), processor)
	}
	for _, level := range levels {
		states := level.Get("States")
		if states != nil &&
			slices.ContainsFunc(states.Members, func(m jsontext.Member) bool { return canBeUndone(m.Value) }) {
			return true
		}
	}
	return false
}

// checkRevertRetry checks the Retry of a Revert.
func checkRevertRetry(c *checker, n *node, _ *syntax.Revert) {
	retry := n.Get("Retry")
	list := n.List("Retry")
	if len(list) > 1 || len(list) == 1 && !slices.Equal(textsOf(list[0].Get("ErrorEquals")), []string{stateerror.All}) {
		c.Fixf(ruleRevertRetry, retry, `such as "Retry": [{"ErrorEquals": ["States.ALL"]}]`,
			"what undoes a state is tried again whatever the error: Retry has one entry, for States.ALL")
	}
}

// machineStarted returns the name of the machine whose execution a task starts; "" if only a run determines it.
func machineStarted(n *node, t *syntax.Task) string {
	machine := cmp.Or(n.Get("Parameters"), n.Get("Arguments")).Get("StateMachineArn")
	if !t.Starts() || machine == nil || strings.HasPrefix(machine.Str, "{%") {
		return ""
	}
	name, _ := syntax.MachineName(machine.Str)
	return name
}

package syntax

import (
	"strings"

	"github.com/ebbflow/ebb/flow/asl/internal/expression"
)

// Tasks that another party ends: a called service by the token of .waitForTaskToken,
// or a worker of an activity.

// IsRemote reports whether a task's attempt waits for another party, under a token.
func (t *Task) IsRemote() bool { return t.Activity || t.Pattern == PatternToken }

// states:startExecution starts executions of other machines. Each execution is a run of its own, which is created in
// the commit that starts its state. The program that runs the machine may use a task instead.

// StartExecution is the service, without a pattern, that starts executions.
const StartExecution = "arn:aws:states:::states:startExecution"

// Starts reports whether the task starts an execution.
func (t *Task) Starts() bool { return t.URI == StartExecution+t.Pattern }

// MachineName returns the name in a state machine's ARN, and the prefix of its executions' ARNs. A text that is not
// an ARN is a name.
func MachineName(machine string) (name, world string) {
	if parts := strings.Split(machine, ":"); len(parts) >= 7 && parts[0] == "arn" && parts[2] == "states" &&
		parts[5] == "stateMachine" {
		return parts[6], strings.Join(parts[:5], ":") + ":execution:"
	}
	return machine, ""
}

// A Resource is the parsed Resource field of a Task state.
type Resource struct {
	URI      string
	At       int    // where it stands in the text
	Lambda   bool   // is the ARN of a Lambda function
	Activity bool   // is the ARN of an activity
	Service  string // as AWS's events call it: resourceType
	Action   string // what is asked of the service; "resource" in events that have a resourceType
	Pattern  string // how the action ends that says what to wait for: "", .sync, .sync:2 or .waitForTaskToken
}

// The patterns. Without one of them, a call does not wait.
const (
	PatternSync  = ".sync"
	PatternSync2 = ".sync:2"
	PatternToken = ".waitForTaskToken"
)

// ParseResource parses a URI: a scheme, a colon, and a rest that is not empty. An ARN has six parts, of which region
// and account may be empty.
func ParseResource(uri string) (Resource, bool) {
	r := Resource{URI: uri}
	scheme, rest, ok := strings.Cut(uri, ":")
	if !ok || scheme == "" || rest == "" ||
		strings.ContainsFunc(scheme, func(r rune) bool { return !expression.IsSchemeRune(r) }) {
		return r, false
	}
	arn := append(strings.SplitN(uri, ":", 7), make([]string, 7)...)
	if scheme == "arn" && (arn[1] == "" || arn[2] == "" || arn[5] == "") {
		return r, false
	}
	switch service, kind := arn[2], arn[5]; {
	case scheme != "arn":
		r.Service, r.Action = scheme, rest
	case service == "lambda" && kind == "function":
		r.Lambda = true
	case service == "states" && kind == "activity":
		r.Activity = true
	case kind == "aws-sdk":
		service, action, _ := strings.Cut(arn[6], ":")
		r.Service, r.Action = "aws-sdk:"+service, action
	default:
		r.Service, r.Action = kind, arn[6]
	}
	r.Pattern = patternOf(r.Action)
	return r, true
}

// patternOf returns the pattern with which a text ends, or "".
func patternOf(text string) string {
	for _, pattern := range []string{PatternSync, PatternSync2, PatternToken} {
		if strings.HasSuffix(text, pattern) {
			return pattern
		}
	}
	return ""
}

// LambdaPattern returns the pattern with which the ARN of a Lambda function ends by mistake; else "".
func (r *Resource) LambdaPattern() string {
	if !r.Lambda {
		return ""
	}
	return patternOf(r.URI)
}

package lambda

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// timeFormat is the format of times in the output of functions.
const timeFormat = "2006-01-02T15:04:05.000Z"

// errClosed is the error of invocations after [Server.Close].
var errClosed = errors.New("lambda: the server is closed")

// An invocation is one call of a function.
type invocation struct {
	id       string
	arn      string // as it was called
	version  string
	payload  []byte
	context  string // of the client, as JSON
	timeout  time.Duration
	async    bool // no client waits for it
	begun    time.Time
	deadline time.Time
}

// An outcome is what became of an invocation.
type outcome struct {
	id      string
	payload []byte
	failed  bool   // the function failed; payload is the error
	version string // that was executed
	log     []byte // the end of the output
}

func newInvocation(f *hosted, qualifier string, payload []byte, context string) *invocation {
	in := &invocation{
		id: uuid.NewString(), arn: f.arn, version: latest, payload: payload, context: context, timeout: f.timeout(),
	}
	if qualifier != "" {
		in.arn += ":" + qualifier
	}
	if isVersion(qualifier) {
		in.version = qualifier
	}
	return in
}

// latest is the version of code that was not published.
const latest = "$LATEST"

// isVersion reports whether a qualifier is a number.
func isVersion(qualifier string) bool {
	for _, c := range qualifier {
		if c < '0' || c > '9' {
			return false
		}
	}
	return qualifier != ""
}

// begin sets the deadline.
func (in *invocation) begin(f *hosted) {
	in.begun = time.Now()
	in.deadline = in.begun.Add(f.timeout())
}

func (in *invocation) timeoutText() string {
	return fmt.Sprintf("Task timed out after %.2f seconds", in.timeout.Seconds())
}

// fail returns the outcome of an invocation that its process did not answer.
func (in *invocation) fail(kind, message string) *outcome {
	return &outcome{payload: failure(kind, "RequestId: "+in.id+" Error: "+message), failed: true}
}

// failure returns an error of a function as AWS writes it.
func failure(kind, message string) []byte {
	text, _ := json.Marshal(struct {
		Type    string `json:"errorType"`
		Message string `json:"errorMessage"`
	}{kind, message}) // strings
	return text
}

// provided are what an error says about a module that AWS's runtimes have, and how to install it.
var provided = map[string]string{
	"No module named 'boto3'": "pip install boto3", "No module named 'botocore'": "pip install boto3",
	"Cannot find module '@aws-sdk/": "npm install", "Cannot find package '@aws-sdk/": "npm install",
	"Cannot find module 'aws-sdk'": "npm install aws-sdk",
}

// unable returns the outcome of an invocation whose process reported that it cannot start.
func (p *process) unable(failure []byte) *outcome {
	for text, install := range provided {
		if bytes.Contains(failure, []byte(text)) {
			p.output.line("AWS's runtimes have this module, but this machine lacks it: install it (" + install + ")")
			break
		}
	}
	if bytes.Contains(failure, []byte("Runtime.UserCodeSyntaxError")) {
		p.output.line("the function is for " + p.function.Runtime + ": this machine may have an older version")
	}
	return &outcome{payload: failure, failed: true}
}

// exited returns the outcome of an invocation whose process ended.
func (p *process) exited(in *invocation) *outcome {
	switch {
	case p.err != nil:
		return in.fail("Runtime.InvalidEntrypoint", p.err.Error())
	case p.memory.exceeded():
		p.output.line(fmt.Sprintf("the processes of %s used more than %d MB of memory", p.function.Name,
			p.function.memoryMB()))
		return in.fail("Runtime.ExitError", "Runtime exited with error: signal: killed")
	case p.how == "":
		return in.fail("Runtime.ExitError", "Runtime exited without providing a reason")
	default:
		return in.fail("Runtime.ExitError", "Runtime exited with error: "+p.how)
	}
}

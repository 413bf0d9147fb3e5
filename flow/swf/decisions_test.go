package swf_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/internal/pagetest"
)

var update = flag.Bool("update", false, "write docs/reference/swf-decisions.md instead of comparing it")

// A modelDecision is a row of docs/reference/swf-decisions.md: a subject on which the documentation of the service is
// silent or unclear.
type modelDecision struct {
	subject string
	// model says what the model does, and reason why.
	model, reason string
	// tests lists tests that show it. A test without a folder is in the folder of the test before it.
	tests string
}

// modelDecisions are in the order of the page.
var modelDecisions = []modelDecision{
	{
		subject: "event of a decision task that waits behind a started one",
		model:   "recorded at once, not after DecisionTaskCompleted",
		reason:  "its cause has happened; deciders accept both", tests: "flow/swf: TestEventsWhereTheyHappen",
	},
	{
		subject: "failures of earlier decisions in a batch that closes", model: "do not block the close",
		reason: "the decider wants to close", tests: "TestNotBlocking",
	},
	{
		subject: "effects of a batch: canceled activities, calls of functions",
		model:   "after its last event and before DecisionTaskScheduled; none if the batch closes the execution",
		reason:  "recorded for signals, children and cancels",
		tests:   "TestEffectsAfterTheBatch, TestActivityCancel, TestLambda",
	},
	{
		subject: "id of an unstarted activity that is canceled", model: "free after the batch",
		reason: "the activity ends then", tests: "TestActivityCancel",
	},
	{
		subject: "close decision that is refused for permissions", model: "schedules a decision task",
		reason: "the execution would wait forever", tests: "TestRefusals",
	},
	{
		subject: "order of the checks of a decision",
		model:   "UNHANDLED_DECISION, then permissions and rates, type, deprecation, id, quota, defaults",
		reason:  "the first four as observed on an emulator; a full execution needs no defaults",
		tests:   "TestScheduleActivityFailures, TestUnhandledDecision",
	},
	{
		subject: "several overrides of the task list",
		model:   "the last one counts; after a temporary one, the list is that of the start",
		reason:  "\"the original task list\"", tests: "TestTemporaryOverride",
	},
	{
		subject: "decision task that is scheduled when an override is set", model: "keeps its list",
		reason: "its event shows that list", tests: "TestTaskListOverride",
	},
	{
		subject: "schedule-to-start timeout of a decision task behind a started one",
		model:   "begins when the started one ends", reason: "no decider can take it before",
		tests: "TestQueuedOverrideWaits",
	},
	{
		subject: "completion without context", model: "the latest context stays",
		reason: "\"the latest that the decider provided\"", tests: "TestTaskListOverride",
	},
	{
		subject: "request to cancel that is repeated", model: "is another event",
		reason: "requests are signals to the decider", tests: "TestCallsOfTheAPI, TestActivityCancel",
	},
	{
		subject: "RespondActivityTaskCanceled without a request", model: "accepted; the event has no request",
		reason: "the worker knows best", tests: "TestActivityCancel",
	},
	{
		subject: "child that continues as new",
		model:   "keeps its parent, which sees only the last end, with the last runId",
		reason:  "the Flow Framework assumes it", tests: "TestChildContinues",
	},
	{
		subject: "child policy",
		model: "events have `externalInitiatedEventId` 0, and the childPolicy of the child, which applies to its " +
			"own children",
		reason: "no event has a request", tests: "TestChildPolicy, TestChildPolicyOfGrandchildren",
	},
	{
		subject: "failure of a signal or cancel that the server refuses",
		model:   "Initiated and Failed in the batch", reason: "Failed always has an Initiated",
		tests: "TestRefusals",
	},
	{
		subject: "several timeouts due at once",
		model:   "in the order of their times; the execution's first among equals",
		reason:  "as if the server had not been down", tests: "TestExecutionTimeout",
	},
	{
		subject: "event 25,001", model: "WorkflowExecutionTerminated, or the closing event that would be there",
		reason: "the closing event must fit the quota", tests: "TestEventLimit",
	},
	{
		subject: "taskPriority that nothing gives", model: "absent; the task has the priority 0",
		reason: "recorded", tests: "TestFirstEvents",
	},
	{
		subject: "DecisionTaskScheduled without an override", model: "has scheduleToStartTimeout `NONE`",
		reason: "recorded since 2022", tests: "TestFirstEvents",
	},
	{
		subject: "description of a closed execution",
		model: "openActivityTasks still counts the activities that were open; cancelRequested is false; " +
			"latestActivityTaskTimestamp is that of the last event of an activity",
		reason: "recorded, against the documentation", tests: "TestCloses, server/swf: TestDescribeAsRecorded",
	},
	{
		subject: "startTimestamp", model: "the time of event 1", reason: "recorded",
		tests: "server/swf: TestDescribeAsRecorded",
	},
	{
		subject: "task of a closed execution", model: "the fault names the execution, not the task",
		reason: "observed on the service", tests: "server/swf: TestDescribeAsRecorded",
	},
	{
		subject: "timeout of 0 s", model: "over at once, after a millisecond at most",
		reason: "documented minimum", tests: "flow/swf: TestActivityTimeouts, TestTimers",
	},
	{
		subject: "function that does not exist", model: "LambdaFunctionFailed, reason ResourceNotFoundException",
		reason: "Lambda's answer", tests: "TestLambda",
	},
	{
		subject: "no lambdaRole", model: "StartLambdaFunctionFailed after the batch",
		reason: "recorded, against the documentation", tests: "TestLambda",
	},
	{
		subject: "input of a function", model: "JSON as it is, other text as a string",
		reason: "Lambda takes only JSON", tests: "TestLambda",
	},
	{
		subject: "result of a function of more than 32,768 characters", model: "LambdaFunctionFailed",
		reason: "limit of the attribute", tests: "TestLambda",
	},
	{
		subject: "empty values", model: "data stay empty; timeouts, priorities, roles and runIds count as absent",
		reason: "an SDK may send either", tests: "flow/swf/internal/decision: TestParse",
	},
	{
		subject: "lengths", model: "in code points", reason: "`@length` of AWS's models",
		tests: "flow/swf/internal/decision: TestConstraints",
	},
	{
		subject: "ids of activities, timers, functions and executions",
		model:   "may have colons, slashes and vertical bars; only the end `:undo` of a workflowId is reserved",
		reason:  "the service took ids that the documentation forbids, and public deciders send them",
		tests:   "flow/swf/internal/decision: TestConstraints",
	},
	{
		subject: "decision without attributes", model: "accepted if none of them is required",
		reason: "public deciders send it", tests: "TestParse",
	},
	{
		subject: "poll without a task", model: "the answer has no taskToken, against the documentation",
		reason: "recorded; AWS's clients test for its absence", tests: "server/swf: TestEmptyPoll",
	},
	{
		subject: "oldest form of the protocol",
		model:   "Content-Encoding amz-1.0, Content-Type application/json, and a target with the package",
		reason:  "recorded, and in AWS's guide", tests: "server: TestServeAWS, server/aws: TestContentTypes",
	},
	{
		subject: "invalid timeouts, ids, priorities and policies",
		model:   "refuse the batch with ValidationException", reason: "a batch is checked as a whole first",
		tests: "flow/swf/internal/decision: TestParseRefuses, flow/swf: TestInvalidCompletion",
	},
	{
		subject: "operator who ends the run (`ebb cancel`)",
		model:   "WorkflowExecutionTerminated, cause OPERATOR_INITIATED, with the child policy",
		reason:  "it is a termination", tests: "flow/swf: TestChildPolicy",
	},
	{
		subject: "operator who ends the token of a task",
		model:   "an activity completes, or fails with the code as reason; a decision task only takes a completion",
		reason:  "the service could write that history", tests: "TestUntrustedEnd",
	},
}

// TestDecisionsPage writes the page of decisions, or compares it. Run it with -update to write the page. The test of
// the guarantees checks that the named tests exist.
func TestDecisionsPage(t *testing.T) {
	t.Parallel()
	pagetest.Check(t, "../../docs/reference/swf-decisions.md", decisionsPage(), *update)
}

func decisionsPage() string {
	var page strings.Builder
	page.WriteString("<!-- Generated by \"go test ./flow/swf -run TestDecisionsPage -update\". Do not edit. -->\n\n" +
		"# Decisions on Amazon SWF\n\n" +
		"The documentation of the service is silent or unclear about these subjects. A test without a folder is in the\n" +
		"folder of the test before it.\n\n" +
		"| subject | Ebb | reason | test |\n|---|---|---|---|\n")
	for _, d := range modelDecisions {
		tests := "`" + strings.ReplaceAll(d.tests, ", ", "`, `") + "`"
		fmt.Fprintf(&page, "| %s | %s | %s | %s |\n", d.subject, d.model, d.reason, tests)
	}
	return page.String()
}

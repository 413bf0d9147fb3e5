package swf

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/ebbflow/ebb/flow/swf"
	"github.com/ebbflow/ebb/server/aws"
)

// Shapes of members that several operations have. Lengths and the order of members are those of the API's model
// (version 2012-01-25).
//
//nolint:mnd // the table is where the numbers have their names
var (
	nameShape        = named(256)
	versionShape     = named(64)
	listNameShape    = named(256)
	plainNameShape   = aws.String(1, 256)
	plainVersion     = aws.String(1, 64)
	runIDShape       = aws.String(1, 64)
	optionalRunID    = aws.String(0, 64)
	descriptionShape = aws.String(0, 1024)
	//limit:swf input, result, details; details of a heartbeat; reason | 32,768; 2,048; 256 characters |
	//limit:and `ValidationException`
	dataShape      = aws.String(0, 32768).Secret()
	reasonShape    = aws.String(0, 256)
	limitedData    = aws.String(0, 2048).Secret()
	taskTokenShape = aws.String(1, 1024)
	pageTokenShape = aws.String(0, 2048)
	pageSizeShape  = aws.Integer(0, 1000)
	roleShape      = aws.String(0, 1600)
	resourceShape  = aws.String(1, 1600)
	flagShape      = aws.Boolean()

	childPolicyShape  = aws.Enum(swf.PolicyTerminate, swf.PolicyRequestCancel, swf.PolicyAbandon)
	registrationShape = aws.Enum(registered, deprecated)
	closeStatusShape  = aws.Enum(closeStatuses...)

	taskListShape = aws.Structure(aws.Required("name", listNameShape))
	typeShape     = aws.Structure(
		aws.Required("name", plainNameShape),
		aws.Required("version", plainVersion),
	)
	executionShape = aws.Structure(
		aws.Required("workflowId", plainNameShape),
		aws.Required("runId", runIDShape),
	)
	tagListShape = aws.List(aws.String(0, 256), 0, 5)
	tagKeyShape  = aws.String(1, 128)
	resourceTags = aws.List(aws.Structure(
		aws.Required("key", tagKeyShape),
		aws.Optional("value", aws.String(0, 256)),
	), 0, aws.NoLimit)
	timeFilterShape = aws.Structure(
		aws.Required("oldestDate", aws.Timestamp()),
		aws.Optional("latestDate", aws.Timestamp()),
	)
	typeFilterShape  = aws.Structure(aws.Required("name", plainNameShape), aws.Optional("version", aws.String(0, 64)))
	tagFilterShape   = aws.Structure(aws.Required("tag", plainNameShape))
	executionFilter  = aws.Structure(aws.Required("workflowId", plainNameShape))
	closeStatusMatch = aws.Structure(aws.Required("status", closeStatusShape))

	newIDShape = aws.String(1, 256).Where("Member must not contain a control character, begin or end with a blank, "+
		"be arn, "+
		"or end with "+swf.UndoSuffix, swf.IsWorkflowID)
	timeoutShape = aws.String(0, 8).Where(
		fmt.Sprintf("Member must be a number of seconds from 0 to %d, or NONE", maxSeconds),
		func(s string) bool { return s == "" || s == none || isWhole(s, maxSeconds) })
	durationShape = aws.String(0, 8).Where(
		fmt.Sprintf("Member must be a number of seconds from 0 to %d", maxSeconds),
		func(s string) bool { return s == "" || isWhole(s, maxSeconds) })
	priorityShape = aws.String(0, 11).Where("Member must be an integer between -2147483648 and 2147483647",
		func(s string) bool {
			_, err := strconv.ParseInt(s, 10, 32)
			return s == "" || err == nil && s[0] != '+'
		})
	retentionShape = aws.String(1, 8).Where("Member must be a number of days, or NONE",
		func(s string) bool { return s == none || isWhole(s, maxDays) })
)

const (
	// maxSeconds is the longest time that an execution may be open, and the largest timeout.
	maxSeconds = 365 * 24 * 60 * 60
	// maxDays is the longest retention period that a setting can allow.
	maxDays = 36500
	// none is the value of a timeout, or of a retention period, that does not exist.
	none = "NONE"
)

// named returns the shape of a name with up to most characters.
func named(most int) *aws.Shape {
	return aws.String(1, most).Where("Member must not contain a colon, slash, vertical bar or control character, "+
		"begin or end with a blank, or be arn", swf.IsName)
}

// isWhole reports whether a text is a whole number from 0 to most.
func isWhole(s string, most uint64) bool {
	n, err := strconv.ParseUint(s, 10, 64)
	return err == nil && n <= most
}

// typeOperation returns the shape of an operation on one type.
func typeOperation(member string) *aws.Shape {
	return aws.Structure(aws.Required("domain", plainNameShape), aws.Required(member, typeShape))
}

// listing returns a structure with the members of a list of types.
func typeListing() *aws.Shape {
	return aws.Structure(
		aws.Required("domain", plainNameShape),
		aws.Optional("name", plainNameShape),
		aws.Required("registrationStatus", registrationShape),
		aws.Optional("nextPageToken", pageTokenShape),
		aws.Optional("maximumPageSize", pageSizeShape),
		aws.Optional("reverseOrder", flagShape),
	)
}

// paged returns the members of a list beside the members that select what it has.
func paged(members ...aws.Member) *aws.Shape {
	return aws.Structure(append(slices.Clip(members),
		aws.Optional("nextPageToken", pageTokenShape),
		aws.Optional("maximumPageSize", pageSizeShape),
		aws.Optional("reverseOrder", flagShape),
	)...)
}

var (
	openFilters = []aws.Member{
		aws.Required("domain", plainNameShape),
		aws.Required("startTimeFilter", timeFilterShape),
		aws.Optional("typeFilter", typeFilterShape),
		aws.Optional("tagFilter", tagFilterShape),
		aws.Optional("executionFilter", executionFilter),
	}
	closedFilters = []aws.Member{
		aws.Required("domain", plainNameShape),
		aws.Optional("startTimeFilter", timeFilterShape),
		aws.Optional("closeTimeFilter", timeFilterShape),
		aws.Optional("executionFilter", executionFilter),
		aws.Optional("closeStatusFilter", closeStatusMatch),
		aws.Optional("typeFilter", typeFilterShape),
		aws.Optional("tagFilter", tagFilterShape),
	}
	domainOperation = aws.Structure(aws.Required("name", plainNameShape))
	pendingShape    = aws.Structure(aws.Required("domain", plainNameShape), aws.Required("taskList", taskListShape))
)

// shapes has the parameters of each operation of the API.
var shapes = map[string]*aws.Shape{
	"CountClosedWorkflowExecutions": aws.Structure(closedFilters...),
	"CountOpenWorkflowExecutions":   aws.Structure(openFilters...),
	"CountPendingActivityTasks":     pendingShape,
	"CountPendingDecisionTasks":     pendingShape,
	"DeleteActivityType":            typeOperation("activityType"),
	"DeleteWorkflowType":            typeOperation("workflowType"),
	"DeprecateActivityType":         typeOperation("activityType"),
	"DeprecateDomain":               domainOperation,
	"DeprecateWorkflowType":         typeOperation("workflowType"),
	"DescribeActivityType":          typeOperation("activityType"),
	"DescribeDomain":                domainOperation,
	"DescribeWorkflowExecution": aws.Structure(
		aws.Required("domain", plainNameShape),
		aws.Required("execution", executionShape),
	),
	"DescribeWorkflowType": typeOperation("workflowType"),
	"GetWorkflowExecutionHistory": paged(
		aws.Required("domain", plainNameShape),
		aws.Required("execution", executionShape),
	),
	"ListActivityTypes":            typeListing(),
	"ListClosedWorkflowExecutions": paged(closedFilters...),
	"ListDomains":                  paged(aws.Required("registrationStatus", registrationShape)),
	"ListOpenWorkflowExecutions":   paged(openFilters...),
	"ListTagsForResource":          aws.Structure(aws.Required("resourceArn", resourceShape)),
	"ListWorkflowTypes":            typeListing(),
	"PollForActivityTask": aws.Structure(
		aws.Required("domain", plainNameShape),
		aws.Required("taskList", taskListShape),
		aws.Optional("identity", reasonShape),
	),
	"PollForDecisionTask": paged(
		aws.Required("domain", plainNameShape),
		aws.Required("taskList", taskListShape),
		aws.Optional("identity", reasonShape),
		aws.Optional("startAtPreviousStartedEvent", flagShape),
	),
	"RecordActivityTaskHeartbeat": aws.Structure(
		aws.Required("taskToken", taskTokenShape),
		aws.Optional("details", limitedData),
	),
	"RegisterActivityType": aws.Structure(
		aws.Required("domain", plainNameShape),
		aws.Required("name", nameShape),
		aws.Required("version", versionShape),
		aws.Optional("description", descriptionShape),
		aws.Optional("defaultTaskStartToCloseTimeout", timeoutShape),
		aws.Optional("defaultTaskHeartbeatTimeout", timeoutShape),
		aws.Optional("defaultTaskList", taskListShape),
		aws.Optional("defaultTaskPriority", priorityShape),
		aws.Optional("defaultTaskScheduleToStartTimeout", timeoutShape),
		aws.Optional("defaultTaskScheduleToCloseTimeout", timeoutShape),
	),
	"RegisterDomain": aws.Structure(
		aws.Required("name", nameShape),
		aws.Optional("description", descriptionShape),
		aws.Required("workflowExecutionRetentionPeriodInDays", retentionShape),
		aws.Optional("tags", resourceTags),
	),
	"RegisterWorkflowType": aws.Structure(
		aws.Required("domain", plainNameShape),
		aws.Required("name", nameShape),
		aws.Required("version", versionShape),
		aws.Optional("description", descriptionShape),
		aws.Optional("defaultTaskStartToCloseTimeout", timeoutShape),
		aws.Optional("defaultExecutionStartToCloseTimeout", durationShape),
		aws.Optional("defaultTaskList", taskListShape),
		aws.Optional("defaultTaskPriority", priorityShape),
		aws.Optional("defaultChildPolicy", childPolicyShape),
		aws.Optional("defaultLambdaRole", roleShape),
	),
	"RequestCancelWorkflowExecution": aws.Structure(
		aws.Required("domain", plainNameShape),
		aws.Required("workflowId", plainNameShape),
		aws.Optional("runId", optionalRunID),
	),
	"RespondActivityTaskCanceled": aws.Structure(
		aws.Required("taskToken", taskTokenShape),
		aws.Optional("details", dataShape),
	),
	"RespondActivityTaskCompleted": aws.Structure(
		aws.Required("taskToken", taskTokenShape),
		aws.Optional("result", dataShape),
	),
	"RespondActivityTaskFailed": aws.Structure(
		aws.Required("taskToken", taskTokenShape),
		aws.Optional("reason", reasonShape),
		aws.Optional("details", dataShape),
	),
	"RespondDecisionTaskCompleted": aws.Structure(
		aws.Required("taskToken", taskTokenShape),
		aws.Optional("decisions", aws.JSON()),
		aws.Optional("executionContext", dataShape),
		aws.Optional("taskList", taskListShape),
		aws.Optional("taskListScheduleToStartTimeout", timeoutShape),
	),
	"SignalWorkflowExecution": aws.Structure(
		aws.Required("domain", plainNameShape),
		aws.Required("workflowId", plainNameShape),
		aws.Optional("runId", optionalRunID),
		aws.Required("signalName", plainNameShape),
		aws.Optional("input", dataShape),
	),
	"StartWorkflowExecution": aws.Structure(
		aws.Required("domain", plainNameShape),
		aws.Required("workflowId", newIDShape),
		aws.Required("workflowType", typeShape),
		aws.Optional("taskList", taskListShape),
		aws.Optional("taskPriority", priorityShape),
		aws.Optional("input", dataShape),
		aws.Optional("executionStartToCloseTimeout", durationShape),
		aws.Optional("tagList", tagListShape),
		aws.Optional("taskStartToCloseTimeout", timeoutShape),
		aws.Optional("childPolicy", childPolicyShape),
		aws.Optional("lambdaRole", roleShape),
	),
	"TagResource": aws.Structure(
		aws.Required("resourceArn", resourceShape),
		aws.Required("tags", resourceTags),
	),
	"TerminateWorkflowExecution": aws.Structure(
		aws.Required("domain", plainNameShape),
		aws.Required("workflowId", plainNameShape),
		aws.Optional("runId", optionalRunID),
		aws.Optional("reason", reasonShape),
		aws.Optional("details", dataShape),
		aws.Optional("childPolicy", childPolicyShape),
	),
	"UndeprecateActivityType": typeOperation("activityType"),
	"UndeprecateDomain":       domainOperation,
	"UndeprecateWorkflowType": typeOperation("workflowType"),
	"UntagResource": aws.Structure(
		aws.Required("resourceArn", resourceShape),
		aws.Required("tagKeys", aws.List(tagKeyShape, 0, aws.NoLimit)),
	),
}

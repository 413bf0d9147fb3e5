package sfn

import (
	"math"

	"github.com/ebbflow/ebb/server/aws"
)

// Shapes of members that several operations have. Lengths, ranges, patterns and the order of members are those of the
// API's model (version 2016-11-23).
//
//nolint:mnd // the table is where the numbers have their names
var (
	arnShape     = aws.String(1, 256)
	longARNShape = aws.String(1, 2000)
	//limit:sfn names; definitions; inputs and outputs | 80 characters; 1 MiB; 256 KiB | `ValidationException`
	nameShape        = aws.String(1, 80)
	stateNameShape   = aws.String(1, 80).Secret()
	flagShape        = aws.Boolean()
	pageSizeShape    = aws.Integer(0, 1000)
	pageTokenShape   = aws.String(1, 1024)
	definitionShape  = aws.String(1, 1<<20).Secret()
	dataShape        = aws.String(0, 256<<10).Secret()
	errorNameShape   = aws.String(0, 256).Secret()
	causeShape       = aws.String(0, 32768).Secret()
	revisionShape    = aws.String(0, aws.NoLimit)
	descriptionShape = aws.String(0, 256).Secret()
	taskTokenShape   = aws.String(1, 2048)
	traceHeaderShape = aws.String(0, 256).PatternAs(`\p{ASCII}*`, `[\x00-\x7f]*`)
	includedShape    = aws.Enum("ALL_DATA", "METADATA_ONLY")
	machineTypeShape = aws.Enum(typeStandard, typeExpress)
	countShape       = aws.Integer(0, math.MaxInt32)

	aliasNameShape = aws.String(1, 80).PatternAs(`^(?=.*[a-zA-Z_\-\.])[a-zA-Z0-9_\-\.]+$`,
		`[a-zA-Z0-9_\-.]*[a-zA-Z_\-.][a-zA-Z0-9_\-.]*`)
	routingShape = aws.List(aws.Structure(
		aws.Required("stateMachineVersionArn", arnShape),
		aws.Required("weight", aws.Integer(0, 100)),
	), 1, 2)
	tagsShape = aws.List(aws.Structure(
		aws.Required("key", tagKeyShape),
		aws.Optional("value", aws.String(0, 256)),
	), 0, aws.NoLimit)
	tagKeyShape  = aws.String(1, 128)
	loggingShape = aws.Structure(
		aws.Optional("level", aws.Enum("ALL", "ERROR", "FATAL", levelOff)),
		aws.Optional("includeExecutionData", flagShape),
		aws.Optional("destinations", aws.List(aws.Structure(
			aws.Optional("cloudWatchLogsLogGroup", aws.Structure(aws.Optional("logGroupArn", arnShape))),
		), 0, aws.NoLimit)),
	)
	tracingShape    = aws.Structure(aws.Optional("enabled", flagShape))
	encryptionShape = aws.Structure(
		aws.Optional("kmsKeyId", aws.String(1, 2048)),
		aws.Optional("kmsDataKeyReusePeriodSeconds", aws.Integer(60, 900)),
		aws.Required("type", aws.Enum(ownedKey, managedKey)),
	)
	executionStatusShape = aws.Enum("RUNNING", "SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED", "PENDING_REDRIVE")
	mockShape            = aws.Structure(
		aws.Optional("result", dataShape),
		aws.Optional("errorOutput", aws.Structure(
			aws.Optional("error", errorNameShape),
			aws.Optional("cause", causeShape),
		)),
		aws.Optional("fieldValidationMode", aws.Enum("STRICT", "PRESENT", "NONE")),
	)
	stateConfigurationShape = aws.Structure(
		aws.Optional("retrierRetryCount", countShape),
		aws.Optional("errorCausedByState", stateNameShape),
		aws.Optional("mapIterationFailureCount", countShape),
		aws.Optional("mapItemReaderData", dataShape),
	)
)

// shapes has the parameters of each operation of the API.
//
//nolint:mnd // as above
var shapes = map[string]*aws.Shape{
	"CreateActivity": aws.Structure(
		aws.Required("name", nameShape),
		aws.Optional("tags", tagsShape),
		aws.Optional("encryptionConfiguration", encryptionShape),
	),
	"CreateStateMachine": aws.Structure(
		aws.Required("name", nameShape),
		aws.Required("definition", definitionShape),
		aws.Required("roleArn", arnShape),
		aws.Optional("type", machineTypeShape),
		aws.Optional("loggingConfiguration", loggingShape),
		aws.Optional("tags", tagsShape),
		aws.Optional("tracingConfiguration", tracingShape),
		aws.Optional("publish", flagShape),
		aws.Optional("versionDescription", descriptionShape),
		aws.Optional("encryptionConfiguration", encryptionShape),
	),
	"CreateStateMachineAlias": aws.Structure(
		aws.Optional("description", descriptionShape),
		aws.Required("name", aliasNameShape),
		aws.Required("routingConfiguration", routingShape),
	),
	"DeleteActivity":            aws.Structure(aws.Required("activityArn", arnShape)),
	"DeleteStateMachine":        aws.Structure(aws.Required("stateMachineArn", arnShape)),
	"DeleteStateMachineAlias":   aws.Structure(aws.Required("stateMachineAliasArn", arnShape)),
	"DeleteStateMachineVersion": aws.Structure(aws.Required("stateMachineVersionArn", longARNShape)),
	"DescribeActivity":          aws.Structure(aws.Required("activityArn", arnShape)),
	"DescribeExecution": aws.Structure(
		aws.Required("executionArn", arnShape),
		aws.Optional("includedData", includedShape),
	),
	"DescribeMapRun": aws.Structure(aws.Required("mapRunArn", longARNShape)),
	"DescribeStateMachine": aws.Structure(
		aws.Required("stateMachineArn", arnShape),
		aws.Optional("includedData", includedShape),
	),
	"DescribeStateMachineAlias": aws.Structure(aws.Required("stateMachineAliasArn", arnShape)),
	"DescribeStateMachineForExecution": aws.Structure(
		aws.Required("executionArn", arnShape),
		aws.Optional("includedData", includedShape),
	),
	"GetActivityTask": aws.Structure(
		aws.Required("activityArn", arnShape),
		aws.Optional("workerName", nameShape),
	),
	"GetExecutionHistory": aws.Structure(
		aws.Required("executionArn", arnShape),
		aws.Optional("maxResults", pageSizeShape),
		aws.Optional("reverseOrder", flagShape),
		aws.Optional("nextToken", pageTokenShape),
		aws.Optional("includeExecutionData", flagShape),
	),
	"ListActivities": aws.Structure(
		aws.Optional("maxResults", pageSizeShape),
		aws.Optional("nextToken", pageTokenShape),
	),
	"ListExecutions": aws.Structure(
		aws.Optional("stateMachineArn", arnShape),
		aws.Optional("statusFilter", executionStatusShape),
		aws.Optional("maxResults", pageSizeShape),
		aws.Optional("nextToken", aws.String(1, 3096)),
		aws.Optional("mapRunArn", longARNShape),
		aws.Optional("redriveFilter", aws.Enum("REDRIVEN", "NOT_REDRIVEN")),
	),
	"ListMapRuns": aws.Structure(
		aws.Required("executionArn", arnShape),
		aws.Optional("maxResults", pageSizeShape),
		aws.Optional("nextToken", pageTokenShape),
	),
	"ListStateMachineAliases": aws.Structure(
		aws.Required("stateMachineArn", arnShape),
		aws.Optional("nextToken", pageTokenShape),
		aws.Optional("maxResults", pageSizeShape),
	),
	"ListStateMachineVersions": aws.Structure(
		aws.Required("stateMachineArn", arnShape),
		aws.Optional("nextToken", pageTokenShape),
		aws.Optional("maxResults", pageSizeShape),
	),
	"ListStateMachines": aws.Structure(
		aws.Optional("maxResults", pageSizeShape),
		aws.Optional("nextToken", pageTokenShape),
	),
	"ListTagsForResource": aws.Structure(aws.Required("resourceArn", arnShape)),
	"PublishStateMachineVersion": aws.Structure(
		aws.Required("stateMachineArn", arnShape),
		aws.Optional("revisionId", revisionShape),
		aws.Optional("description", descriptionShape),
	),
	"RedriveExecution": aws.Structure(
		aws.Required("executionArn", arnShape),
		aws.Optional("clientToken", aws.String(1, 64).Pattern(`[!-~]+`)),
	),
	"SendTaskFailure": aws.Structure(
		aws.Required("taskToken", taskTokenShape),
		aws.Optional("error", errorNameShape),
		aws.Optional("cause", causeShape),
	),
	"SendTaskHeartbeat": aws.Structure(aws.Required("taskToken", taskTokenShape)),
	"SendTaskSuccess": aws.Structure(
		aws.Required("taskToken", taskTokenShape),
		aws.Required("output", dataShape),
	),
	"StartExecution": aws.Structure(
		aws.Required("stateMachineArn", arnShape),
		aws.Optional("name", nameShape),
		aws.Optional("input", dataShape),
		aws.Optional("traceHeader", traceHeaderShape),
	),
	"StartSyncExecution": aws.Structure(
		aws.Required("stateMachineArn", arnShape),
		aws.Optional("name", nameShape),
		aws.Optional("input", dataShape),
		aws.Optional("traceHeader", traceHeaderShape),
		aws.Optional("includedData", includedShape),
	),
	"StopExecution": aws.Structure(
		aws.Required("executionArn", arnShape),
		aws.Optional("error", errorNameShape),
		aws.Optional("cause", causeShape),
	),
	"TagResource": aws.Structure(
		aws.Required("resourceArn", arnShape),
		aws.Required("tags", tagsShape),
	),
	"TestState": aws.Structure(
		aws.Required("definition", definitionShape),
		aws.Optional("roleArn", arnShape),
		aws.Optional("input", dataShape),
		aws.Optional("inspectionLevel", aws.Enum("INFO", "DEBUG", "TRACE")),
		aws.Optional("revealSecrets", flagShape),
		aws.Optional("variables", dataShape),
		aws.Optional("stateName", stateNameShape),
		aws.Optional("mock", mockShape),
		aws.Optional("context", dataShape),
		aws.Optional("stateConfiguration", stateConfigurationShape),
	),
	"UntagResource": aws.Structure(
		aws.Required("resourceArn", arnShape),
		aws.Required("tagKeys", aws.List(tagKeyShape, 0, aws.NoLimit)),
	),
	"UpdateMapRun": aws.Structure(
		aws.Required("mapRunArn", longARNShape),
		aws.Optional("maxConcurrency", countShape),
		aws.Optional("toleratedFailurePercentage", aws.Float(0, 100)),
		aws.Optional("toleratedFailureCount", aws.Long(0, math.MaxInt64)),
	),
	"UpdateStateMachine": aws.Structure(
		aws.Required("stateMachineArn", arnShape),
		aws.Optional("definition", definitionShape),
		aws.Optional("roleArn", arnShape),
		aws.Optional("loggingConfiguration", loggingShape),
		aws.Optional("tracingConfiguration", tracingShape),
		aws.Optional("publish", flagShape),
		aws.Optional("versionDescription", descriptionShape),
		aws.Optional("encryptionConfiguration", encryptionShape),
	),
	"UpdateStateMachineAlias": aws.Structure(
		aws.Required("stateMachineAliasArn", arnShape),
		aws.Optional("description", descriptionShape),
		aws.Optional("routingConfiguration", routingShape),
	),
	"ValidateStateMachineDefinition": aws.Structure(
		aws.Required("definition", definitionShape),
		aws.Optional("type", machineTypeShape),
		aws.Optional("severity", aws.Enum("ERROR", "WARNING")),
		aws.Optional("maxResults", aws.Integer(0, 100)),
	),
}

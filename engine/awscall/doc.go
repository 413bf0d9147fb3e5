// Package awscall calls services of AWS as Step Functions does: a resource such as arn:aws:states:::sqs:sendMessage or
// arn:aws:states:::aws-sdk:dynamodb:getItem names a service and an action, and the input of the task has the
// parameters. It covers the services with the protocols JSON and query, among them DynamoDB, SQS, SNS and EventBridge.
//
// All services have one endpoint, such as that of an emulator. Without an endpoint, the calls fail. The package never
// sends a request to another server, also if the answer redirects to one. Services that the process itself has get
// their requests without the network.
//
// If a parameter is an idempotency token that the input does not have, it is made from the idempotency key of the call.
// If a resource ends in .waitForTaskToken, the answer does not end the state: the holder of the token does.
//
// The file services.zip holds what is needed of each service, derived from AWS's public service models. The first line
// of a service has its protocol, the version of JSON, the prefix of targets, the name in signatures, the version of
// the API, and the name in errors. The lines that follow are
//
//	action @Input @Output   an action; - if it has no input or output
//	!Code Name              a code of errors, and the name of the error
//	@Name …                 a shape
//
// Shapes are s for texts, k for idempotency tokens, n for numbers, b for true and false, x for bytes, t for times in
// the form of the protocol, i for times in ISO 8601, u for times in seconds, * for any, [x] for arrays, <x> for
// objects with any names, {…} for objects, and @Name. A field is name/SDK=wire:shape, with what differs from the name.
// An array or object of the query protocol may begin with ~ if it is flattened, and with the names of its elements
// between #.
//
// To renew the file, download the module of the models and run go generate with its folder in AWS_SDK_GO.
package awscall

//go:generate go run ../../internal/awsmodels -models ${AWS_SDK_GO}/models/apis -calls services.zip

package sfn

import (
	"errors"

	"github.com/ebbflow/ebb/server/aws"
)

// Errors that several operations return, with AWS's texts.

// invalid returns a ValidationException. If reason is not "", the error has it as a member.
func invalid(reason, format string, args ...any) error {
	e := aws.Errorf("ValidationException", format, args...)
	if reason != "" {
		e.Fields = map[string]any{"reason": reason}
	}
	return e
}

func invalidARN(arn string) error {
	return aws.Errorf("InvalidArn", "Invalid Arn: 'Invalid ARN: %s'", arn)
}

// isCode reports whether an error is one of AWS's with a code.
func isCode(err error, code string) bool {
	e, ok := errors.AsType[*aws.Error](err)
	return ok && e.Code == code
}

func noMachine(arn string) error {
	return aws.Errorf("StateMachineDoesNotExist", "State Machine Does Not Exist: '%s'", arn)
}

func machineDeleting(arn string) error {
	return aws.Errorf("StateMachineDeleting", "State Machine Deleting: '%s'", arn)
}

func noActivity(arn string) error {
	return aws.Errorf("ActivityDoesNotExist", "Activity Does Not Exist: '%s'", arn)
}

// noResource returns the error for a missing resource that is tagged.
func noResource(arn string) error {
	e := aws.Errorf("ResourceNotFound", "Resource not found: '%s'", arn)
	e.Fields = map[string]any{"resourceName": arn}
	return e
}

// noReference returns the error for a missing alias, or a missing version of an alias.
func noReference(arn string) error {
	e := aws.Errorf("ResourceNotFound", "Request references a resource that does not exist.")
	e.Fields = map[string]any{"resourceName": arn}
	return e
}

var errBadToken = aws.Errorf("InvalidToken", "Invalid Token: 'Invalid token'")

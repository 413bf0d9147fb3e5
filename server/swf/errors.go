package swf

import (
	"errors"

	"github.com/ebbflow/ebb/server/aws"
)

// Faults of the API.
const (
	unknownResource      = "UnknownResourceFault"
	limitExceeded        = "LimitExceededFault"
	notPermitted         = "OperationNotPermittedFault"
	typeAlreadyExists    = "TypeAlreadyExistsFault"
	typeDeprecated       = "TypeDeprecatedFault"
	typeNotDeprecated    = "TypeNotDeprecatedFault"
	domainAlreadyExists  = "DomainAlreadyExistsFault"
	domainDeprecated     = "DomainDeprecatedFault"
	alreadyStarted       = "WorkflowExecutionAlreadyStartedFault"
	defaultUndefined     = "DefaultUndefinedFault"
	tooManyTags          = "TooManyTagsFault"
	validationException  = "com.amazon.coral.validate#ValidationException"
	serializationFailure = "com.amazon.coral.service#SerializationException"
)

// invalid returns a ValidationException.
func invalid(format string, args ...any) error {
	return aws.Errorf(validationException, format, args...)
}

func unknownDomain(name string) error {
	return aws.Errorf(unknownResource, "Unknown domain: %s", nameOf(name))
}

// badPageToken returns the answer to a page token that is not valid.
func badPageToken(why error) error {
	if errors.Is(why, aws.ErrTokenExpired) {
		return invalid("Specified token has exceeded its maximum lifetime")
	}
	return invalid("Invalid token")
}

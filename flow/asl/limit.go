package asl

// The limits within which definitions are read and machines run.
const (
	// MaxDefinition is the size in bytes of the longest definition.
	MaxDefinition = 1 << 20
	// MaxNesting is how deep objects and arrays of a definition may nest.
	MaxNesting = 200
	// MaxPayload is the size in bytes of the largest effective input, task
	// result, state output or variable, as AWS has it. A larger one fails the
	// state with States.DataLimitExceeded.
	MaxPayload = 256 << 10
	// MaxProblems is how many problems Parse reports before it stops looking.
	MaxProblems = 100

	maxVariables  = 384 << 10 // bytes of all variables that a state can see
	maxNameLength = 80        // of states and variables
	maxValueDepth = 500       // of data that is looked into
	maxShown      = 32 << 10  // bytes of a value or of an error of an expression told in a cause
	maxErrorName  = 256       // characters of the name of an error
	maxCandidates = 500       // names among which the one that was meant is looked for
	stepBudget    = 500       // states that one answer walks through
)

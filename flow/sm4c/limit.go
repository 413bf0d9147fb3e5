package sm4c

// The limits within which definitions are read and machines run.
const (
	// MaxDefinition is the size in bytes of the longest definition, or loaded
	// document.
	MaxDefinition = 1 << 20
	// MaxNesting is how deep objects and arrays of a definition may nest.
	MaxNesting = 200
	// MaxProblems is how many problems of each severity are reported before the
	// rest is left out.
	MaxProblems = 100
	// MaxInbox is how many events a run keeps that it has not consumed, and
	// MaxInboxBytes their size. What comes beyond is dropped, and the history says
	// so.
	MaxInbox      = 1000
	MaxInboxBytes = 512 << 10
	// MaxTransitions is how many transitions may follow each other without a wait before
	// a machine that repeats itself fails with [CodeLivelock].
	MaxTransitions = 10_000

	maxName         = 256     // bytes of a name
	maxDepth        = 50      // of subflows in subflows
	maxText         = 1 << 10 // bytes of a message in the history
	maxEventDetails = 8 << 10 // bytes of what a line of the history says
	maxDocuments    = 100     // that a definition may have loaded
	stepBudget      = 500     // actions and transitions in one answer
)

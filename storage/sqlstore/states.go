package sqlstore

import (
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// The numbers of states as statements spell them: one digit each. Rows store these numbers, and indexes of the
// schema contain them.
const (
	flowSuccess  = string(rune('0' + states.FlowSuccess))
	flowFailure  = string(rune('0' + states.FlowFailure))
	flowReverted = string(rune('0' + states.FlowReverted))
	flowHeld     = string(rune('0' + states.FlowSuspended))
	undoFailed   = string(rune('0' + storage.UndoFailed))

	jobUnclaimed = string(rune('0' + states.JobUnclaimed))
	jobClaimed   = string(rune('0' + states.JobClaimed))
	jobComplete  = string(rune('0' + states.JobComplete))
	jobScheduled = string(rune('0' + states.JobScheduled))
	jobParked    = string(rune('0' + states.JobParked))

	tokenOpen = string(rune('0' + storage.TokenOpen))
)

// The numbers of parts, with two digits.
const (
	partLabels   = string(rune('0'+hasLabels/10)) + string(rune('0'+hasLabels%10))
	partAtoms    = string(rune('0'+hasAtoms/10)) + string(rune('0'+hasAtoms%10))
	partSettled  = string(rune('0'+hasSettled/10)) + string(rune('0'+hasSettled%10))
	partMessages = string(rune('0'+hasMessages/10)) + string(rune('0'+hasMessages%10))
	partTokens   = string(rune('0'+hasTokens/10)) + string(rune('0'+hasTokens%10))
	partTimers   = string(rune('0'+hasTimers/10)) + string(rune('0'+hasTimers%10))
)

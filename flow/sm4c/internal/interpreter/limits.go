package interpreter

// Limits of running machines.
const (
	// maxInbox bounds the number of events in a run's inbox that no transition has consumed, and maxInboxBytes
	// their size. The machine drops further events, and the history records that.
	//
	//limit:sm4c events in a run's inbox | {} of {maxInboxBytes B} together | dropped, and noted in the history
	maxInbox      = 1000
	maxInboxBytes = 512 << 10
	// maxTransitions is the number of transitions without a wait after which a machine that repeats itself fails
	// with SM4C.Livelock.
	//
	//limit:sm4c transitions without a wait of a machine that repeats itself | {} | `SM4C.Livelock`
	maxTransitions = 10_000

	//limit:sm4c nested subflows | {} | `SM4C.Subflow`
	maxDepth        = 50
	maxText         = 1 << 10 // bytes in a message in the history
	maxEventDetails = 8 << 10 // bytes of details in a history event
	stepBudget      = 500     // actions and transitions in one answer
)

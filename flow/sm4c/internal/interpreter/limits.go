package interpreter

// Limits of running machines.
const (
	// maxInbox bounds the number of events in a run's inbox that no transition has consumed, and maxInboxBytes
	// their size. The machine drops further events, and the history records that.
	maxInbox      = 1000
	maxInboxBytes = 512 << 10
	// maxTransitions is the number of transitions without a wait after which a machine that repeats itself fails
	// with SM4C.Livelock.
	maxTransitions = 10_000

	maxDepth        = 50      // nested subflows
	maxText         = 1 << 10 // bytes in a message in the history
	maxEventDetails = 8 << 10 // bytes of details in a history event
	stepBudget      = 500     // actions and transitions in one answer
)

package states

import "github.com/looplab/fsm"

// Engine is the state of the state machine that drives a run.
type Engine uint8

// The states of an engine. The zero value is EngineUndefined. Numbers may be
// stored: they never change.
const (
	// EngineUndefined has not started.
	EngineUndefined Engine = iota
	// EngineResuming finds what is not finished.
	EngineResuming
	// EngineScheduling starts what is ready.
	EngineScheduling
	// EngineWaiting waits for what is running.
	EngineWaiting
	// EngineAnalyzing records what has ended, and finds what follows.
	EngineAnalyzing
	// EngineGameOver has nothing left to do, and determines how the run ended.
	EngineGameOver
	// EngineSuccess has ended with a flow in SUCCESS.
	EngineSuccess
	// EngineReverted has ended with a flow in REVERTED.
	EngineReverted
	// EngineSuspended has ended with a flow in SUSPENDED.
	EngineSuspended
	// EngineFailure has ended with a flow in FAILURE.
	EngineFailure
)

// Ended reports whether the machine has stopped: SUCCESS, REVERTED, SUSPENDED or FAILURE. A run that continues gets a
// new machine.
func (s Engine) Ended() bool { return s >= EngineSuccess && s <= EngineFailure }

// Meta reports whether a caller that steps through a run never sees the state: UNDEFINED or
// GAME_OVER.
func (s Engine) Meta() bool { return s == EngineUndefined || s == EngineGameOver }

var engineNames = vocabulary{"engine", []string{
	"UNDEFINED", "RESUMING", "SCHEDULING", "WAITING", "ANALYZING", "GAME_OVER", "SUCCESS", "REVERTED", "SUSPENDED",
	"FAILURE",
}}

// String returns TaskFlow's spelling, for example "ANALYZING".
func (s Engine) String() string { return engineNames.text(uint8(s)) }

// MarshalText returns the same text as String, or ErrUnknown for a number without a state.
func (s Engine) MarshalText() ([]byte, error) { return engineNames.marshal(uint8(s)) }

// UnmarshalText accepts the output of MarshalText. For any other text, it returns ErrUnknown with a list of the legal
// ones, and does not change s.
func (s *Engine) UnmarshalText(text []byte) error { return engineNames.unmarshal(text, (*uint8)(s)) }

func (s Engine) table() *table { return engineTable }

var onEngine = events[Engine](&engineNames)

var engineTable = compile(engineNames,
	rules{events: fsm.Events{
		onEngine("start", EngineResuming, EngineUndefined),
		onEngine("schedule_next", EngineScheduling, EngineResuming, EngineAnalyzing),
		onEngine("wait_finished", EngineWaiting, EngineScheduling, EngineAnalyzing),
		onEngine("examine_finished", EngineAnalyzing, EngineWaiting),
		onEngine("completed", EngineGameOver, EngineAnalyzing),
		onEngine("success", EngineSuccess, EngineGameOver),
		onEngine("reverted", EngineReverted, EngineGameOver),
		onEngine("suspended", EngineSuspended, EngineGameOver),
		onEngine("failed", EngineFailure, EngineGameOver),
	}},
)

package grow

// An EndMark is how the latest execution of an atom ended, as its record says. It does not change while the atom is
// reverted, because the revert receives it. It keeps the engine from asking the language of a growing flow twice about
// the same end. Stores keep its number.
type EndMark uint8

// How the execution of an atom ended.
const (
	EndNone      EndMark = iota // the execution has not ended, or its end is unknown
	EndValue                    // the execution returned a result
	EndFailure                  // the execution failed
	EndHandled                  // the execution failed, and the language handled the failure
	EndDeferred                 // the execution returned, and another party ends the atom, by a token or a message
	EndUndoing                  // of a flow, not ended: the part that its result names is being undone first
	EndLeft                     // a flow was ended from outside; its result says what was open
	EndReopened                 // the run was reopened, and the language has not said yet what to start again
	EndContinued                // the run's own flow ended, and another run continues it: the result is its [Child]
)

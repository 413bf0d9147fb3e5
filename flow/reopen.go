package flow

// A Reopener is a [Language] whose runs can go on after they have failed, timed out or been cancelled: see [Reopened].
// Whatever had succeeded stays done. A run that was undone, wholly or in part, is never reopened.
//
// With the end of a run the engine commits what was open in it. So a language is asked only about the flows and nodes
// that had not succeeded, from the run's own flow inwards. Their memories and notes are those of the end.
type Reopener interface {
	Language
	// Reopens returns why the language does not reopen a run; nil if it does. It is asked before anything changes. The
	// error tells an operator what to do instead.
	Reopens(run *RunInfo) error
}

package grow

// A Reopener is a [Language] whose runs an operator can continue after they have failed, timed out or been cancelled.
// Whatever had succeeded stays done. A run that was undone, wholly or in part, is never reopened.
//
// The commit that ends a run has the flows and nodes that were open in it. The engine asks the language only about
// these, with the cause [Reopened], from the run's own flow inwards. Their memories and notes are those of the end.
type Reopener interface {
	Language
	// Reopens returns why the language does not reopen a run; nil if it does. It is asked before anything changes. The
	// error tells an operator what to do instead.
	Reopens(run *RunInfo) error
}

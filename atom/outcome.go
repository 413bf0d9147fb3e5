package atom

// An Outcome tells a revert how the execution that it undoes ended: Done with a
// result, Failed, or Unknown, when the execution was started and its end is not
// known (a crash, a timeout, a lost worker). If the Outcome is Unknown, the revert
// looks the effect up by the [IdempotencyKey].
type Outcome[T any] struct {
	end      outcome
	result   T
	failure  *Failure
	failures []*Failure
}

type outcome uint8

const (
	unknown outcome = iota
	done
	failed
)

// Done returns the outcome of an execution that returned result.
func Done[T any](result T) Outcome[T] { return Outcome[T]{end: done, result: result} }

// Failed returns the outcome of an execution that failed with f.
func Failed[T any](f *Failure) Outcome[T] { return Outcome[T]{end: failed, failure: f} }

// Unknown returns the outcome of an execution that was started and whose end is not known, as after a crash. A test
// of a Revert passes it.
func Unknown[T any]() Outcome[T] { return Outcome[T]{} }

// Because returns o with the failures that caused the undo.
func (o Outcome[T]) Because(failures []*Failure) Outcome[T] {
	o.failures = failures
	return o
}

// Done returns the result, and whether the execution is known to have ended
// with one.
func (o Outcome[T]) Done() (T, bool) { return o.result, o.end == done }

// Failed returns the failure, and whether the execution is known to have
// failed. The effect may still have happened in part.
func (o Outcome[T]) Failed() (*Failure, bool) { return o.failure, o.end == failed }

// Unknown reports whether the execution was started and its end is not known.
func (o Outcome[T]) Unknown() bool { return o.end == unknown }

// Failures returns the failures that caused the undo, in the order of their atoms. It
// is empty if an operator or a program asked for the undo.
func (o Outcome[T]) Failures() []*Failure { return o.failures }

// String returns "done", "failed" or "unknown".
func (o Outcome[T]) String() string {
	return [...]string{unknown: "unknown", done: "done", failed: "failed"}[o.end]
}

package worker

import "fmt"

// Errorf returns an error with a code. The flow decides by the code how to continue.
func Errorf(code, format string, args ...any) error { return &coded{fmt.Errorf(format, args...), code} }

type coded struct {
	error

	code string
}

func (e *coded) ErrorCode() string { return e.code }
func (e *coded) Unwrap() error     { return e.error }

// Final marks err as final: the task itself is not retried after it. The flow around
// the task, such as the Retry of an ASL state, may still decide to run the task again.
func Final(err error) error { return &final{err} }

type final struct{ error }

func (*final) Final() bool     { return true }
func (e *final) Unwrap() error { return e.error }

package worker

import "fmt"

// Errorf returns an error with a code, by which the flow decides what follows.
func Errorf(code, format string, args ...any) error { return &coded{fmt.Errorf(format, args...), code} }

type coded struct {
	error

	code string
}

func (e *coded) ErrorCode() string { return e.code }
func (e *coded) Unwrap() error     { return e.error }

// Final returns err as one after which trying again is of no use: the task's own
// attempts end with it. What a flow around it does, such as an ASL state's Retry, is
// for the flow to say.
func Final(err error) error { return &final{err} }

type final struct{ error }

func (*final) Final() bool     { return true }
func (e *final) Unwrap() error { return e.error }

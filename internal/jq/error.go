package jq

import (
	"errors"
	"strings"
)

// An Error describes an error in a program, and its place.
type Error struct {
	Offset  int    // in the program's text, in bytes
	Message string // what is wrong
	Fix     string // how to correct it; "" if unknown
}

// Error returns the message and the fix.
func (e *Error) Error() string {
	if e.Fix == "" {
		return e.Message
	}
	return e.Message + " (" + e.Fix + ")"
}

// ErrLimit is wrapped by the error of an evaluation that would have exceeded a limit.
var ErrLimit = errors.New("beyond the limits of an expression")

// A limitError names the limit that an evaluation would have exceeded.
type limitError struct{ what string }

func (e *limitError) Error() string { return e.what }
func (e *limitError) Unwrap() error { return ErrLimit }

var (
	errSteps       = &limitError{"the expression takes more steps than it may"}
	errInterrupted = &limitError{"the evaluation was interrupted"}
	errSize        = &limitError{"the expression builds a value that is larger than it may"}
	errDepth       = &limitError{"the expression builds a value that nests deeper than it may"}
	errDigits      = &limitError{"a number has more digits than it may"}
	errIndex       = &limitError{"an array index is larger than it may be"}
)

// A runError is an error that the program itself caused while it ran.
type runError struct{ message string }

func (e *runError) Error() string { return e.message }

// failure returns the error of an evaluation without gojq's types.
func failure(err error) error {
	if limit, ok := errors.AsType[*limitError](err); ok {
		return limit
	}
	var raised interface{ Value() any }
	if errors.As(err, &raised) { // by error(…)
		if text, ok := raised.Value().(string); ok {
			return &runError{text}
		}
		if text, err := Encode(raised.Value(), maxKey); err == nil {
			return &runError{string(text)}
		}
	}
	return &runError{strings.TrimPrefix(err.Error(), "error: ")}
}

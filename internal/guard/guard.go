// Package guard calls code of users. Such code may panic, or end its goroutine as runtime.Goexit and testing.T.FailNow
// do. The caller gets an error in both cases.
package guard

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/ebbflow/ebb/internal/clip"
)

// ErrEnded is the error of a call that ended its goroutine.
var ErrEnded = errors.New("the called code ended its goroutine, as runtime.Goexit does")

// Call calls f on a goroutine of its own, and waits for its end. It returns an *[PanicError], [ErrEnded] or nil.
func Call(f func()) error {
	ended := make(chan error, 1)
	go func() {
		err := ErrEnded
		defer func() {
			if p := recover(); p != nil {
				err = Panicked(p)
			}
			ended <- err
		}()
		f()
		err = nil
	}()
	return <-ended
}

// Panicked returns the error of a panic. It must be called by the function that recovered.
func Panicked(p any) error {
	return &PanicError{Value: p, Stack: clip.Text(string(debug.Stack()), maxStack)}
}

// maxStack is the size in bytes of a stack that is kept, see atom.MaxFailureText.
const maxStack = 32 << 10

// A PanicError is that of package atom.
type PanicError struct {
	Value any    // the value passed to panic
	Stack string // the stack of the goroutine that panicked
}

// Error returns the text of the panic, without the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// ErrorCode returns the code of a panic.
func (e *PanicError) ErrorCode() string { return "Panic" }

package atom_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
)

// quiet has a method ErrorCode that has nothing to say.
type quiet struct{}

func (quiet) Error() string     { return "hush" }
func (quiet) ErrorCode() string { return "" }

func TestNewFailure(t *testing.T) {
	t.Parallel()
	stored := &atom.Failure{Atom: "inner", Code: "Card.Declined", Message: "no money", Stack: "pay.go:7", Attempt: 9}
	for name, tc := range map[string]struct {
		err  error
		want atom.Failure
	}{
		"plain": {errors.New("no valid host"), atom.Failure{Code: atom.CodeError, Message: "no valid host"}},
		"coded": {atom.Errorf("Card.Declined", "no %s", "money"), atom.Failure{
			Code:    "Card.Declined",
			Message: "no money",
		}},
		"coded, wrapped": {fmt.Errorf("pay: %w", atom.Errorf("A", "x")), atom.Failure{Code: "A", Message: "pay: x"}},
		"outermost code": {atom.Errorf("A", "pay: %w", atom.Errorf("B", "x")), atom.Failure{Code: "A", Message: "pay: x"}},
		"code over cause": {atom.Errorf("A", "pay: %w", stored), atom.Failure{
			Code:    "A",
			Message: "pay: inner: Card.Declined: no money",
		}},
		"joined":        {errors.Join(errors.New("x"), atom.Errorf("B", "y")), atom.Failure{Code: "B", Message: "x\ny"}},
		"an empty code": {quiet{}, atom.Failure{Code: atom.CodeError, Message: "hush"}},
		"stored":        {stored, atom.Failure{Code: "Card.Declined", Message: "no money", Stack: "pay.go:7"}},
		"stored, wrapped": {fmt.Errorf("pay: %w", stored), atom.Failure{
			Code:    "Card.Declined",
			Message: "pay: inner: Card.Declined: no money", Stack: "pay.go:7",
		}},
		"bare": {&atom.Failure{Bare: true}, atom.Failure{Bare: true}},
		"panic": {&atom.PanicError{Value: 42, Stack: "main.go:1"}, atom.Failure{
			Code:    atom.CodePanic,
			Message: "panic: 42", Stack: "main.go:1",
		}},
		"too large": {fmt.Errorf("task: %w", atom.ErrValueTooLarge), atom.Failure{
			Code:    atom.CodeTooLarge,
			Message: "task: " + atom.ErrValueTooLarge.Error(),
		}},
		"a deadline that may be any": {fmt.Errorf("get: %w", context.DeadlineExceeded), atom.Failure{
			Code:    atom.CodeError,
			Message: "get: context deadline exceeded",
		}},
		"a cancellation of any context": {context.Canceled, atom.Failure{Code: atom.CodeError, Message: "context canceled"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.want.Atom, tc.want.Attempt = "boot", 2
			if diff := cmp.Diff(&tc.want, atom.NewFailure("boot", 2, tc.err)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFailureError(t *testing.T) {
	t.Parallel()
	for want, f := range map[string]*atom.Failure{
		"boot: Error: no valid host": {Atom: "boot", Code: "Error", Message: "no valid host"},
		"Error: no valid host":       {Code: "Error", Message: "no valid host"},
		"boot: Timeout":              {Atom: "boot", Code: "Timeout"},
		"":                           {},
	} {
		if got := f.Error(); got != want {
			t.Errorf("%+v says %q, want %q", *f, got, want)
		}
	}
}

func TestErrorfUnwraps(t *testing.T) {
	t.Parallel()
	if err := atom.Errorf("A", "read: %w", context.Canceled); !errors.Is(err, context.Canceled) {
		t.Errorf("%v does not wrap its cause", err)
	}
}

package atom

import (
	"context"
	"fmt"
	"reflect"

	"github.com/ebbflow/ebb/internal/notcalled"
)

// Map returns a task that calls f with each of its arguments, in order, and
// whose result is the list of what f returned. The arguments are named by
// options, all of the type T:
//
//	atom.Map("sizes", sizeOf, atom.Requires("root", "home"), atom.As("sizes"))
//
// The list is provided by [As], its elements by [ProvidesElements]. Arguments
// that are [Optional] and have no value are passed over. The first error is the
// task's failure. Map panics when no argument is named.
func Map[T, R any](name string, f func(ctx context.Context, arg T) (R, error), opts ...Option) *Atom {
	body := folded[T, []R]{1, func(ctx context.Context, args []T) ([]R, error) {
		results := make([]R, len(args))
		for i, arg := range args {
			r, err := f(ctx, arg)
			if err != nil {
				return nil, err
			}
			results[i] = r
		}
		return results, nil
	}}
	return body.task(name, opts)
}

// Reduce returns a task that combines its arguments, in order, into one result:
// f(f(first, second), third) and so on. The arguments are named by options, all
// of the type T, and the result by [As]:
//
//	atom.Reduce("total", add, atom.Requires("net", "tax", "shipping"), atom.As("total"))
//
// Arguments that are [Optional] and have no value are left out. A single argument is the result. If there is none, the
// task fails with [CodeNotFound]. Reduce panics when fewer than two arguments are named.
func Reduce[T any](name string, f func(ctx context.Context, a, b T) (T, error), opts ...Option) *Atom {
	body := folded[T, T]{2, func(ctx context.Context, args []T) (result T, err error) {
		if len(args) == 0 {
			return result, Errorf(CodeNotFound, "none of the arguments has a value")
		}
		result = args[0]
		for _, arg := range args[1:] {
			if result, err = f(ctx, result, arg); err != nil {
				return result, err
			}
		}
		return result, nil
	}}
	return body.task(name, opts)
}

// folded is the Body of a task that does the same with all its arguments.
type folded[T, R any] struct {
	least int // how many arguments must be named
	fold  func(ctx context.Context, args []T) (R, error)
}

func (f folded[T, R]) task(name string, opts []Option) *Atom {
	a := New(name, f, opts...)
	a.noEffect = true
	if len(a.args) < f.least {
		panic(fmt.Sprintf("atom: task %q has %d arguments, want at least %d; name them with atom.Requires", name,
			len(a.args), f.least))
	}
	for i := range a.args {
		a.args[i].Type = reflect.TypeFor[T]()
	}
	return a
}

// Execute decodes the arguments in their order, and folds them.
func (f folded[T, R]) Execute(ctx context.Context, in Values) (Value, error) {
	var args []T
	for name, v := range in.All {
		var arg T
		if err := v.Decode(&arg); err != nil {
			return nil, notcalled.Error(fmt.Errorf("atom: decode the argument %q: %w", name, err))
		}
		args = append(args, arg)
	}
	result, err := f.fold(ctx, args)
	if err != nil {
		return nil, notcalled.ByTask(err)
	}
	return encodeResult(result, nil)
}

// Revert does nothing: a computation needs no undo.
func (folded[T, R]) Revert(context.Context, Values, Outcome[Value]) (Value, error) { return nil, nil }

func (folded[T, R]) Reverts() bool { return false }

func (folded[T, R]) outType() reflect.Type { return reflect.TypeFor[R]() }

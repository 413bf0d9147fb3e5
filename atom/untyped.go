package atom

import (
	"context"
	"fmt"
	"slices"

	"github.com/ebbflow/ebb/internal/notcalled"
)

// Untyped returns a task whose arguments and results are named by options such as [Requires], [Rebind], [Optional] and
// [Provides], not by types. undo may be nil.
func Untyped(name string, do func(ctx context.Context, in Values) (any, error),
	undo func(ctx context.Context, in Values, did Outcome[Value]) (any, error), opts ...Option,
) *Atom {
	if do == nil {
		panic(fmt.Sprintf("atom: task %q has nothing to do", name))
	}
	a := New(name, untyped{do, undo}, opts...)
	if a.revertArgs == nil { // Revert gets the arguments that Execute requires
		a.revertArgs = slices.DeleteFunc(slices.Clone(a.args), func(arg Arg) bool { return arg.Optional })
	}
	return a
}

type untyped struct {
	do   func(context.Context, Values) (any, error)
	undo func(context.Context, Values, Outcome[Value]) (any, error)
}

func (u untyped) Execute(ctx context.Context, in Values) (Value, error) {
	out, err := u.do(ctx, in)
	if err != nil {
		return nil, notcalled.ByTask(err)
	}
	return encodeResult(out, nil)
}

func (u untyped) Revert(ctx context.Context, in Values, did Outcome[Value]) (Value, error) {
	if u.undo == nil {
		return nil, nil
	}
	out, err := u.undo(ctx, in, did)
	if err != nil {
		return nil, notcalled.ByTask(err)
	}
	return Encode(out)
}

func (u untyped) Reverts() bool { return u.undo != nil }

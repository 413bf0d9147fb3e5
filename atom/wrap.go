package atom

import (
	"context"
	"reflect"
	"slices"
)

// A Wrapper wraps the calls of a task, both Execute and Revert; [CurrentCall] tells them apart. It may act before and
// after next, pass next another context, or not call next. Its result ends the call. An error or a panic is the task's
// failure, even if next succeeded. nil is success. It has no result if next failed or was not called.
type Wrapper func(ctx context.Context, next func(ctx context.Context) error) error

// Wrap puts w around Execute and Revert. If there are several, the first is the
// outermost. To wrap all tasks of an engine, give [Wrapper.Around] to
// engine.WithMiddleware. Retries ignore this option.
func Wrap(w Wrapper) Option { return func(a *Atom) { a.wrappers = append(a.wrappers, w) } }

// Around returns body with w around its calls.
func (w Wrapper) Around(body Body) Body { return wrapped{body, w} }

type wrapped struct {
	Body
	around Wrapper
}

func (w wrapped) Execute(ctx context.Context, in Values) (Value, error) {
	return w.call(ctx, func(ctx context.Context) (Value, error) { return w.Body.Execute(ctx, in) })
}

func (w wrapped) Revert(ctx context.Context, in Values, did Outcome[Value]) (Value, error) {
	return w.call(ctx, func(ctx context.Context) (Value, error) { return w.Body.Revert(ctx, in, did) })
}

// CheckArguments is that of the body, if it has one.
func (w wrapped) CheckArguments(in Values) error {
	if t, ok := w.Body.(interface{ CheckArguments(in Values) error }); ok {
		return t.CheckArguments(in)
	}
	return nil
}

func (w wrapped) checkResult(v Value) error {
	if t, ok := w.Body.(resultChecker); ok {
		return t.checkResult(v)
	}
	return nil
}

func (w wrapped) outType() reflect.Type {
	if t, ok := w.Body.(interface{ outType() reflect.Type }); ok {
		return t.outType()
	}
	return nil
}

func (w wrapped) call(ctx context.Context, body func(context.Context) (Value, error)) (result Value, err error) {
	err = w.around(ctx, func(ctx context.Context) (err error) {
		result, err = body(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// wrapUp puts the wrappers around the body. It is called when all options are set.
func (a *Atom) wrapUp() *Atom {
	if a.body == nil {
		return a
	}
	a.completeRevertArgs()
	for _, w := range slices.Backward(a.wrappers) {
		a.body = w.Around(a.body)
	}
	a.wrappers = nil
	return a
}

package atom

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/ebbflow/ebb/internal/gojson"
	"github.com/ebbflow/ebb/internal/jsonschema"
	"github.com/ebbflow/ebb/internal/notcalled"
)

// An Executor does a task's work. If it returns an error, the task fails. Give the error
// a code with [Errorf] if retries or catchers must recognize it.
type Executor[In, Out any] interface {
	// Execute does the work and returns the result. An error fails the attempt. Give it a
	// code with [Errorf] if retries or catches must distinguish it from others. A crash
	// repeats the attempt under the same [IdempotencyKey].
	Execute(ctx context.Context, in In) (Out, error)
}

// A Reverter is an [Executor] that can undo its effects.
type Reverter[In, Out any] interface {
	// Revert undoes what Execute did with the same input. did says how the execution
	// ended. An error fails the revert, see [RevertPolicy]. Reverting twice must be
	// harmless, because a crash in the middle of a revert repeats it.
	Revert(ctx context.Context, in In, did Outcome[Out]) error
}

// Task returns a task that does t's work. The exported fields of In are the symbols that it requires, under their json
// names. Fields that are pointers or have omitempty or omitzero are optional. The fields of Out are the symbols that it
// provides. Use [As] to provide the whole result under one name, and [From] for an input that is not a struct.
//
// t must have the method
//
//	Execute(ctx context.Context, in In) (Out, error)
//
// and, to be undone, also the method
//
//	Revert(ctx context.Context, in In, did atom.Outcome[Out]) error
//
// with the same In and Out. If the compiler says that it cannot infer In, or that t does not implement Executor or
// does not match it, Execute has another signature.
//
// Task panics if t has a method Revert with another signature, or has Revert only as a pointer. Such a task would
// silently never be undone.
func Task[In, Out any](name string, t Executor[In, Out], opts ...Option) *Atom {
	body := &typed[In, Out]{task: t}
	if r, ok := any(t).(Reverter[In, Out]); ok {
		body.reverter = r
	} else {
		refuseRevert[In, Out](name, reflect.ValueOf(t))
	}
	return newTyped(name, body, opts)
}

// refuseRevert panics when t, which is no Reverter, looks as if it were meant
// to be one.
func refuseRevert[In, Out any](name string, t reflect.Value) {
	if !t.IsValid() {
		panic(fmt.Sprintf("atom: task %q has no body", name))
	}
	want := reflect.TypeFor[func(context.Context, In, Outcome[Out]) error]()
	if m := t.MethodByName("Revert"); m.IsValid() {
		panic(fmt.Sprintf("atom: task %q: Revert has type %v; want %v", name, m.Type(), want))
	}
	if _, ok := reflect.PointerTo(t.Type()).MethodByName("Revert"); ok {
		panic(fmt.Sprintf("atom: task %q: Revert is a method of *%v; pass a pointer", name, t.Type()))
	}
}

// Func returns a task that executes f and cannot be undone.
func Func[In, Out any](name string, f func(ctx context.Context, in In) (Out, error), opts ...Option) *Atom {
	return newTyped(name, &typed[In, Out]{task: executeFunc[In, Out](f)}, opts)
}

// Pair returns a task that executes do and is undone by undo.
func Pair[In, Out any](name string, do func(ctx context.Context, in In) (Out, error),
	undo func(ctx context.Context, in In, did Outcome[Out]) error, opts ...Option,
) *Atom {
	return newTyped(name, &typed[In, Out]{task: executeFunc[In, Out](do), reverter: revertFunc[In, Out](undo)}, opts)
}

type executeFunc[In, Out any] func(context.Context, In) (Out, error)

func (f executeFunc[In, Out]) Execute(ctx context.Context, in In) (Out, error) { return f(ctx, in) }

type revertFunc[In, Out any] func(context.Context, In, Outcome[Out]) error

func (f revertFunc[In, Out]) Revert(ctx context.Context, in In, did Outcome[Out]) error {
	return f(ctx, in, did)
}

func newTyped[In, Out any](name string, body *typed[In, Out], opts []Option) *Atom {
	in, out := reflect.TypeFor[In](), reflect.TypeFor[Out]()
	body.custom = gojson.Custom(out)
	a := &Atom{name: name, body: body}
	if fields, ok := jsonschema.Fields(in); ok {
		for _, f := range fields {
			a.args = append(a.args, Arg{Name: f.Name, Symbol: f.Name, Optional: f.Optional, Type: f.Type})
		}
	} else {
		body.single = true
		a.args = []Arg{{Type: in}}
	}
	a.provides = Members(out)
	for _, opt := range opts {
		opt(a)
	}
	return a.wrapUp()
}

// emptyInput returns the type of an input that has fields, and none that can have a value; nil for others.
func (t *typed[In, Out]) emptyInput() reflect.Type {
	in := reflect.TypeFor[In]()
	if fields, ok := jsonschema.Fields(in); ok && len(fields) == 0 && in.NumField() > 0 {
		return in
	}
	return nil
}

// typed is the Body of a typed task.
type typed[In, Out any] struct {
	task     Executor[In, Out]
	reverter Reverter[In, Out]
	single   bool // In is no struct: it is the one unnamed argument
	custom   bool // only a value of Out shows that it can be decoded
}

func (t *typed[In, Out]) Execute(ctx context.Context, values Values) (Value, error) {
	in, err := t.decode(values)
	if err != nil {
		return nil, err
	}
	out, err := t.task.Execute(ctx, in)
	if err != nil {
		return nil, notcalled.ByTask(err)
	}
	if !t.custom {
		return encodeResult(out, nil)
	}
	return encodeResult(out, t.checkResult)
}

// encodeResult encodes what a task has returned, and checks it unless check is nil. An error says that the task may
// have done its work, see [Failure.Unknown].
func encodeResult(out any, check func(Value) error) (Value, error) {
	v, err := Encode(out)
	if err == nil && check != nil {
		err = check(v)
	}
	if err != nil && !errors.Is(err, ErrValueTooLarge) {
		return nil, Errorf(CodeBadResult, "the result cannot be stored: %w", err)
	}
	return v, err
}

func (t *typed[In, Out]) Revert(ctx context.Context, values Values, did Outcome[Value]) (Value, error) {
	if t.reverter == nil {
		return nil, nil
	}
	in, err := t.decode(values)
	if err != nil {
		return nil, err
	}
	outcome := Unknown[Out]()
	if f, ok := did.Failed(); ok {
		outcome = Failed[Out](f)
	} else if v, ok := did.Done(); ok {
		var out Out
		if err := v.Decode(&out); err != nil {
			return nil, fmt.Errorf("atom: decode the recorded result: %w", err)
		}
		outcome = Done(out)
	}
	return nil, notcalled.ByTask(t.reverter.Revert(ctx, in, outcome.Because(did.Failures())))
}

func (t *typed[In, Out]) Reverts() bool { return t.reverter != nil }

// takesFields marks a task whose arguments are the fields of its input.
func (t *typed[In, Out]) takesFields() {}

// CheckArguments returns why Execute cannot read its arguments, for those who do not call it here.
func (t *typed[In, Out]) CheckArguments(in Values) error {
	_, err := t.decode(in)
	return err
}

// checkResult reports whether v can be a result of the task: it decodes, and it has the members that a result of
// Execute always has. Otherwise an atom that requires one of them would fail later, and nobody would see why.
func (t *typed[In, Out]) checkResult(v Value) error {
	var out Out
	if err := v.Decode(&out); err != nil {
		return jsonschema.Explain(err)
	}
	fields, _ := jsonschema.Fields(reflect.TypeFor[Out]())
	return jsonschema.Missing(fields, func(name string) bool { _, has := v.Field(name); return has })
}

// outType lets options that name the whole result know its type.
func (t *typed[In, Out]) outType() reflect.Type { return reflect.TypeFor[Out]() }

func (t *typed[In, Out]) decode(values Values) (In, error) {
	var in In
	if len(values.args) == 0 {
		return in, nil
	}
	text := values.Object()
	if t.single || len(values.args) == 1 && values.args[0].Name == "" { // what a language passes is the whole
		text = values.Input()
	}
	if err := gojson.Unmarshal(text.JSON(), &in); err != nil {
		return in, notcalled.Error(fmt.Errorf("atom: decode the input: %w", err))
	}
	return in, nil
}

func wholeType(a *Atom) reflect.Type {
	typed, ok := a.body.(interface{ outType() reflect.Type })
	if !ok {
		typed, ok = a.control.(interface{ outType() reflect.Type })
	}
	if !ok {
		return nil
	}
	return typed.outType()
}

// Members returns the members of an encoded struct as separate symbols. It returns none if t is not a struct, or is not
// encoded as an object of its fields.
func Members(t reflect.Type) []Provide {
	fields, _ := jsonschema.Fields(t)
	var members []Provide
	for _, f := range fields {
		members = append(members, Provide{Symbol: f.Name, From: ByKey, Key: f.Name, Type: f.Type})
	}
	return members
}

package atom

import (
	"context"
	"fmt"
	"reflect"
	"time"
)

// Kind distinguishes tasks from retries.
type Kind uint8

// The kinds of atoms.
const (
	KindTask  Kind = iota // does work
	KindRetry             // decides, for the flow it belongs to, what a failure inside means
)

// An Atom is a task or a retry: a name, what it requires and provides, and a
// body. It is immutable once made and may be used in any number of flows, but
// only once within one. The name is its identity in the store: renaming an atom
// makes it another one.
type Atom struct {
	name       string
	kind       Kind
	version    string
	priority   int
	timeout    time.Duration
	toStart    time.Duration
	toClose    time.Duration
	args       []Arg
	revertArgs []Arg
	inject     []injected
	provides   []Provide
	body       Body
	control    Controller
	attempts   *AttemptPolicy
	revert     RevertPolicy
	pivot      bool
	noEffect   bool
	deferral   *Deferral
	signal     string
	awaits     bool // made by Awaits
	secrets    []string
	secret     bool // the whole result is
	wrappers   []Wrapper
}

type injected struct {
	symbol string
	value  Value
}

// An Arg is one argument of an atom: the value of a symbol under the atom's own
// name for it.
type Arg struct {
	Name     string       // the atom's name for it
	Symbol   string       // whose value it gets
	Optional bool         // left out when no atom and no input provides the symbol
	Type     reflect.Type // the Go type it is decoded into; nil when any will do
}

// A Provide is one symbol an atom provides, and where in its result the value
// is found.
type Provide struct {
	Symbol string       // name of the value that the atom provides
	From   Part         // the part of the result that is the value
	Key    string       // for ByKey
	Index  int          // for ByIndex
	Type   reflect.Type // the Go type it was encoded from; nil when unknown
}

// Part says which part of a result a symbol stands for.
type Part uint8

// Which part of a result a symbol provides, see [Provide].
const (
	Whole   Part = iota // the result itself
	ByKey               // a member of the object
	ByIndex             // an element of the array
)

// Of returns the part of result that p provides, and whether the result has it.
func (p Provide) Of(result Value) (Value, bool) {
	switch p.From {
	case ByKey:
		return result.Field(p.Key)
	case ByIndex:
		return result.Index(p.Index)
	default:
		return result, result != nil
	}
}

// A Body does a task's work on encoded values. [Task] makes one from a typed
// value; languages and remote workers bring their own.
type Body interface {
	// Execute does the work. A non-nil error is the task's failure. The result
	// nil counts as JSON's null.
	Execute(ctx context.Context, in Values) (Value, error)
	// Revert undoes what Execute did, or may have done. Its result is kept for
	// people to read.
	Revert(ctx context.Context, in Values, did Outcome[Value]) (Value, error)
	// Reverts reports whether Revert does anything. A run in which only atoms that
	// cannot be undone took effect does not end REVERTED.
	Reverts() bool
}

// Name returns the atom's name, its identity in the store.
func (a *Atom) Name() string { return a.name }

// String returns the atom's name.
func (a *Atom) String() string { return a.name }

// Kind returns whether a is a task or a retry.
func (a *Atom) Kind() Kind { return a.kind }

// Version returns the version given by [Version], or "".
func (a *Atom) Version() string { return a.version }

// Priority returns the priority: among atoms that are ready at once, larger
// ones are executed, and reverted, first.
func (a *Atom) Priority() int { return a.priority }

// Timeout returns how long one attempt may take; 0 is without limit.
func (a *Atom) Timeout() time.Duration { return a.timeout }

// Args returns the arguments of Execute.
func (a *Atom) Args() []Arg { return a.args }

// RevertArgs returns the arguments of Revert, which are those of Execute unless
// set apart.
func (a *Atom) RevertArgs() []Arg {
	if a.revertArgs != nil {
		return a.revertArgs
	}
	return a.args
}

// Injected returns the value that only this atom sees under symbol. It beats
// every provider.
func (a *Atom) Injected(symbol string) (Value, bool) {
	for _, in := range a.inject {
		if in.symbol == symbol {
			return in.value, true
		}
	}
	return nil, false
}

// Provides returns the symbols the atom provides.
func (a *Atom) Provides() []Provide { return a.provides }

// Body returns the body that does the atom's work; nil for a retry.
func (a *Atom) Body() Body { return a.body }

// Controller returns the controller that decides for a retry; nil for a task.
func (a *Atom) Controller() Controller { return a.control }

// Reverts reports whether undoing the atom does anything.
func (a *Atom) Reverts() bool { return a.kind == KindRetry || a.body != nil && a.body.Reverts() }

// ResultType returns the Go type of the result; nil if it is not known, as of an untyped task.
func (a *Atom) ResultType() reflect.Type { return wholeType(a) }

// New returns a task of the given name that body executes. [Task] and [Func] use it. If the body has a method
// Signature() ([]Arg, []Provide), that says what the task requires and provides, unless options say otherwise.
func New(name string, body Body, opts ...Option) *Atom {
	if body == nil {
		panic(fmt.Sprintf("atom: task %q has no body", name))
	}
	a := &Atom{name: name, body: body}
	if s, ok := body.(interface{ Signature() ([]Arg, []Provide) }); ok {
		a.args, a.provides = s.Signature()
	}
	for _, opt := range opts {
		opt(a)
	}
	return a.wrapUp()
}

package atom

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An Option sets something about an atom that is not in the types of its
// methods.
type Option func(*Atom)

// Timeout limits one attempt of Execute. When it passes, the attempt's context
// ends and the attempt fails with [CodeTimeout]; its outcome is Unknown. If
// Execute continues all the same, the engine gives it up after a while, see
// engine.WithGrace. [Deferrable] sets how long a run waits for a deferred attempt.
// The default is no limit.
func Timeout(d time.Duration) Option { return func(a *Atom) { a.timeout = d } }

// Priority sets the order among atoms that are ready at once: larger first,
// going forward and back. The default is 0.
func Priority(n int) Option { return func(a *Atom) { a.priority = n } }

// Version tells versions of an atom apart where nothing else does. It is part of
// the flow's structure: with another version the flow is a changed one, see
// engine.Flows.
func Version(v string) Option { return func(a *Atom) { a.version = v } }

// As names the symbol that the whole result provides, in place of the fields of
// a struct.
func As(symbol string) Option {
	return func(a *Atom) {
		typ := wholeType(a)
		a.provides = []Provide{{Symbol: symbol, Type: typ}}
	}
}

// From names the symbol that a task whose input is no struct requires. It panics
// when the input is one: its fields are the symbols, see [Rebind].
func From(symbol string) Option {
	return func(a *Atom) { a.arg("").Symbol = symbol }
}

// Rebind makes the argument take the value of another symbol than the one of
// its own name. It adds the argument to a task that has none of that name, and
// panics when that task's arguments are the fields of its input.
func Rebind(arg, symbol string) Option {
	return func(a *Atom) { a.arg(arg).Symbol = symbol }
}

// arg returns the argument of that name. A task gets it if need be, unless its
// arguments are fields: then the name is a mistake.
func (a *Atom) arg(name string) *Arg {
	i := slices.IndexFunc(a.args, func(arg Arg) bool { return arg.Name == name })
	if i >= 0 {
		return &a.args[i]
	}
	if _, fixed := a.body.(interface{ takesFields() }); fixed {
		if name == "" {
			panic(fmt.Sprintf("atom: task %q takes a struct, whose fields are what it requires: From does not apply", a.name))
		}
		names := make([]string, len(a.args))
		for i := range a.args {
			names[i] = strconv.Quote(a.args[i].Name)
		}
		panic(fmt.Sprintf("atom: task %q has no argument %q; it has %s", a.name, name, strings.Join(names, ", ")))
	}
	a.args = append(a.args, Arg{Name: name, Symbol: name})
	return &a.args[len(a.args)-1]
}

// Requires adds arguments, each named as its symbol, to a task whose arguments
// are no fields: [Untyped], [Map], [Reduce].
func Requires(symbols ...string) Option {
	return func(a *Atom) {
		for _, s := range symbols {
			a.args = append(a.args, Arg{Name: s, Symbol: s})
		}
	}
}

// Optional lets arguments be left out when no atom and no input provides them. It adds those
// that a task does not have, and panics when that task's arguments are the
// fields of its input.
func Optional(args ...string) Option {
	return func(a *Atom) {
		for _, name := range args {
			a.arg(name).Optional = true
		}
	}
}

// RevertRequires gives Revert arguments of its own, each named as its symbol.
func RevertRequires(symbols ...string) Option {
	return func(a *Atom) {
		for _, s := range symbols {
			a.revertArgs = append(a.revertArgs, Arg{Name: s, Symbol: s})
		}
	}
}

// RevertRebind gives Revert an argument of its own under another name than its
// symbol's.
func RevertRebind(arg, symbol string) Option {
	return func(a *Atom) { a.revertArgs = append(a.revertArgs, Arg{Name: arg, Symbol: symbol}) }
}

// Inject gives the atom a value that only it sees and that beats every
// provider. It panics when the value does not encode.
func Inject(symbol string, value any) Option {
	v, err := Encode(value)
	if err != nil {
		panic(fmt.Sprintf("atom: inject %q: %v", symbol, err))
	}
	return func(a *Atom) { a.inject = append(a.inject, injected{symbol, v}) }
}

// Provides names the symbols of an untyped task's result: one symbol is the
// whole result, several are the elements of an array.
func Provides(symbols ...string) Option {
	return func(a *Atom) {
		if len(symbols) == 1 {
			a.provides = []Provide{{Symbol: symbols[0]}}
			return
		}
		a.provides = nil
		for i, s := range symbols {
			a.provides = append(a.provides, Provide{Symbol: s, From: ByIndex, Index: i})
		}
	}
}

// ProvidesElements names the elements of a result that is an array, also when it
// is only one.
func ProvidesElements(symbols ...string) Option {
	return func(a *Atom) {
		a.provides = nil
		for i, s := range symbols {
			a.provides = append(a.provides, Provide{Symbol: s, From: ByIndex, Index: i})
		}
	}
}

// ProvidesFields names the members of an untyped task's object result.
func ProvidesFields(symbols ...string) Option {
	return func(a *Atom) {
		a.provides = nil
		for _, s := range symbols {
			a.provides = append(a.provides, Provide{Symbol: s, From: ByKey, Key: s})
		}
	}
}

package atom

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An Option sets a property of an atom that the types of its methods do not express.
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

// Version distinguishes versions of an atom that are otherwise alike. It is part of
// the flow's structure: with another version the flow is a changed one, see
// engine.Flows.
func Version(v string) Option { return func(a *Atom) { a.version = v } }

// As makes the whole result one symbol of that name. Without As, the fields of a struct
// result are the symbols.
func As(symbol string) Option {
	return func(a *Atom) {
		typ := wholeType(a)
		a.provides = []Provide{{Symbol: symbol, Type: typ}}
	}
}

// From names the symbol that a task requires whose input is not a struct. It panics if
// the input is a struct: then its fields are the symbols, see [Rebind].
func From(symbol string) Option {
	return func(a *Atom) { a.arg("").Symbol = symbol }
}

// Rebind gives the argument arg the value of symbol. By default an argument has the value
// of the symbol of its own name. If the task has no argument arg, Rebind adds it, or panics
// if the task's arguments are the fields of its input.
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

// completeRevertArgs adds the fields of the input of a typed task that RevertRequires and RevertRebind do not name.
// Without them, Revert would work with zero values.
func (a *Atom) completeRevertArgs() {
	if _, fixed := a.body.(interface{ takesFields() }); !fixed || a.revertArgs == nil {
		return
	}
	for i := range a.revertArgs {
		a.revertArgs[i].Type = a.arg(a.revertArgs[i].Name).Type
	}
	for _, arg := range a.args {
		if !slices.ContainsFunc(a.revertArgs, func(own Arg) bool { return own.Name == arg.Name }) {
			a.revertArgs = append(a.revertArgs, arg)
		}
	}
}

// Requires adds arguments, each with the name of its symbol, to a task whose arguments
// are not the fields of a struct: [Untyped], [Map], [Reduce].
func Requires(symbols ...string) Option {
	return func(a *Atom) {
		for _, s := range symbols {
			a.args = append(a.args, Arg{Name: s, Symbol: s})
		}
	}
}

// Optional leaves arguments out of a call if no atom and no input provides them. If the
// task has no such argument, Optional adds it, or panics if the task's arguments are the
// fields of its input.
func Optional(args ...string) Option {
	return func(a *Atom) {
		for _, name := range args {
			a.arg(name).Optional = true
		}
	}
}

// RevertRequires gives Revert arguments of its own, each with the name of its symbol. The Revert of a typed task gets
// the other fields of its input, too, with the values that Execute gets. If the input has no such field, RevertRequires
// panics. The undo of an [Untyped] task then gets only these arguments.
func RevertRequires(symbols ...string) Option {
	return func(a *Atom) {
		for _, s := range symbols {
			a.revertArgs = append(a.revertArgs, Arg{Name: s, Symbol: s})
		}
	}
}

// RevertRebind gives Revert its own argument arg, with the value of symbol. For the other arguments see
// [RevertRequires].
func RevertRebind(arg, symbol string) Option {
	return func(a *Atom) { a.revertArgs = append(a.revertArgs, Arg{Name: arg, Symbol: symbol}) }
}

// Inject gives the atom a value for symbol that only this atom sees. It takes precedence
// over every provider. Inject panics if the value cannot be encoded.
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

// ProvidesElements names the elements of an array result, even if there is only one.
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

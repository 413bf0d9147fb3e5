package asl

import (
	"maps"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// A variable is one that an Assign sets.
type variable struct {
	name  string
	value payload
}

// assigned evaluates an Assign, all of it before any variable changes.
func (w *interpreter) assigned(variables []variable, v *view) (map[string]*jsonValue, *stateError) {
	if len(variables) == 0 {
		return nil, nil
	}
	values := make(map[string]*jsonValue, len(variables))
	for i := range variables {
		value, f := variables[i].value.of(v)
		if f != nil {
			return nil, f
		}
		if value.tooLarge() {
			return nil, limitError(w.state.name)
		}
		values[variables[i].name] = value
	}
	if !w.fits(values) {
		return nil, limitError(w.state.name)
	}
	return values, nil
}

// fits reports whether the variables that can be seen stay within their limit
// when values are assigned.
func (w *interpreter) fits(values map[string]*jsonValue) bool {
	sum := 0
	for name, value := range w.visible() {
		if values[name] == nil {
			sum += len(name) + len(value.encoded())
		}
	}
	for name, value := range values {
		sum += len(name) + len(value.encoded())
	}
	return sum <= maxVariables
}

// variable returns the value of a variable, or nil.
func (w *interpreter) variable(name string) *jsonValue {
	if d := w.variables()[name]; d != nil {
		return d
	}
	return w.outer().outer[name]
}

// variables returns the level's own variables.
func (w *interpreter) variables() map[string]*jsonValue {
	if w.vars == nil {
		w.vars = map[string]*jsonValue{}
		if len(w.ask.Memory) > 0 {
			if vars, err := readData(jsontext.NewReader(w.ask.Memory.JSON())); err == nil {
				w.vars = vars
			}
		}
	}
	return w.vars
}

// outer returns what the level's group shares; nothing at the top.
func (w *interpreter) outer() *shared {
	if w.group == nil {
		w.group = &shared{}
		if w.ask.Index >= 0 {
			if group, err := w.shared(); err == nil {
				w.group = group
			}
		}
	}
	return w.group
}

// visible returns every variable that can be seen.
func (w *interpreter) visible() map[string]*jsonValue {
	all := maps.Clone(w.outer().outer)
	if all == nil {
		all = map[string]*jsonValue{}
	}
	maps.Copy(all, w.variables())
	return all
}

// set changes variables.
func (w *interpreter) set(values map[string]*jsonValue) {
	if len(values) > 0 {
		maps.Copy(w.variables(), values)
		w.changed = true
	}
}

package interpreter

import (
	"maps"

	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/expression"
	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// assigned evaluates an Assign, all of it before any variable changes.
func (w *surroundings) assigned(variables []syntax.Variable,
	v *expression.View,
) (map[string]*data.Value, *stateerror.Error) {
	if len(variables) == 0 {
		return nil, nil
	}
	values := make(map[string]*data.Value, len(variables))
	for i := range variables {
		value, f := w.computed(variables[i].Value, v)
		if f != nil {
			return nil, f
		}
		values[variables[i].Name] = value
	}
	if !w.fits(values) {
		return nil, stateerror.TooLarge(w.State.Name)
	}
	return values, nil
}

// fits reports whether the variables that can be seen stay within their limit
// when values are assigned.
func (w *surroundings) fits(values map[string]*data.Value) bool {
	sum := 0
	for name, value := range w.Visible() {
		if values[name] == nil {
			sum += len(name) + len(value.Encoded())
		}
	}
	for name, value := range values {
		sum += len(name) + len(value.Encoded())
	}
	return sum <= maxVariables
}

// Variable returns the value of a variable, or nil.
func (w *surroundings) Variable(name string) *data.Value {
	if d := w.Variables()[name]; d != nil {
		return d
	}
	return w.outer().Outer[name]
}

// Variables returns the level's own variables.
func (w *surroundings) Variables() map[string]*data.Value {
	if w.vars == nil {
		w.vars = map[string]*data.Value{}
		if len(w.Ask.Memory) > 0 {
			if vars, err := data.ReadMembers(jsontext.NewReader(w.Ask.Memory.JSON())); err == nil {
				w.vars = vars
			}
		}
	}
	return w.vars
}

// outer returns what the level's group shares; nothing at the top.
func (w *surroundings) outer() *Shared {
	if w.Group == nil {
		w.Group = &Shared{}
		if w.Ask.Index >= 0 {
			if group, err := w.shared(); err == nil {
				w.Group = group
			}
		}
	}
	return w.Group
}

// Visible returns every variable that can be seen.
func (w *surroundings) Visible() map[string]*data.Value {
	all := maps.Clone(w.outer().Outer)
	if all == nil {
		all = map[string]*data.Value{}
	}
	maps.Copy(all, w.Variables())
	return all
}

// Set changes variables.
func (w *surroundings) Set(values map[string]*data.Value) {
	if len(values) > 0 {
		maps.Copy(w.Variables(), values)
		w.changed = true
	}
}

//limit:asl all variables that a state sees | {B} | `States.DataLimitExceeded`
const maxVariables = 384 << 10

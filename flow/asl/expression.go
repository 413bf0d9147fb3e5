package asl

import (
	"errors"

	"github.com/ebbflow/ebb/internal/jsonata"
	"github.com/ebbflow/ebb/internal/jsonpath"
)

// A view is what an expression may see: the state's data as $, and through the
// walk the context object as $$ and the variables as $name. To a query it shows
// the state's input as $states.input, and the data as $states.result or
// $states.errorOutput.
type view struct {
	input *datum
	walk  *walk
	as    string // result, errorOutput or neither

	states jsonata.Value // $states, of which so much has been asked for:
	shown  usage
}

// document returns what a path starts from.
func (v *view) document(path *jsonpath.Path) (any, *fault) {
	switch path.Root() {
	case jsonpath.RootContext:
		return v.walk.context(), nil
	case jsonpath.RootVariable:
		d := v.walk.variable(path.Variable())
		if d == nil {
			return nil, runtimeFault("the variable $%s is not assigned, which the path '%s' names", path.Variable(), path.Text())
		}
		return d.look()
	default:
		return v.input.look()
	}
}

// look is decoded with its error as a fault.
func (d *datum) look() (any, *fault) {
	tree, err := d.decoded()
	if err != nil {
		return nil, runtimeFault("%v", err)
	}
	return tree, nil
}

// get returns what a path names, and whether that is there.
func (v *view) get(path *jsonpath.Path) (value any, found bool, f *fault) {
	doc, f := v.document(path)
	if f != nil {
		return nil, false, f
	}
	value, err := path.Get(doc)
	if _, ok := errors.AsType[*jsonpath.NotFoundError](err); ok {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, runtimeFault("%v", err)
	}
	return value, true, nil
}

// resolve returns what a path in a field of a state names. AWS words the failure
// "Invalid path '$.x' : No results for path: $['x']".
func (v *view) resolve(path *jsonpath.Path) (any, *fault) {
	doc, f := v.document(path)
	if f != nil {
		return nil, f
	}
	value, err := path.Get(doc)
	if missing, ok := errors.AsType[*jsonpath.NotFoundError](err); ok {
		return nil, runtimeFault("Invalid path '%s' : %s", path.Text(), missing.Reason)
	}
	if err != nil {
		return nil, runtimeFault("%v", err)
	}
	return value, nil
}

// apply returns the part of d that an InputPath or OutputPath names.
func (v *view) apply(p dataPath, d *datum) (*datum, *fault) {
	switch {
	case p.none:
		return emptyObject, nil
	case p.path == nil:
		return d, nil
	}
	value, f := (&view{input: d, walk: v.walk}).resolve(p.path)
	if f != nil {
		return nil, f
	}
	return treeDatum(value), nil
}

// pathExpression is a path in a payload template.
type pathExpression struct {
	field string
	path  *jsonpath.Path
}

func (e *pathExpression) evaluate(v *view) (any, *fault) {
	value, found, f := v.get(e.path)
	if f == nil && !found {
		f = localFault(profiles[v.walk.machine.profile].pathFailure,
			"The JSONPath '%s' specified for the field '%s' could not be found in the input '%s'", e.path.Text(), e.field, v.input.encoded())
		f.also = statesParameterPath
	}
	return value, f
}

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
	input *jsonValue
	walk  *interpreter
	as    string // result, errorOutput or neither

	states jsonata.Value // $states, of which so much has been asked for:
	shown  usage
}

// document returns what a path starts from.
func (v *view) document(path *jsonpath.Path) (any, *stateError) {
	switch path.Root() {
	case jsonpath.RootContext:
		return v.walk.context(), nil
	case jsonpath.RootVariable:
		d := v.walk.variable(path.Variable())
		if d == nil {
			return nil, runtimeError("the variable $%s is not assigned, which the path '%s' names", path.Variable(), path.Text())
		}
		return d.look()
	default:
		return v.input.look()
	}
}

// look is decoded with an error becoming a stateError.
func (d *jsonValue) look() (any, *stateError) {
	tree, err := d.decoded()
	if err != nil {
		return nil, runtimeError("%v", err)
	}
	return tree, nil
}

// find returns what a path names, or why it is not there.
func (v *view) find(path *jsonpath.Path) (value any, missing *jsonpath.NotFoundError, f *stateError) {
	if v.walk.ask.Done() {
		return nil, nil, interrupted
	}
	doc, f := v.document(path)
	if f != nil {
		return nil, nil, f
	}
	value, err := path.Get(doc)
	if missing, ok := errors.AsType[*jsonpath.NotFoundError](err); ok {
		return nil, missing, nil
	}
	if err != nil {
		return nil, nil, runtimeError("%v", err)
	}
	return value, nil, nil
}

// get returns what a path names, and whether that is there.
func (v *view) get(path *jsonpath.Path) (value any, found bool, f *stateError) {
	value, missing, f := v.find(path)
	return value, missing == nil && f == nil, f
}

// resolve returns what a path in a field of a state names. AWS words the failure
// "Invalid path '$.x' : No results for path: $['x']".
func (v *view) resolve(path *jsonpath.Path) (any, *stateError) {
	value, missing, f := v.find(path)
	if f == nil && missing != nil {
		f = runtimeError("Invalid path '%s' : %s", underRoot(path), missing.Reason)
	}
	return value, f
}

// apply returns the part of d that an InputPath or OutputPath names.
func (v *view) apply(p dataPath, d *jsonValue) (*jsonValue, *stateError) {
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
	return treeValue(value), nil
}

// pathExpression is a path in a payload template.
type pathExpression struct {
	field string
	path  *jsonpath.Path
}

// evaluate returns what the path names. As on AWS, an element behind the end of an
// array is null here, and nowhere else.
func (e *pathExpression) evaluate(v *view) (any, *stateError) {
	value, missing, f := v.find(e.path)
	if f != nil || missing == nil || missing.BehindEnd {
		return value, f
	}
	input := v.input
	if e.path.Root() == jsonpath.RootContext {
		input = treeValue(v.walk.context())
	}
	f = runtimeError("The JSONPath '%s' specified for the field '%s' could not be found in the input '%s'", underRoot(e.path), e.field, input.encoded())
	return nil, v.walk.pathError(f)
}

// underRoot is how causes tell a path into the context object: as the context
// object sees it. Others are told as they are written.
func underRoot(path *jsonpath.Path) string {
	if path.Root() == jsonpath.RootContext {
		return path.Text()[1:]
	}
	return path.Text()
}

// pathError gives the error of a path in a payload template the name that it has
// under the profile.
func (w *interpreter) pathError(f *stateError) *stateError {
	f.name, f.also = profiles[w.machine.profile].pathFailure, statesParameterPath
	return f
}

package asl

import (
	"errors"
	"strings"

	"github.com/ebbflow/ebb/internal/jsonpath"
)

// A view is what an expression may see: the state's data as $, and through the
// walk the context object as $$ and the variables as $name.
type view struct {
	input *datum
	walk  *walk
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

// look is value with its error as a fault.
func (d *datum) look() (any, *fault) {
	tree, err := d.value()
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

// expression compiles the value of a .$ member.
func (c *compiler) expression(n *node, text string) expression {
	if strings.HasPrefix(text, "$") {
		path := c.path(n)
		if path != nil && c.reverting && path.Root() == jsonpath.RootVariable {
			c.schemaf(n, variablesInRevert)
		}
		if path != nil {
			return &pathExpression{field: n.key, path: path}
		}
		return nil
	}
	return c.intrinsic(n, text)
}

const variablesInRevert = "variables cannot be seen when a state is undone; put what is needed into the state's Parameters"

// pathExpression is a path in a payload template.
type pathExpression struct {
	field string
	path  *jsonpath.Path
}

func (e *pathExpression) evaluate(v *view) (any, *fault) {
	value, found, f := v.get(e.path)
	if f == nil && !found {
		f = runtimeFault("The JSONPath '%s' specified for the field '%s' could not be found in the input '%s'", e.path.Text(), e.field, v.input.encoded())
		f.also = "States.ParameterPathFailure"
	}
	return value, f
}

package expression

import (
	"errors"

	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
	"github.com/ebbflow/ebb/internal/jsonata"
	"github.com/ebbflow/ebb/internal/jsonpath"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// A View is what an expression may see: the state's data as $, and in its environment
// the context object as $$ and the variables as $name. To a query it shows
// the state's input as $states.input, and the data as $states.result or
// $states.errorOutput.
type View struct {
	Input *data.Value
	In    environment
	As    string // result, errorOutput or neither

	states jsonata.Value // $states, of which so much has been asked for:
	shown  usage
}

// An environment is what expressions can see besides the data that they are given.
type environment interface {
	StateName() string
	StateInput() *data.Value // raw
	Context() *jsontext.OrderedMap
	ContextQuery() (jsonata.Value, *stateerror.Error)
	Variable(name string) *data.Value // nil if it is not assigned
	Queries() *Queries                // what queries are evaluated with
	Random() uint64
	Interrupted() bool   // the caller does not need the value any more
	PathFailure() string // name of the error of a path in a payload template that names nothing
}

// document returns what a path starts from.
func (v *View) document(path *jsonpath.Path) (any, *stateerror.Error) {
	switch path.Root() {
	case jsonpath.RootContext:
		return v.In.Context(), nil
	case jsonpath.RootVariable:
		d := v.In.Variable(path.Variable())
		if d == nil {
			return nil, stateerror.Runtimef("the variable $%s is not assigned, which the path '%s' names", path.Variable(), path.Text())
		}
		return d.Look()
	default:
		return v.Input.Look()
	}
}

// Find returns the value that a path names, or the reason why there is none.
func (v *View) Find(path *jsonpath.Path) (value any, missing *jsonpath.NotFoundError, f *stateerror.Error) {
	if v.In.Interrupted() {
		return nil, nil, stateerror.Interruption
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
		return nil, nil, stateerror.Runtimef("%v", err)
	}
	return value, nil, nil
}

// Get returns the value that a path names, and whether there is one.
func (v *View) Get(path *jsonpath.Path) (value any, found bool, f *stateerror.Error) {
	value, missing, f := v.Find(path)
	return value, missing == nil && f == nil, f
}

// Resolve returns the value that a path in a field of a state names. AWS words the failure
// "Invalid path '$.x' : No results for path: $['x']".
func (v *View) Resolve(path *jsonpath.Path) (any, *stateerror.Error) {
	value, missing, f := v.Find(path)
	if f == nil && missing != nil {
		f = stateerror.Runtimef("Invalid path '%s' : %s", UnderRoot(path), missing.Reason)
	}
	return value, f
}

// Apply returns the part of d that an InputPath or OutputPath names.
func (v *View) Apply(p DataPath, d *data.Value) (*data.Value, *stateerror.Error) {
	switch {
	case p.None:
		return data.EmptyObject, nil
	case p.Path == nil:
		return d, nil
	}
	value, f := (&View{Input: d, In: v.In}).Resolve(p.Path)
	if f != nil {
		return nil, f
	}
	return data.Tree(value), nil
}

// Path is a path in a payload template.
type Path struct {
	Field string
	Path  *jsonpath.Path
}

// Evaluate returns the value that the path names. As on AWS, an element beyond the end
// of an array is null here, and nowhere else.
func (e *Path) Evaluate(v *View) (any, *stateerror.Error) {
	value, missing, f := v.Find(e.Path)
	if f != nil || missing == nil || missing.BehindEnd {
		return value, f
	}
	input := v.Input
	if e.Path.Root() == jsonpath.RootContext {
		input = data.Tree(v.In.Context())
	}
	f = stateerror.Runtimef("The JSONPath '%s' specified for the field '%s' could not be found in the input '%s'", UnderRoot(e.Path), e.Field, input.Encoded())
	return nil, v.pathError(f)
}

// UnderRoot is how causes tell a path into the context object: as the context
// object sees it. Others are told as they are written.
func UnderRoot(path *jsonpath.Path) string {
	if path.Root() == jsonpath.RootContext {
		return path.Text()[1:]
	}
	return path.Text()
}

// pathError gives the error of a path in a payload template the name that it has
// under the profile.
func (v *View) pathError(f *stateerror.Error) *stateerror.Error {
	f.Name, f.Also = v.In.PathFailure(), stateerror.ParameterPath
	return f
}

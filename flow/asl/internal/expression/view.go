package expression

import (
	"errors"
	"strings"

	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
	"github.com/ebbflow/ebb/internal/jsonata"
	"github.com/ebbflow/ebb/internal/jsonpath"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// A View contains the values that an expression may see. $ is the state's data. The environment provides the
// context object as $$ and the variables as $name. For a query, $states.input is the state's input, and
// $states.result or $states.errorOutput is the data.
type View struct {
	Input *data.Value
	In    environment
	As    string // result, errorOutput or neither

	states jsonata.Value // $states, with the members that were needed so far
	shown  usage
}

// An environment provides the values that expressions can see besides $.
type environment interface {
	StateName() string
	StateInput() *data.Value // raw input of the state
	Context() *jsontext.OrderedMap
	ContextQuery() (jsonata.Value, *stateerror.Error)
	Variable(name string) *data.Value // nil if the variable is not assigned
	Queries() *Queries                // for evaluating queries
	Random() uint64
	Interrupted() bool    // the caller no longer needs the value
	Spend(steps int) bool // counts steps of the visit to the state; false if none remain
	PathFailure() string  // name of the error for a path in a payload template that names no value
}

// document returns the value at which a path starts.
func (v *View) document(path *jsonpath.Path) (any, *stateerror.Error) {
	switch path.Root() {
	case jsonpath.RootContext:
		return v.In.Context(), nil
	case jsonpath.RootVariable:
		d := v.In.Variable(path.Variable())
		if d == nil {
			return nil, stateerror.Runtimef("the variable $%s is not assigned, which the path '%s' names", path.Variable(),
				path.Text())
		}
		return d.Look()
	default:
		return v.Input.Look()
	}
}

// pathSteps is how many steps of a path count as one step of a visit.
const pathSteps = 4

// tooManySteps returns the failure of a state whose paths and functions take more steps than a visit has.
func tooManySteps() *stateerror.Error {
	return stateerror.Runtimef("the expressions of the state take too many steps (limit %d)", jsonata.MaxSteps)
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
	value, steps, err := path.Measure(doc)
	if !v.In.Spend(steps / pathSteps) {
		return nil, nil, tooManySteps()
	}
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

// Resolve returns the value that a path in a field of a state names. AWS's message for a failure is "Invalid path
// '$.x' : No results for path: $['x']".
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

// Evaluate returns the value that the path names. As on AWS, an element beyond the end of an array is null, but
// only in a payload template.
func (e *Path) Evaluate(v *View) (any, *stateerror.Error) {
	value, missing, f := v.Find(e.Path)
	if f != nil || missing == nil || missing.BehindEnd {
		return value, f
	}
	input := v.Input
	if e.Path.Root() == jsonpath.RootContext {
		input = data.Tree(v.In.Context())
	}
	f = stateerror.Runtimef("The JSONPath '%s' specified for the field '%s' could not be found in the input '%s'",
		e.Path.Text(), e.Field, input.Encoded())
	return nil, v.pathError(f)
}

// UnderRoot returns a path as most causes quote it: a path into the context object starts at that object.
func UnderRoot(path *jsonpath.Path) string {
	if path.Root() == jsonpath.RootContext {
		return strings.Replace(path.Text(), "$$", "$", 1)
	}
	return path.Text()
}

// pathError gives the error of a path in a payload template the name that the profile defines.
func (v *View) pathError(f *stateerror.Error) *stateerror.Error {
	f.Name, f.Also = v.In.PathFailure(), stateerror.ParameterPath
	return f
}

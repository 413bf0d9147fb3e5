package jsonata

import (
	"errors"
	"time"

	"github.com/ebbflow/ebb/internal/ecmaregexp"
)

// Limits of an evaluation.
const (
	// MaxSteps is the maximum number of steps of an evaluation. A step is the evaluation of a node, or about as much
	// work.
	//
	//limit:jsonata steps of all expressions in one visit to a state, with those of JSONPath, which count a quarter each,
	//limit:and and the values of intrinsic functions (`jsonata.MaxSteps`) | {} | `States.QueryEvaluationError`,
	//limit:and `States.Runtime` in JSONPath
	MaxSteps = 5_000_000
	// MaxSize is the maximum size of a value that an evaluation may build, as measured on AWS. A number counts 8, a
	// text its bytes, and an array or object 32 and the sizes of its values.
	//
	//limit:jsonata intermediate value; a number counts {scalarSize} B, an array or object {containerSize} B plus
	//limit:and content (`jsonata.MaxSize`) | {B} | `States.QueryEvaluationError`
	MaxSize = 873_782 * scalarSize
	// MaxDepth is the maximum depth of nested evaluations, as on AWS.
	//
	//limit:jsonata nested evaluations (`jsonata.MaxDepth`) | {} | `States.QueryEvaluationError`
	MaxDepth = 100

	//limit:jsonata elements of `$range` | {} | `States.QueryEvaluationError`
	maxRange = 360_145 // items of $range, as measured on AWS

	bytesPerStep = 32 // bytes of a text that are copied or compared in a step
	itemsPerStep = 4  // items of an array that are copied in a step
)

// LimitCode is the code of errors about an exceeded limit of evaluation.
const LimitCode = "U1001"

// InternalCode is the code of errors that AWS calls internal: its library does not foresee them.
const InternalCode = "internal"

// Exceeded limits, in the words of AWS.
var (
	errSteps = &fault{code: LimitCode, message: "Expression evaluation timeout: Check for infinite loop"}
	errSize  = &fault{
		code:    LimitCode,
		message: "Expression evaluation memory limit exceeded: Check for excessive memory usage",
	}
	errInterrupted = &fault{code: LimitCode, message: "the evaluation was interrupted"}

	errDepth = &fault{
		code:    LimitCode,
		message: "Stack overflow error: Check for non-terminating recursive function. Consider rewriting as tail-recursive.",
	}
)

// A run is one evaluation.
type run struct {
	steps  int // remaining steps of the slice
	kept   int // remaining steps after the slice
	depth  int
	broken *fault // the exceeded limit; the evaluation is over
	now    time.Time
	random func() uint64

	interrupted func() bool // called at the end of each slice; nil if all steps are one slice
}

// slice is the number of steps between two calls of interrupted: about a millisecond.
const slice = 10_000

// work takes steps from the remaining ones. Loops that evaluate nothing must check broken now and then.
func (r *run) work(steps int) {
	if r.steps -= steps; r.steps < 0 {
		r.sliceEnded()
	}
}

// sliceEnded starts the next slice, unless no steps remain or the caller no longer needs the result.
func (r *run) sliceEnded() {
	switch r.unite(); {
	case r.steps < 0:
		r.stop(errSteps)
	case r.interrupted():
		r.stop(errInterrupted)
		r.steps = -1
	default:
		r.cut()
	}
}

// cut keeps all but one slice of the steps.
func (r *run) cut() {
	r.kept = max(0, r.steps-slice)
	r.steps -= r.kept
}

// unite joins all slices into one.
func (r *run) unite() {
	r.steps += r.kept
	r.kept = 0
}

func (r *run) stop(limit *fault) {
	if r.broken == nil {
		r.broken = limit
	}
}

// make counts the size of a value before it is built, and reports whether the limits allow it.
func (r *run) make(size int) bool {
	if size > MaxSize || size < 0 {
		r.stop(errSize)
		return false
	}
	r.work(size / bytesPerStep)
	return r.broken == nil
}

// made counts the size of a value that was built part by part.
func (r *run) made(v any) {
	if size := sizeOf(v); size > MaxSize+containerSize || depthOf(v) > maxNesting {
		r.stop(errSize)
	}
}

// pushAll adds the items of an array to an array under construction.
func (r *run) pushAll(into, from *array) {
	r.work(len(from.items) / itemsPerStep)
	into.items = append(into.items, from.items...)
	into.size += from.size
	into.depth = max(into.depth, from.depth)
}

// evaluate evaluates a node, its predicates and its grouping.
func (r *run) evaluate(n node, input any, env *frame) (any, error) {
	if r.depth >= MaxDepth {
		return nil, errDepth
	}
	if r.work(1); r.broken != nil {
		return nil, r.broken
	}
	r.depth++
	v, err := n.evaluate(r, input, env)
	c := n.common()
	for i := 0; i < len(c.predicates) && err == nil; i++ {
		v, err = r.filter(c.predicates[i], v, env)
	}
	if err == nil && c.group != nil {
		if _, isPath := n.(*pathNode); !isPath { // a path groups with the bindings of its values
			v, err = r.group(c.group, v, env)
		}
	}
	r.depth--
	if err != nil {
		return nil, err
	}
	if a, ok := v.(*array); ok && a.sequence && !a.tuples {
		if c.keepArray {
			a.keepSingleton = true
		}
		v = collapsed(a)
	}
	if r.made(v); r.broken != nil {
		return nil, r.broken
	}
	return v, nil
}

// match searches a text for a regular expression, and takes the steps that this costs.
func (r *run) match(re *ecmaregexp.Regexp, text string, from int) ([]int, error) {
	r.unite()
	at, err := re.Match(text, from, &r.steps)
	if r.interrupted != nil {
		r.cut()
	}
	if errors.Is(err, ecmaregexp.ErrBudget) {
		r.stop(errSteps)
		return nil, r.broken
	}
	return at, err
}

// A frame holds the variables of a block, a call, or a tuple.
type frame struct {
	outer  *frame
	names  []string
	values []any
	table  map[string]any // of the outermost frame: the functions
	host   *Environment   // of the frame inside it: the caller's variables
}

func (f *frame) bind(name string, v any) {
	for i, n := range f.names {
		if n == name {
			f.values[i] = v
			return
		}
	}
	f.names, f.values = append(f.names, name), append(f.values, v)
}

func (f *frame) lookup(name string) any {
	for ; f != nil; f = f.outer {
		for i, n := range f.names {
			if n == name {
				return f.values[i]
			}
		}
		if f.table != nil {
			return f.table[name]
		}
		if f.host != nil && f.host.Variable != nil {
			if v, ok := f.host.Variable(name); ok {
				return v.v
			}
		}
	}
	return nil
}

package jsonata

import (
	"errors"
	"time"

	"github.com/ebbflow/ebb/internal/ecmaregexp"
)

// The limits of an evaluation.
const (
	// MaxSteps is how much work an evaluation may be: a step is a node that is
	// evaluated, or about as much work as that.
	MaxSteps = 5_000_000
	// MaxSize is the size of the largest value that an evaluation may build. A number counts 8, a text its bytes, and
	// an array or object 32 and the sizes of its values. It is what AWS was measured to allow.
	MaxSize = 873_782 * scalarSize
	// MaxDepth is how deep evaluations may stand in each other, as on AWS.
	MaxDepth = 100

	maxRange = 360_145 // items of $range, as AWS was measured to allow

	bytesPerStep = 32 // how much of a text is copied or compared in a step
	itemsPerStep = 4  // how many items of an array are copied
)

// LimitCode is the code of errors that say that a limit of evaluation was passed.
const LimitCode = "U1001"

// Limits that were passed, in the words of AWS.
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
	steps  int // left, of the slice
	kept   int // left for the slices to come
	depth  int
	broken *fault // a limit that was passed; the evaluation is over
	now    time.Time
	random func() uint64

	interrupted func() bool // asked at the end of each slice; nil when all is one slice
}

// slice is how many steps are taken before it is asked whether to give up: about a
// millisecond.
const slice = 10_000

// work takes steps from those that are left. Code that works in a loop without
// evaluating anything looks at broken now and then.
func (r *run) work(steps int) {
	if r.steps -= steps; r.steps < 0 {
		r.sliceEnded()
	}
}

// sliceEnded begins the next slice, unless no steps are left or the caller does not
// need the result any more.
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

// unite makes one slice of all steps.
func (r *run) unite() {
	r.steps += r.kept
	r.kept = 0
}

func (r *run) stop(limit *fault) {
	if r.broken == nil {
		r.broken = limit
	}
}

// make accounts for a value of a size before it is made, and reports whether it
// may be.
func (r *run) make(size int) bool {
	if size > MaxSize || size < 0 {
		r.stop(errSize)
		return false
	}
	r.work(size / bytesPerStep)
	return r.broken == nil
}

// made accounts for a value that was made, part by part.
func (r *run) made(v any) {
	if size := sizeOf(v); size > MaxSize+containerSize || depthOf(v) > maxNesting {
		r.stop(errSize)
	}
}

// pushAll adds the items of an array to one that is being made.
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
		if _, isPath := n.(*pathNode); !isPath { // a path groups with what is bound to its values
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

// match finds a regular expression in a text; what it costs is paid for.
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
	table  map[string]any // of the outermost: the functions
	host   *Environment   // of the one inside it: has the caller's variables
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

package jsonpath

// Root is the start of a path. It says which document the caller must pass.
type Root uint8

// The roots of a path.
const (
	RootInput    Root = iota // $, the input or result of a state
	RootContext              // $$, the context object
	RootVariable             // $name, a variable
)

// String returns the root as it is written.
func (r Root) String() string {
	switch r {
	case RootInput:
		return "$"
	case RootContext:
		return "$$"
	case RootVariable:
		return "$name"
	}
	return "unknown root"
}

// A Path is a parsed path. It never changes, and any number of goroutines may use it.
type Path struct {
	text     string
	root     Root
	variable string
	query
}

// Root returns the start of the path.
func (p *Path) Root() Root { return p.root }

// Variable returns the name of the variable at which the path starts, without its dollar sign, or "" for another root.
func (p *Path) Variable() string { return p.variable }

// Text returns the path as it was given to Parse. AWS quotes this form in messages.
func (p *Path) Text() string { return p.text }

// Definite reports whether the path names one value. For such a path, Get returns that value. For others, it returns a
// list.
func (p *Path) Definite() bool { return p.definite || p.function != noFunction }

// CheckReference returns a *ParseError unless the path is a reference path, which has only members and single indices.
// Any root is allowed.
func (p *Path) CheckReference() error {
	for i := range p.steps {
		if problem := p.steps[i].ambiguity(); problem != "" {
			return &ParseError{
				p.text, p.steps[i].offset,
				problem + "; a reference path names one value, by members and single indices",
			}
		}
	}
	if p.function != noFunction {
		return &ParseError{p.text, len(p.text) - len(p.function.String()) - len(".()"), "a reference path calls no functions"}
	}
	return nil
}

// CheckResultPath returns a *ParseError unless Set may write to the path: a reference path from $ without negative
// indices.
func (p *Path) CheckResultPath() error {
	if p.root != RootInput {
		return &ParseError{p.text, 0, "only the state's own data can be written to; begin with $. or $["}
	}
	if err := p.CheckReference(); err != nil {
		return err
	}
	for i := range p.steps {
		if s := &p.steps[i].selectors[0]; s.kind == selectIndex && s.index < 0 {
			return &ParseError{
				p.text, p.steps[i].offset,
				"a result is written to an index counted from the start; use one that is not negative",
			}
		}
	}
	return nil
}

// A query is a path without its root: the part that a Path and the paths inside filters share.
type query struct {
	steps    []step
	function function
	// definite: every step leads to one value at most.
	definite bool
	// work is the number of budget steps that a definite query takes.
	work int
	// repeats: the steps may return a value, or parts of it, more than once. The results can then be larger than the
	// document.
	repeats bool
}

// A step leads from a value to the children that one of its selectors names. A descending step starts from the value
// and from all values below it.
type step struct {
	descend   bool
	selectors []selector
	offset    int // position in the path, for messages
}

type selectorKind uint8

const (
	selectName    selectorKind = iota // .name
	selectMembers                     // ['a','b'] at the end of a path
	selectIndex                       // [0]
	selectSlice                       // [0:1]
	selectAll                         // [*]
	selectFilter                      // [?(…)]
)

type selector struct {
	kind      selectorKind
	name      string
	names     []string // of selectMembers, in the order in which they were written
	index     int
	slice     slice
	condition condition
}

// slice is [from:to:by]; by is never 0.
type slice struct {
	from, to, by   int
	hasFrom, hasTo bool
}

// bounds returns the first index for an array of length n, and the index before which to stop in the direction of by
// (RFC 9535, 2.3.4.2.2).
func (s slice) bounds(n int) (first, end int) {
	low, high := 0, n
	if s.by < 0 {
		low, high = -1, n-1
	}
	place := func(index int, given bool, otherwise int) int {
		if !given {
			return otherwise
		}
		if index < 0 {
			index += n
		}
		return min(max(index, low), high)
	}
	if s.by < 0 {
		return place(s.from, s.hasFrom, high), place(s.to, s.hasTo, low)
	}
	return place(s.from, s.hasFrom, low), place(s.to, s.hasTo, high)
}

func (s *step) definite() bool {
	return !s.descend && len(s.selectors) == 1 && s.selectors[0].kind <= selectIndex
}

// ambiguity returns the reason why a reference path cannot have a step, or "".
func (s *step) ambiguity() string {
	switch {
	case s.descend:
		return "'..' looks at any depth"
	case len(s.selectors) > 1 || s.selectors[0].kind == selectMembers:
		return "',' names several"
	case s.selectors[0].kind == selectSlice:
		return "':' names several"
	case s.selectors[0].kind == selectAll:
		return "'*' names all"
	case s.selectors[0].kind == selectFilter:
		return "'?' filters"
	}
	return ""
}

// seal completes a query. The names that its last step lists become one object. seal also computes properties of the
// steps in advance.
func (q *query) seal() {
	if n := len(q.steps); n > 0 && q.function == noFunction {
		q.steps[n-1].gather()
	}
	q.definite, q.work = true, 1
	for i := range q.steps {
		s := &q.steps[i]
		q.definite = q.definite && s.definite()
		q.repeats = q.repeats || s.descend || len(s.selectors) > 1
		q.work += 1 + len(s.selectors[0].names)
	}
}

// gather joins ['a','b'] into a single selector of members.
func (s *step) gather() {
	if len(s.selectors) < 2 {
		return
	}
	names := make([]string, len(s.selectors))
	for i := range s.selectors {
		if s.selectors[i].kind != selectName {
			return
		}
		names[i] = s.selectors[i].name
	}
	s.selectors = []selector{{kind: selectMembers, names: names}}
}

package jsonpath

import (
	"fmt"
	"strconv"
	"strings"
)

// Root is the start of a path. It says which document the caller must pass.
type Root uint8

// The roots of a path.
const (
	RootInput    Root = iota // $, the input or result of a state
	RootContext              // $$, the context object
	RootVariable             // $name, a variable
)

// A Path is a parsed path. It never changes, and any number of goroutines may use it.
type Path struct {
	text     string
	root     Root
	variable string
	caution  string
	query
}

// Root returns the start of the path.
func (p *Path) Root() Root { return p.root }

// Variable returns the name of the variable at which the path starts, without its dollar sign, or "" for another root.
func (p *Path) Variable() string { return p.variable }

// Text returns the path as it was given to Parse. AWS quotes this form in messages.
func (p *Path) Text() string { return p.text }

// Whole reports whether the path names its whole document.
func (p *Path) Whole() bool { return len(p.steps) == 0 }

// Definite reports whether the path names one value. For such a path, Get returns that value. For others, it returns a
// list.
func (p *Path) Definite() bool { return p.definite }

// Caution says what newer versions of JSONPath find in the path and AWS does not, and how to get it, or "".
func (p *Path) Caution() string { return p.caution }

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
		if s := &p.steps[i]; s.kind == stepIndex && s.numbers[0] < 0 {
			return &ParseError{
				p.text, s.offset,
				"a result is written to an index counted from the start; use one that is not negative",
			}
		}
	}
	return nil
}

// prefix returns the path of the first n steps as AWS writes it in messages: $['a']['b'][0].
func (p *Path) prefix(n int) string {
	var b strings.Builder
	b.WriteString("$" + p.variable) // $$ is $, as seen from the context object
	for i := range p.steps[:n] {
		b.WriteString(p.steps[i].fragment())
	}
	return b.String()
}

// A query is a path without its root: the part that a Path and the paths inside filters share.
type query struct {
	steps []step
	// definite: every step leads to one value at most.
	definite bool
	// repeats: the steps may return a value, or parts of it, more than once. The results can then be larger than the
	// document.
	repeats bool
}

// A step leads from a value to some of its children. A descending step starts from the value and from all objects and
// arrays below it.
type step struct {
	descend bool
	kind    stepKind
	names   []string
	numbers []int
	filter  filter
	offset  int // position in the path, for messages
}

type stepKind uint8

const (
	stepName    stepKind = iota // .a
	stepMembers                 // ['a','b'], an object of those members
	stepNothing                 // ['a','b'] before another step
	stepIndex                   // [0]
	stepLast                    // [(@.length-1)]
	stepIndices                 // [0,1]
	stepFrom                    // [1:]
	stepTo                      // [:2]
	stepBetween                 // [1:2]
	stepAll                     // [*]
	stepFilter                  // [?(…)]
)

func (s *step) definite() bool { return !s.descend && s.kind <= stepLast }

// indices returns the range of indices that a slice names in an array of n elements.
func (s *step) indices(n int) (first, end int) {
	switch from := s.numbers[0]; {
	case s.kind == stepTo && from < 0:
		return 0, n + from
	case s.kind == stepTo:
		return 0, min(from, n)
	case s.kind == stepFrom && from < 0:
		return max(n+from, 0), n
	case s.kind == stepBetween && from < 0:
		return 0, 0
	case s.kind == stepBetween:
		return from, min(s.numbers[1], n)
	default:
		return from, n
	}
}

// ambiguity returns the reason why a reference path cannot have a step, or "".
func (s *step) ambiguity() string {
	switch {
	case s.descend:
		return "'..' looks at any depth"
	case s.kind == stepMembers, s.kind == stepNothing, s.kind == stepIndices:
		return "',' names several"
	case s.kind == stepLast:
		return "'@' counts from the end"
	case s.kind == stepFrom, s.kind == stepTo, s.kind == stepBetween:
		return "':' names several"
	case s.kind == stepAll:
		return "'*' names all"
	case s.kind == stepFilter:
		return "'?' filters"
	}
	return ""
}

// fragment returns the step of a definite path in AWS's form.
func (s *step) fragment() string {
	switch s.kind {
	case stepIndex:
		return fmt.Sprintf("[%d]", s.numbers[0])
	case stepLast:
		return "[@.size()" + strconv.Itoa(s.numbers[0]) + "]"
	default:
		return "['" + strings.Join(s.names, "', '") + "']"
	}
}

package flow

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/internal/spelling"
)

var (
	// ErrDuplicate is wrapped when two nodes have one name, or one node is used in
	// two places.
	ErrDuplicate = errors.New("duplicate")
	// ErrMissing is wrapped if nothing provides a symbol that an atom requires.
	ErrMissing = errors.New("missing dependency")
	// ErrAmbiguous is wrapped if several nodes of a graph provide a symbol that another
	// node requires.
	ErrAmbiguous = errors.New("ambiguous dependency")
	// ErrCycle is wrapped when nodes of a graph depend on each other.
	ErrCycle = errors.New("dependency cycle")
	// ErrUnused is wrapped if nothing requires an input, or if a value is hidden before anything can require it.
	ErrUnused = errors.New("unused")
	// ErrType is wrapped when a symbol is required as another type than it is
	// provided as.
	ErrType = errors.New("type mismatch")
	// ErrInvalid is wrapped when a flow contains something invalid: a node of
	// a foreign type, an empty name, a link to a node that is not in the flow.
	ErrInvalid = errors.New("invalid")
)

// A Problem is one mistake in the definition of a flow.
type Problem struct {
	Flow   string // name of the flow it is in
	Atom   string // name of the node it is about; may be ""
	Symbol string // the symbol it is about; may be ""
	Kind   error  // one of the sentinels of this package
	Text   string // what is wrong, and how to fix it
}

// Error returns the problem's text, with place and fix.
func (p *Problem) Error() string { return "flow: " + p.Text }

// Unwrap returns the sentinel.
func (p *Problem) Unwrap() error { return p.Kind }

// Problems are all mistakes of a flow, found before anything runs.
type Problems []*Problem

// Error returns one problem a line.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the problems.
func (ps Problems) Unwrap() []error {
	errs := make([]error, len(ps))
	for i, p := range ps {
		errs[i] = p
	}
	return errs
}

// didYouMean returns " (did you mean "x"?)" for the candidate nearest to name,
// or "" when none is near.
func didYouMean(name string, candidates []string) string {
	if near := spelling.Nearest(name, candidates); near != "" {
		return fmt.Sprintf(" (did you mean %q?)", near)
	}
	return ""
}

func quoted(s string) string { return strconv.Quote(s) }

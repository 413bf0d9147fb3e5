package ecmaregexp

import "fmt"

// Limits of a pattern.
const (
	// MaxLength is the length in bytes of the longest pattern.
	//
	//limit:jsonata regular expression (`ecmaregexp.MaxLength`, `ecmaregexp.MaxProgram`) | {B}, {MaxProgram}
	//limit:and instructions | `States.QueryEvaluationError`; refused if literal
	MaxLength = 8 << 10
	// MaxProgram is the maximum number of compiled instructions.
	MaxProgram = 20_000

	maxNesting = 100 // of groups
)

// A SyntaxError says why a pattern is not valid.
type SyntaxError struct {
	Offset  int // bytes from the start of the pattern
	Problem string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("regular expression, offset %d: %s", e.Offset, e.Problem)
}

// A tree is a parsed pattern.
type tree interface{ isTree() }

type (
	literal rune
	dot     struct{}
	// sequence matches its parts in order. An empty sequence matches the empty text.
	sequence []tree
	// choice matches the first of its alternatives with which the rest matches.
	choice []tree
	// repeat matches its part at least min times, and at most max times (-1: no bound). It contains the groups from
	// first to last.
	repeat struct {
		part        tree
		min, max    int
		lazy        bool
		first, last int
	}
	group struct {
		part  tree
		index int // from 1
	}
	look struct {
		part             tree
		behind, negative bool
	}
	reference struct {
		index int
		name  string // not "": name of the group, in place of its index
	}
	begin   struct{}
	end     struct{}
	wordEnd struct{ not bool }
)

func (literal) isTree()   {}
func (dot) isTree()       {}
func (*class) isTree()    {}
func (sequence) isTree()  {}
func (choice) isTree()    {}
func (*repeat) isTree()   {}
func (group) isTree()     {}
func (look) isTree()      {}
func (reference) isTree() {}
func (begin) isTree()     {}
func (end) isTree()       {}
func (wordEnd) isTree()   {}

// single reports whether a tree always matches exactly one character.
func single(t tree) bool {
	switch t.(type) {
	case literal, dot, *class:
		return true
	}
	return false
}

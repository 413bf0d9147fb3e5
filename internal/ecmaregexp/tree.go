package ecmaregexp

import "fmt"

// The limits of a pattern.
const (
	// MaxLength is the length in bytes of the longest pattern.
	MaxLength = 8 << 10
	// MaxProgram is how many instructions a pattern may compile to.
	MaxProgram = 20_000

	maxNesting = 100 // of groups
)

// A SyntaxError says why a pattern is none.
type SyntaxError struct {
	Offset  int // bytes from the start of the pattern
	Problem string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("regular expression, offset %d: %s", e.Offset, e.Problem)
}

// tree is a parsed pattern.
type tree interface{ isTree() }

type (
	literal rune
	dot     struct{}
	// sequence matches one part after the other; an empty one matches nothing.
	sequence []tree
	// choice matches the first of its alternatives that lets the rest match.
	choice []tree
	// repeat matches its part at least min times, at most max times (-1: any
	// number). Groups first to last stand in it.
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
		name  string // not "": the index is that of the group with the name
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

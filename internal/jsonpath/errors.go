package jsonpath

import (
	"errors"
	"fmt"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// The limits within which paths are parsed and evaluated.
const (
	// MaxLength is the length in bytes of the longest path.
	MaxLength = 8 << 10
	// MaxNesting is how deep parentheses, filters and literals may nest.
	MaxNesting = 64
	// MaxPattern is the size of the largest regexp in compiled instructions.
	MaxPattern = 1000
	// MaxWork is the number of steps one evaluation may take.
	MaxWork = 1_000_000
)

// ErrBudget is returned when an evaluation would take more than MaxWork steps.
var ErrBudget = errors.New("the evaluation takes too many steps")

// A ParseError says where a path breaks the language, or the narrower rules of
// a reference path, and what would be right.
type ParseError struct {
	Text    string // the whole path as given
	Offset  int    // bytes from the start of Text
	Problem string
}

func (e *ParseError) Error() string {
	return fmt.Sprintf("jsonpath: %s at offset %d: %s", shorten(e.Text), e.Offset, e.Problem)
}

// A NotFoundError says that a document lacks the one value a definite path
// names.
type NotFoundError struct {
	Path string // the path as written
	// Reason is what AWS prints behind "Invalid path '$.x' : ", for example
	// "No results for path: $['x']".
	Reason string
	Step   string // the step that led nowhere: a member's name, or an index
	// BehindEnd: all but the last step is there, and that is the index of an array
	// with fewer elements.
	BehindEnd bool
	// Unfit: a step takes a value for an array that is none, of which AWS tells in
	// words of its own wherever a path fails.
	Unfit bool
}

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("jsonpath: %s: %s", shorten(e.Path), e.Reason)
}

// A MatchError says why Set cannot write to a document: something on the way is
// not the object or array the path takes it for. In the Amazon States Language
// it is the failure States.ResultPathMatchFailure.
type MatchError struct {
	Path    string // the path as written
	At      string // the place in the way, normalized
	Problem string
}

func (e *MatchError) Error() string {
	return fmt.Sprintf("jsonpath: %s cannot be set: %s %s", shorten(e.Path), e.At, e.Problem)
}

// shorten keeps a hostile path from filling a log.
func shorten(text string) string {
	const most = 120
	if len(text) <= most {
		return text
	}
	return fmt.Sprintf("%.*s… (%d bytes)", most, text, len(text))
}

// kindOf names a value's JSON type for messages.
func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case *jsontext.OrderedMap:
		return "an object"
	case []any:
		return "an array"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	}
	return "a number"
}

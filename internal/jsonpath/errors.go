package jsonpath

import (
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// Limits of paths and of their evaluation.
const (
	// MaxLength is the length in bytes of the longest path.
	//
	//limit:jsonata JSONPath | {B}
	MaxLength = 8 << 10
	// MaxPattern is the maximum size of a regexp in compiled instructions.
	MaxPattern = 1000
	// MaxWork is the maximum number of steps of one evaluation.
	//
	//limit:jsonata steps of one evaluation of a JSONPath | {} | the state fails
	MaxWork = 1_000_000
)

// ErrBudget is returned if an evaluation would take more than MaxWork steps.
var ErrBudget = errors.New("the evaluation takes too many steps")

// A ParseError says where a path violates the language, or the narrower rules of a reference path, and how to correct
// it.
type ParseError struct {
	Text    string // the whole path as given
	Offset  int    // bytes from the start of Text
	Problem string
}

func (e *ParseError) Error() string {
	return fmt.Sprintf("jsonpath: %s at offset %d: %s", shorten(e.Text), e.Offset, e.Problem)
}

// fail returns a ParseError for the given position.
func (p *parser) fail(offset int, format string, args ...any) error {
	return &ParseError{Text: p.path.text, Offset: offset, Problem: fmt.Sprintf(format, args...)}
}

// here describes the start of a span, for messages.
func (p *parser) here(s span) string {
	if s.from >= len(p.path.text) {
		return "the end"
	}
	r, _ := utf8.DecodeRuneInString(p.path.text[s.from:])
	return strconv.QuoteRune(r)
}

// A NotFoundError says that a document does not have the value that a definite path names.
type NotFoundError struct {
	Path string // the path as written
	// Reason is AWS's text after "Invalid path '$.x' : ", for example "No results for path: $['x']".
	Reason string
	Step   string // the step that found nothing: a member's name, or an index
	// BehindEnd: all steps but the last succeed. The last is the index of an array with fewer elements.
	BehindEnd bool
	// Unfit: a step expects an array and finds another value. AWS has its own text for this, for each kind of path.
	Unfit bool
}

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("jsonpath: %s: %s", shorten(e.Path), e.Reason)
}

// A MatchError says why Set cannot write to a document: a value on the way is not the object or array that the path
// expects. In the Amazon States Language, this is the failure States.ResultPathMatchFailure.
type MatchError struct {
	Path    string // the path as written
	At      string // normalized path of the wrong value
	Problem string
}

func (e *MatchError) Error() string {
	return fmt.Sprintf("jsonpath: %s cannot be set: %s %s", shorten(e.Path), e.At, e.Problem)
}

// shorten cuts a long path, so that a hostile one does not fill a log.
func shorten(text string) string {
	const most = 120
	if len(text) <= most {
		return text
	}
	return fmt.Sprintf("%.*s… (%d bytes)", most, text, len(text))
}

// kindOf names the JSON type of a value for messages.
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

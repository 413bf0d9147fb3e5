package awsshape

import (
	_ "embed" // the operations
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// A shape is what a value looks like.
type shape struct {
	kind   byte // of the first character in operations
	words  []string
	of     *shape // of the elements of an array, or of an object's values
	fields map[string]field
}

type field struct {
	shape    *shape
	required bool
}

// Check compares an answer of an operation, such as lambda and invoke, with what
// the service would give, and returns what is wrong with it in the words of AWS.
// The answer is a JSON tree with numbers as [json.Number]. Fields that the service does
// not have are fine. If strict, the required ones must be there.
func Check(service, action string, answer any, strict bool) error {
	s := shapes()[strings.TrimPrefix(service, "aws-sdk:")+":"+action]
	if s == nil {
		return nil
	}
	if _, ok := answer.(map[string]any); !ok {
		return errors.New("Mock result must be a valid JSON object") //nolint:staticcheck // AWS's words
	}
	return s.check("", answer, strict)
}

func (s *shape) check(name string, value any, strict bool) error {
	switch v := value.(type) {
	case map[string]any:
		if s.kind == '<' || s.kind == '{' {
			return s.members(name, v, strict)
		}
	case []any:
		if s.kind == '[' {
			for _, element := range v {
				if err := s.of.check(name, element, strict); err != nil {
					return err
				}
			}
			return nil
		}
	case string:
		if s.kind == 's' && len(s.words) > 0 && !slices.Contains(s.words, v) {
			return fmt.Errorf("Mock result schema validation error: Field '%s' is not an expected value", name) //nolint:staticcheck // AWS's words
		}
		if s.kind == 's' {
			return nil
		}
	case json.Number:
		if s.kind == 'n' {
			return nil
		}
	case bool:
		if s.kind == 'b' {
			return nil
		}
	}
	if s.kind == '*' {
		return nil
	}
	return fmt.Errorf("Mock result schema validation error: Field '%s' must be %s", name, kindNames[s.kind]) //nolint:staticcheck // AWS's words
}

var kindNames = map[byte]string{'s': "a string", 'n': "a number", 'b': "a boolean", '[': "an array", '<': "an object", '{': "an object"}

func (s *shape) members(name string, object map[string]any, strict bool) error {
	if strict {
		for _, required := range slices.Sorted(maps.Keys(s.fields)) {
			if _, ok := object[required]; !ok && s.fields[required].required {
				return fmt.Errorf("Mock result schema validation error: Required field '%s' is missing", required) //nolint:staticcheck // AWS's words
			}
		}
	}
	for _, member := range slices.Sorted(maps.Keys(object)) {
		of, at := s.of, name
		if s.kind == '{' {
			of, at = s.fields[member].shape, member
		}
		if of == nil {
			continue
		}
		if err := of.check(at, object[member], strict); err != nil {
			return err
		}
	}
	return nil
}

//go:embed operations.txt
var operations string

// shapes are the operations, read.
var shapes = sync.OnceValue(func() map[string]*shape {
	texts := map[string]string{}
	for line := range strings.Lines(operations) {
		if name, text, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name != "#" {
			texts[name] = text
		}
	}
	all := make(map[string]*shape, len(texts))
	for name, text := range texts {
		r := reader{text: text, shared: texts}
		all[name] = r.shape()
	}
	return all
})

// A reader reads a shape from a line of the operations.
type reader struct {
	text   string
	shared map[string]string
}

// until returns what stands before the next of some characters, and leaves that one.
func (r *reader) until(ends string) (before string) {
	i := strings.IndexAny(r.text, ends)
	if i < 0 {
		i = len(r.text)
	}
	before, r.text = r.text[:i], r.text[i:]
	return before
}

func (r *reader) take(prefix string) (taken bool) {
	r.text, taken = strings.CutPrefix(r.text, prefix)
	return taken
}

func (r *reader) shape() *shape {
	s := &shape{kind: r.text[0]}
	if s.kind == '@' {
		other := reader{text: r.shared[r.until("!,]>}")], shared: r.shared}
		return other.shape()
	}
	r.text = r.text[1:]
	switch s.kind {
	case 's':
		if r.take("(") {
			s.words = strings.Split(r.until(")"), "|")
			r.take(")")
		}
	case '[', '<':
		s.of = r.shape()
		r.text = r.text[1:]
	case '{':
		s.fields = map[string]field{}
		for !r.take("}") {
			r.take(",")
			name := r.until(":")
			r.take(":")
			f := field{shape: r.shape()}
			f.required = r.take("!")
			s.fields[name] = f
		}
	}
	return s
}

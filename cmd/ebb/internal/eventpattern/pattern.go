package eventpattern

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// A Pattern matches some events.
type Pattern struct {
	fields map[string]*Pattern // all must match
	or     []*Pattern          // $or: one of them must match
	any    []test              // of a field: one of them must hold
}

// A test judges the value of a field; there is none if the event does not have the field.
type test func(value any, there bool) bool

// maxDepth is how deep patterns may nest.
const maxDepth = 100

// Parse returns the pattern in a JSON text.
func Parse(text []byte) (*Pattern, error) {
	var d any
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("the pattern is not JSON: %w", err)
	}
	object, is := d.(map[string]any)
	if !is || len(object) == 0 {
		return nil, errors.New("the pattern is not an object with fields")
	}
	return parse(object, maxDepth)
}

func parse(object map[string]any, depth int) (*Pattern, error) {
	if depth == 0 {
		return nil, fmt.Errorf("the pattern nests deeper than %d", maxDepth)
	}
	p := &Pattern{fields: map[string]*Pattern{}}
	for name, value := range object {
		var err error
		switch value := value.(type) {
		case map[string]any:
			p.fields[name], err = parse(value, depth-1)
		case []any:
			if name == "$or" {
				err = p.parseOr(value, depth)
				break
			}
			p.fields[name], err = parseTests(value)
		default:
			err = errors.New("want a list of values")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return p, nil
}

func (p *Pattern) parseOr(of []any, depth int) error {
	for _, item := range of {
		object, is := item.(map[string]any)
		if !is {
			return errors.New("want a list of patterns")
		}
		one, err := parse(object, depth-1)
		if err != nil {
			return err
		}
		p.or = append(p.or, one)
	}
	return nil
}

func parseTests(of []any) (*Pattern, error) {
	p := &Pattern{}
	for _, item := range of {
		one, err := testOf(item)
		if err != nil {
			return nil, err
		}
		p.any = append(p.any, one)
	}
	return p, nil
}

// testOf returns the test of a value, or of an object with a comparison.
func testOf(item any) (test, error) {
	object, is := item.(map[string]any)
	if !is {
		return func(value any, there bool) bool { return there && value == item }, nil
	}
	if len(object) != 1 {
		return nil, errors.New("want one comparison in an object")
	}
	for name, with := range object {
		compare := comparisons[name]
		if compare == nil {
			return nil, fmt.Errorf("the comparison %s is not known", name)
		}
		one, err := compare(with)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return one, nil
	}
	return nil, nil //nolint:nilnil // an object has one member
}

// Match reports whether the pattern matches an event: a value of package encoding/json.
func (p *Pattern) Match(event any) bool { return p.matches(event, true) }

func (p *Pattern) matches(value any, there bool) bool {
	if p.any != nil {
		return holds(p.any, value, there)
	}
	object, _ := value.(map[string]any) // of another value no field is there
	if list, is := value.([]any); is {
		for _, item := range list {
			if p.matches(item, true) {
				return true
			}
		}
		return false
	}
	for name, of := range p.fields {
		field, there := object[name]
		if !of.matches(field, there) {
			return false
		}
	}
	for _, one := range p.or {
		if one.matches(value, there) {
			return true
		}
	}
	return len(p.or) == 0
}

// holds reports whether one of the tests holds for a value, or for an element of a list.
func holds(tests []test, value any, there bool) bool {
	values := []any{value}
	if list, is := value.([]any); is {
		values = list
	}
	for _, one := range tests {
		for _, v := range values {
			if one(v, there) {
				return true
			}
		}
		if len(values) == 0 && one(nil, there) { // an empty list exists
			return true
		}
	}
	return false
}

// wildcard reports whether a text matches a pattern, in which * stands for any characters.
func wildcard(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	text, ok := strings.CutPrefix(text, parts[0])
	if !ok {
		return false
	}
	for _, part := range parts[1 : len(parts)-1] {
		_, rest, found := strings.Cut(text, part)
		if !found {
			return false
		}
		text = rest
	}
	return strings.HasSuffix(text, parts[len(parts)-1])
}

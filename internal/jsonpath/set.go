package jsonpath

import (
	"slices"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// Set returns a copy of doc with value at the place that the path names. The copy shares all other values with doc,
// which does not change. Set creates missing objects on the way. An array must exist and have the element.
//
// The error is a *MatchError if the document does not fit, and a *ParseError if CheckResultPath does not allow the
// path.
func (p *Path) Set(doc, value any) (any, error) {
	if err := p.CheckResultPath(); err != nil {
		return nil, err
	}
	return p.put(doc, 0, value)
}

// put returns old with value at the place to which the steps from the given one lead.
func (p *Path) put(old any, from int, value any) (any, error) {
	if from == len(p.steps) {
		return value, nil
	}
	switch s := &p.steps[from]; s.kind {
	case stepIndex:
		index := s.numbers[0]
		list, ok := old.([]any)
		if !ok {
			return nil, p.mismatch(from, "is "+kindOf(old)+", not an array")
		}
		if index >= len(list) {
			return nil, p.mismatch(from+1, "does not exist; only an element that is there can be replaced")
		}
		child, err := p.put(list[index], from+1, value)
		if err != nil {
			return nil, err
		}
		list = slices.Clone(list)
		list[index] = child
		return list, nil
	default:
		object, ok := old.(*jsontext.OrderedMap)
		if !ok {
			return nil, p.mismatch(from, "is "+kindOf(old)+", not an object")
		}
		child, err := p.putMember(object, s.names[0], from+1, value)
		if err != nil {
			return nil, err
		}
		return object.With(s.names[0], child), nil
	}
}

// putMember returns the new value of a member. If the member is missing, it creates an object.
func (p *Path) putMember(object *jsontext.OrderedMap, name string, from int, value any) (any, error) {
	member, ok := object.Get(name)
	if ok || from == len(p.steps) {
		return p.put(member, from, value)
	}
	if p.steps[from].kind == stepIndex {
		return nil, p.mismatch(from, "does not exist; only an element that is there can be replaced")
	}
	return p.put(&jsontext.OrderedMap{}, from, value)
}

func (p *Path) mismatch(at int, problem string) error {
	return &MatchError{Path: p.text, At: p.prefix(at), Problem: problem}
}

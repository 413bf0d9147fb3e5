package jsonpath

import (
	"slices"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// Set returns a document that differs from doc in having value where the path
// says. It shares everything else with doc, which stays as it is. Objects
// missing on the way are created; an array must be there and have the element.
//
// The error is a *MatchError when the document does not fit, and a *ParseError
// when the path is not one that CheckResultPath allows.
func (p *Path) Set(doc, value any) (any, error) {
	if err := p.CheckResultPath(); err != nil {
		return nil, err
	}
	return p.put(doc, 0, value)
}

// put returns old with value in the place the steps from the given one on lead
// to.
func (p *Path) put(old any, from int, value any) (any, error) {
	if from == len(p.steps) {
		return value, nil
	}
	switch s := &p.steps[from].selectors[0]; s.kind {
	case selectIndex:
		list, ok := old.([]any)
		if !ok {
			return nil, p.mismatch(from, "is "+kindOf(old)+", not an array")
		}
		if s.index >= len(list) {
			return nil, p.mismatch(from+1, "does not exist; only an element that is there can be replaced")
		}
		child, err := p.put(list[s.index], from+1, value)
		if err != nil {
			return nil, err
		}
		list = slices.Clone(list)
		list[s.index] = child
		return list, nil
	default:
		object, ok := old.(*jsontext.OrderedMap)
		if !ok {
			return nil, p.mismatch(from, "is "+kindOf(old)+", not an object")
		}
		child, err := p.putMember(object, s.name, from+1, value)
		if err != nil {
			return nil, err
		}
		return object.With(s.name, child), nil
	}
}

// putMember returns what a member is to become; where it is missing, an object
// grows.
func (p *Path) putMember(object *jsontext.OrderedMap, name string, from int, value any) (any, error) {
	member, ok := object.Get(name)
	if ok || from == len(p.steps) {
		return p.put(member, from, value)
	}
	if p.steps[from].selectors[0].kind == selectIndex {
		return nil, p.mismatch(from, "does not exist; only an element that is there can be replaced")
	}
	return p.put(&jsontext.OrderedMap{}, from, value)
}

func (p *Path) mismatch(at int, problem string) error {
	return &MatchError{Path: p.text, At: p.prefix(at), Problem: problem}
}

package jsonpath

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// Get returns the values that the path names in a document. For a definite path it returns the value, or a
// *NotFoundError. For any other path it returns the list of all matches in document order, which may be empty. A too
// long evaluation fails with ErrBudget.
//
// Values are shared with the document and must not be changed.
func (p *Path) Get(doc any) (any, error) {
	value, _, err := p.Measure(doc)
	return value, err
}

// Measure is Get, and returns how many steps the evaluation took: more than MaxWork if it failed with ErrBudget.
func (p *Path) Measure(doc any) (value any, steps int, err error) {
	if p.definite {
		value, resolved := p.lookup(doc)
		if resolved < len(p.steps) {
			return nil, 0, p.missing(doc, resolved)
		}
		return value, 0, nil
	}
	e := &evaluation{root: doc, left: MaxWork}
	value, err = p.collect(e, doc)
	if err != nil {
		value, err = nil, p.overspent(err)
	}
	return value, MaxWork - e.left, err
}

// Has reports whether Get would find a value: for a definite path its value, which may be null, otherwise at least one
// match. Its only error is ErrBudget.
func (p *Path) Has(doc any) (bool, error) {
	value, err := p.Get(doc)
	if errors.Is(err, ErrBudget) {
		return false, err
	}
	list, _ := value.([]any)
	return err == nil && (p.definite || len(list) > 0), nil
}

func (p *Path) overspent(err error) error {
	return fmt.Errorf("jsonpath: %s: %w (limit %d); name the members on the way in place of .. and *", shorten(p.text),
		err, MaxWork)
}

// missing returns AWS's text about the step at which a lookup stopped. The first four forms are those of Jayway
// JsonPath 2.0.
func (p *Path) missing(doc any, resolved int) *NotFoundError {
	upTo := query{steps: p.steps[:resolved]}
	parent, _ := upTo.lookup(doc)
	s := &p.steps[resolved]
	here := p.prefix(resolved)
	last := resolved == len(p.steps)-1
	byIndex := s.kind == stepIndex || s.kind == stepLast
	e := &NotFoundError{Path: p.text}
	if byIndex {
		e.Step = strconv.Itoa(s.numbers[0])
	} else {
		e.Step = s.names[0]
	}
	list, isList := parent.([]any)
	_, isObject := parent.(*jsontext.OrderedMap)
	switch {
	case byIndex && isList:
		e.Reason, e.BehindEnd = "No results for path: "+p.prefix(len(p.steps)), last && s.numbers[0] >= len(list)
	case byIndex && parent == nil:
		e.Reason = "The path " + here + " is null"
	case byIndex:
		text, _ := json.Marshal(parent) // a value that cannot be encoded is left out
		e.Reason, e.Unfit = fmt.Sprintf("Filter: %s can only be applied to arrays. Current context is: %s", s.fragment(),
			shorten(string(text))), true
	case !isObject:
		e.Reason = fmt.Sprintf("Property %s not found in path %s", s.fragment(), here)
	case s.kind == stepNothing:
		e.Reason = "Multi properties can only be used as path leafs: " + p.prefix(resolved+1)
	case last:
		e.Reason = "No results for path: " + p.prefix(len(p.steps))
	default:
		e.Reason = "Missing property in path " + p.prefix(resolved+1)
	}
	return e
}

// lookup follows the steps of a definite query. It returns how many succeeded, and the value if all did.
func (q *query) lookup(value any) (found any, resolved int) {
	for i := range q.steps {
		child, ok := q.steps[i].child(value)
		if !ok {
			return nil, i
		}
		value = child
	}
	return value, len(q.steps)
}

// child returns the value to which a definite step leads.
func (s *step) child(value any) (any, bool) {
	list, _ := value.([]any)
	object, isObject := value.(*jsontext.OrderedMap)
	switch s.kind { //nolint:exhaustive // the others are not of one member
	case stepName:
		return object.Get(s.names[0])
	case stepMembers:
		return members(object, s.names), isObject
	case stepNothing:
		return nil, false
	}
	index := s.numbers[0]
	if s.kind == stepLast {
		index += len(list)
	}
	if index < 0 || index >= len(list) {
		return nil, false
	}
	return list[index], true
}

// members returns an object of the named members that exist.
func members(object *jsontext.OrderedMap, names []string) *jsontext.OrderedMap {
	part := jsontext.NewOrderedMap(len(names))
	for _, name := range names {
		if value, ok := object.Get(name); ok {
			part.Set(name, value)
		}
	}
	return part
}

// definite follows a path within a filter.
func (e *evaluation) definite(q *query, node any) (value any, found bool, err error) {
	work := 1
	for i := range q.steps {
		work += 1 + len(q.steps[i].names)
	}
	value, resolved := q.lookup(node)
	return value, resolved == len(q.steps), e.spend(work)
}

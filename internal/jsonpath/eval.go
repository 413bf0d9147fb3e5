package jsonpath

import (
	"encoding/json"
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
	if !p.definite || p.function != noFunction {
		e := &evaluation{root: doc, left: MaxWork}
		value, err = p.compute(e, doc)
		return value, MaxWork - e.left, err
	}
	value, resolved := p.lookup(doc)
	if resolved < len(p.steps) {
		return nil, 0, p.missing(doc, resolved)
	}
	return value, 0, nil
}

// compute implements Measure for paths that need more than a lookup.
func (p *Path) compute(e *evaluation, doc any) (value any, err error) {
	if p.definite {
		var resolved int
		if value, resolved = p.lookup(doc); resolved < len(p.steps) {
			return nil, p.missing(doc, resolved)
		}
	} else if value, err = p.collect(e, doc); err != nil {
		return nil, p.overspent(err)
	}
	if p.function == noFunction {
		return value, nil
	}
	result, reason, err := p.function.apply(e, value)
	if err != nil {
		return nil, p.overspent(err)
	}
	if reason != "" {
		return nil, &NotFoundError{Path: p.text, Reason: reason}
	}
	return result, nil
}

// Has reports whether Get would find a value: for a definite path its value, which may be null, otherwise at least one
// match. Its only error is ErrBudget.
func (p *Path) Has(doc any) (bool, error) {
	if p.definite && p.function == noFunction {
		_, resolved := p.lookup(doc)
		return resolved == len(p.steps), nil
	}
	found, err := p.exists(&evaluation{root: doc, left: MaxWork}, doc)
	return found, p.overspent(err)
}

func (p *Path) overspent(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("jsonpath: %s: %w (limit %d); name the members on the way in place of .. and *", shorten(p.text),
		err, MaxWork)
}

// missing returns AWS's text about the step at which a lookup stopped. The first four forms are those of Jayway
// JsonPath 2.0.
func (p *Path) missing(doc any, resolved int) *NotFoundError {
	upTo := query{steps: p.steps[:resolved]}
	parent, _ := upTo.lookup(doc)
	s := &p.steps[resolved].selectors[0]
	here := p.prefix(resolved)
	last := resolved == len(p.steps)-1
	e := &NotFoundError{Path: p.text, Step: s.name}
	if s.kind == selectIndex {
		e.Step = strconv.Itoa(s.index)
	}
	list, isList := parent.([]any)
	_, isObject := parent.(*jsontext.OrderedMap)
	switch {
	case s.kind == selectIndex && isList:
		e.Reason, e.BehindEnd = "No results for path: "+p.prefix(len(p.steps)), last && s.index >= len(list)
	case s.kind == selectIndex && parent == nil:
		e.Reason = "The path " + here + " is null"
	case s.kind == selectIndex:
		text, _ := json.Marshal(parent) // a value that cannot be encoded is left out
		e.Reason, e.Unfit = fmt.Sprintf("Filter: [%d] can only be applied to arrays. Current context is: %s", s.index,
			shorten(string(text))), true
	case !isObject:
		e.Reason = fmt.Sprintf("Property %s not found in path %s", p.prefix(resolved + 1)[len(here):], here)
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
		s := &q.steps[i].selectors[0]
		switch s.kind {
		case selectName:
			object, _ := value.(*jsontext.OrderedMap)
			child, ok := object.Get(s.name)
			if !ok {
				return nil, i
			}
			value = child
		case selectIndex:
			list, _ := value.([]any)
			child, ok := elementAt(list, s.index)
			if !ok {
				return nil, i
			}
			value = child
		default:
			object, ok := value.(*jsontext.OrderedMap)
			if !ok {
				return nil, i
			}
			value = members(object, s.names)
		}
	}
	return value, len(q.steps)
}

// elementAt returns an element. A negative index counts from the end.
func elementAt(list []any, index int) (any, bool) {
	if index < 0 {
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

// value evaluates a path within a filter. If the value is missing, present is false and there is no error.
func (q *query) value(e *evaluation, node any) (value any, present bool, err error) {
	if q.definite {
		var resolved int
		value, resolved = q.lookup(node)
		if err := e.spend(q.work); err != nil || resolved < len(q.steps) {
			return nil, false, err
		}
	} else if value, err = q.collect(e, node); err != nil {
		return nil, false, err
	}
	if q.function == noFunction {
		return value, true, nil
	}
	result, reason, err := q.function.apply(e, value)
	return result, reason == "", err
}

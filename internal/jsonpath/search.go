package jsonpath

import (
	"github.com/ebbflow/ebb/internal/jsontext"
)

// An evaluation is one search of a document.
type evaluation struct {
	root any
	left int // remaining steps of the budget
}

func (e *evaluation) spend(steps int) error {
	if e.left -= steps; e.left < 0 {
		return ErrBudget
	}
	return nil
}

// spendText takes steps from the budget for reading a text.
func (e *evaluation) spendText(text string) error { return e.spend(len(text) / bytesPerStep) }

// bytesPerStep is the number of bytes of a text that count as one step.
const bytesPerStep = 64

// collect returns all values that a query finds. The list is never nil.
func (q *query) collect(e *evaluation, node any) ([]any, error) {
	list := []any{}
	err := e.walk(node, q.steps, func(value any) error {
		if q.repeats {
			if err := e.weigh(value); err != nil {
				return err
			}
		}
		list = append(list, value)
		return nil
	})
	return list, err
}

// weigh takes steps for the size of a result that may repeat values. Written out, such a result could be far larger
// than the document.
func (e *evaluation) weigh(value any) error {
	if err := e.spend(1); err != nil {
		return err
	}
	switch v := value.(type) {
	case string:
		return e.spendText(v)
	case []any:
		for _, element := range v {
			if err := e.weigh(element); err != nil {
				return err
			}
		}
	case *jsontext.OrderedMap:
		for _, member := range v.All() {
			if err := e.weigh(member); err != nil {
				return err
			}
		}
	}
	return nil
}

// walk calls found with each value that the steps find from node.
func (e *evaluation) walk(node any, steps []step, found func(any) error) error {
	if err := e.spend(1); err != nil {
		return err
	}
	switch {
	case len(steps) == 0:
		return found(node)
	case steps[0].descend:
		return e.descend(node, steps, found)
	default:
		return e.pick(node, &steps[0], steps[1:], found)
	}
}

// descend takes a step from node and from each object and array below it, parents first. As on AWS, further steps after
// brackets continue from all elements of an array that the brackets fit.
//
//nolint:gocognit // one case a kind of step
func (e *evaluation) descend(node any, steps []step, found func(any) error) error {
	s, rest := &steps[0], steps[1:]
	if err := e.spend(1); err != nil {
		return err
	}
	switch v := node.(type) {
	case []any:
		fits := s.kind > stepNothing
		if s.kind == stepFilter {
			var err error
			if fits, err = s.filter.holds(e, node); err != nil {
				return err
			}
		}
		if fits && len(rest) == 0 {
			if err := e.pick(node, s, rest, found); err != nil {
				return err
			}
		}
		if fits && len(rest) > 0 {
			if err := e.each(v, rest, found); err != nil {
				return err
			}
		}
		for _, element := range v {
			if err := e.descend(element, steps, found); err != nil {
				return err
			}
		}
	case *jsontext.OrderedMap:
		if s.kind != stepMembers || hasAll(v, s.names) {
			if err := e.pick(node, s, rest, found); err != nil {
				return err
			}
		}
		for _, member := range v.All() {
			if err := e.descend(member, steps, found); err != nil {
				return err
			}
		}
	}
	return nil
}

func hasAll(object *jsontext.OrderedMap, names []string) bool {
	for _, name := range names {
		if _, ok := object.Get(name); !ok {
			return false
		}
	}
	return true
}

// each continues from all of the values.
func (e *evaluation) each(values []any, rest []step, found func(any) error) error {
	for _, value := range values {
		if err := e.walk(value, rest, found); err != nil {
			return err
		}
	}
	return nil
}

// pick continues from the children of node that a step names.
//
//nolint:gocognit // one case a kind of step
func (e *evaluation) pick(node any, s *step, rest []step, found func(any) error) error {
	list, isList := node.([]any)
	object, isObject := node.(*jsontext.OrderedMap)
	switch s.kind {
	case stepAll:
		for _, member := range object.All() {
			if err := e.walk(member, rest, found); err != nil {
				return err
			}
		}
		return e.each(list, rest, found)
	case stepFilter:
		if isObject {
			list = []any{node}
		}
		for _, child := range list {
			holds, err := s.filter.holds(e, child)
			if err == nil && holds {
				err = e.walk(child, rest, found)
			}
			if err != nil {
				return err
			}
		}
	case stepFrom, stepTo, stepBetween:
		if first, end := s.indices(len(list)); isList && first < end {
			return e.each(list[first:end], rest, found)
		}
	case stepIndices:
		if err := e.spend(len(s.numbers)); err != nil {
			return err
		}
		for _, index := range s.numbers {
			if index >= 0 && index < len(list) {
				if err := e.walk(list[index], rest, found); err != nil {
					return err
				}
			}
		}
	default:
		if err := e.spend(len(s.names)); err != nil {
			return err
		}
		if child, ok := s.child(node); ok {
			return e.walk(child, rest, found)
		}
	}
	return nil
}

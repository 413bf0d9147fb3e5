package jsonpath

import (
	"errors"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// An evaluation is one search of a document.
type evaluation struct {
	root any
	left int // remaining steps of the budget
}

// errEnough ends a search early. It never leaves the package.
var errEnough = errors.New("enough was found")

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

// exists reports whether a query finds a value.
func (q *query) exists(e *evaluation, node any) (bool, error) {
	if q.definite || q.function != noFunction {
		_, present, err := q.value(e, node)
		return present, err
	}
	err := e.walk(node, q.steps, func(any) error { return errEnough })
	if errors.Is(err, errEnough) {
		return true, nil
	}
	return false, err
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
	if len(steps) == 0 {
		if err := e.spend(1); err != nil {
			return err
		}
		return found(node)
	}
	if steps[0].descend {
		return e.descend(node, false, steps, found)
	}
	if err := e.spend(len(steps[0].selectors)); err != nil {
		return err
	}
	for i := range steps[0].selectors {
		if err := e.pick(node, &steps[0].selectors[i], steps[1:], found); err != nil {
			return err
		}
	}
	return nil
}

// descend takes a step from node and from each value below it, parents first. As in Jayway, a filter here tests each
// value once, except members that are not objects. Names that are listed together must all exist.
func (e *evaluation) descend(node any, isElement bool, steps []step, found func(any) error) error {
	if err := e.spend(len(steps[0].selectors)); err != nil {
		return err
	}
	object, isObject := node.(*jsontext.OrderedMap)
	for i := range steps[0].selectors {
		var err error
		switch s := &steps[0].selectors[i]; s.kind {
		case selectFilter:
			if isObject || isElement {
				err = e.filter(node, s.condition, steps[1:], found)
			}
		case selectMembers:
			if hasAll(object, s.names) {
				err = e.pick(node, s, steps[1:], found)
			}
		default:
			err = e.pick(node, s, steps[1:], found)
		}
		if err != nil {
			return err
		}
	}
	switch v := node.(type) {
	case []any:
		for _, element := range v {
			if err := e.descend(element, true, steps, found); err != nil {
				return err
			}
		}
	case *jsontext.OrderedMap:
		for _, member := range v.All() {
			if err := e.descend(member, false, steps, found); err != nil {
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

// pick continues from the children of node that a selector names.
func (e *evaluation) pick(node any, s *selector, rest []step, found func(any) error) error {
	switch v := node.(type) {
	case *jsontext.OrderedMap:
		return e.pickMember(v, s, rest, found)
	case []any:
		return e.pickElement(v, s, rest, found)
	}
	return nil
}

func (e *evaluation) pickMember(object *jsontext.OrderedMap, s *selector, rest []step, found func(any) error) error {
	switch s.kind {
	case selectName:
		if child, ok := object.Get(s.name); ok {
			return e.walk(child, rest, found)
		}
	case selectMembers:
		if err := e.spend(len(s.names)); err != nil {
			return err
		}
		return e.walk(members(object, s.names), rest, found)
	case selectAll:
		for _, member := range object.All() {
			if err := e.walk(member, rest, found); err != nil {
				return err
			}
		}
	case selectFilter:
		return e.filter(object, s.condition, rest, found)
	case selectIndex, selectSlice:
	}
	return nil
}

func (e *evaluation) pickElement(list []any, s *selector, rest []step, found func(any) error) error {
	switch s.kind {
	case selectIndex:
		if child, ok := elementAt(list, s.index); ok {
			return e.walk(child, rest, found)
		}
	case selectSlice:
		by := s.slice.by
		first, end := s.slice.bounds(len(list))
		for i := first; by > 0 && i < end || by < 0 && i > end; i += by {
			if err := e.walk(list[i], rest, found); err != nil {
				return err
			}
		}
	case selectAll:
		for _, child := range list {
			if err := e.walk(child, rest, found); err != nil {
				return err
			}
		}
	case selectFilter:
		for _, child := range list {
			if err := e.filter(child, s.condition, rest, found); err != nil {
				return err
			}
		}
	case selectName, selectMembers:
	}
	return nil
}

// filter continues from node if the condition holds for it.
func (e *evaluation) filter(node any, c condition, rest []step, found func(any) error) error {
	if err := e.spend(1); err != nil {
		return err
	}
	ok, err := c.holds(e, node)
	if !ok || err != nil {
		return err
	}
	return e.walk(node, rest, found)
}

package jsonpath

import (
	"strings"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// equality says whether a number equals a text that contains this number.
type equality bool

const (
	strict equality = false
	loose  equality = true
)

// equal compares two values of any shape. Only the values at the top may be compared loosely.
func (e *evaluation) equal(a, b any, how equality) (bool, error) {
	if err := e.spend(1); err != nil {
		return false, err
	}
	switch a := a.(type) {
	case nil:
		return b == nil, nil
	case bool:
		b, ok := b.(bool)
		return ok && a == b, nil
	case *jsontext.OrderedMap:
		b, ok := b.(*jsontext.OrderedMap)
		if !ok || a.Len() != b.Len() {
			return false, nil
		}
		return e.equalMembers(a, b)
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false, nil
		}
		return e.equalElements(a, b)
	case string:
		if b, ok := b.(string); ok {
			return a == b, e.spendText(a)
		}
	}
	order, ok, err := e.compareNumbers(a, b, how)
	return ok && order == 0, err
}

func (e *evaluation) equalMembers(a, b *jsontext.OrderedMap) (bool, error) {
	for name, value := range a.All() {
		other, ok := b.Get(name)
		if !ok {
			return false, nil
		}
		if equal, err := e.equal(value, other, strict); !equal || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (e *evaluation) equalElements(a, b []any) (bool, error) {
	for i := range a {
		if equal, err := e.equal(a[i], b[i], strict); !equal || err != nil {
			return false, err
		}
	}
	return true, nil
}

// compare orders two texts by their bytes, which is the order of their code points. It also orders two numbers, one of
// which may be a text with a number.
func (e *evaluation) compare(a, b any) (order int, ok bool, err error) {
	if err := e.spend(1); err != nil {
		return 0, false, err
	}
	if a, ok := a.(string); ok {
		if b, ok := b.(string); ok {
			return strings.Compare(a, b), true, e.spendText(a)
		}
	}
	return e.compareNumbers(a, b, loose)
}

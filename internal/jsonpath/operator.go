package jsonpath

import (
	"strings"
	"unicode/utf8"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// An operator compares two values in a filter.
type operator uint8

// The operators. A sign stands before its prefixes, for the parser.
const (
	noOperator operator = iota
	opIdentical
	opNotIdentical
	opEqual
	opNotEqual
	opAtMost
	opAtLeast
	opLess
	opGreater
	opMatch
	opIn
	opNotIn
	opSubsetOf
	opAnyOf
	opNoneOf
	opAll
	opContains
	opSize
	opEmpty
)

// The operators that are words.
const (
	firstWord    = opIn
	lastOperator = opEmpty
)

var operatorNames = [...]string{
	noOperator:     "no operator",
	opIdentical:    "===",
	opNotIdentical: "!==",
	opEqual:        "==",
	opNotEqual:     "!=",
	opAtMost:       "<=",
	opAtLeast:      ">=",
	opLess:         "<",
	opGreater:      ">",
	opMatch:        "=~",
	opIn:           "in",
	opNotIn:        "nin",
	opSubsetOf:     "subsetof",
	opAnyOf:        "anyof",
	opNoneOf:       "noneof",
	opAll:          "all",
	opContains:     "contains",
	opSize:         "size",
	opEmpty:        "empty",
}

func (o operator) String() string { return operatorNames[o] }

// operatorList names all operators, for messages.
func operatorList() string { return strings.Join(operatorNames[noOperator+1:], " ") }

// negates reports whether an operator denies something, and therefore holds for a missing value. The exception is
// noneof, which needs a list.
func (o operator) negates() bool {
	return o == opNotEqual || o == opNotIdentical || o == opNotIn
}

// wants says what the operator requires on its right if the literal there is something else, or "".
func (o operator) wants(right operand) string {
	if right.path != nil {
		return ""
	}
	switch o {
	case opIn, opNotIn, opSubsetOf, opAnyOf, opNoneOf, opAll:
		if _, ok := right.literal.([]any); !ok {
			return "a list or a path to one"
		}
	case opSize:
		if _, ok := numberText(right.literal); !ok {
			return "a number or a path to one"
		}
	case opEmpty:
		if _, ok := right.literal.(bool); !ok {
			return "true, false or a path to one of them"
		}
	default: // compares values of any type
	}
	return ""
}

// apply compares two values that exist. Operands of a type with which the operator cannot work do not match. That is
// not an error.
func (o operator) apply(e *evaluation, left, right any) (bool, error) {
	switch o {
	case opEqual, opNotEqual:
		equal, err := e.equal(left, right, loose)
		return equal == (o == opEqual), err
	case opIdentical, opNotIdentical:
		equal, err := e.equal(left, right, strict)
		return equal == (o == opIdentical), err
	case opLess, opAtMost, opGreater, opAtLeast:
		order, ok, err := e.compare(left, right)
		return ok && o.ordered(order), err
	case opIn, opNotIn:
		list, _ := right.([]any)
		found, err := e.contains(list, left)
		return found == (o == opIn), err
	case opSubsetOf:
		return e.eachIn(left, right)
	case opAll:
		return e.eachIn(right, left)
	case opAnyOf:
		return e.anyIn(left, right)
	case opNoneOf:
		_, ok := left.([]any)
		found, err := e.anyIn(left, right)
		return ok && !found, err
	case opContains:
		return e.includes(left, right)
	case opSize:
		size, ok, err := e.sizeOf(left)
		if !ok || err != nil {
			return false, err
		}
		return e.equal(size, right, strict)
	case opEmpty:
		wanted, isBool := right.(bool)
		size, ok, err := e.sizeOf(left)
		return ok && isBool && wanted == (size == 0), err
	default: // opMatch, which does not compare with a value
		return false, nil
	}
}

// ordered reports whether the operator holds for the result of a comparison.
func (o operator) ordered(order int) bool {
	switch o {
	case opLess:
		return order < 0
	case opAtMost:
		return order <= 0
	case opGreater:
		return order > 0
	default:
		return order >= 0
	}
}

// contains reports whether a list has an element equal to value.
func (e *evaluation) contains(list []any, value any) (bool, error) {
	for _, element := range list {
		if equal, err := e.equal(element, value, loose); equal || err != nil {
			return equal, err
		}
	}
	return false, nil
}

// eachIn reports whether both are lists and every element of the first is in
// the second.
func (e *evaluation) eachIn(first, second any) (bool, error) {
	elements, ok1 := first.([]any)
	list, ok2 := second.([]any)
	for _, element := range elements {
		if found, err := e.contains(list, element); !found || err != nil {
			return false, err
		}
	}
	return ok1 && ok2, nil
}

// anyIn reports whether both are lists and share an element.
func (e *evaluation) anyIn(first, second any) (bool, error) {
	elements, _ := first.([]any)
	list, _ := second.([]any)
	for _, element := range elements {
		if found, err := e.contains(list, element); found || err != nil {
			return found, err
		}
	}
	return false, nil
}

// includes reports whether a text has a part, or a list an element.
func (e *evaluation) includes(whole, part any) (bool, error) {
	switch w := whole.(type) {
	case []any:
		return e.contains(w, part)
	case string:
		p, ok := part.(string)
		return ok && strings.Contains(w, p), e.spendText(w)
	}
	return false, nil
}

// sizeOf returns the number of elements, members or characters of a value that has some.
func (e *evaluation) sizeOf(value any) (size int, ok bool, err error) {
	switch v := value.(type) {
	case []any:
		return len(v), true, nil
	case *jsontext.OrderedMap:
		return v.Len(), true, nil
	case string:
		return utf8.RuneCountInString(v), true, e.spendText(v)
	}
	return 0, false, nil
}

package expression

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// An Operator compares two values. If a value has the wrong type, the result is false, not an error.
type Operator struct {
	Operand  Operand // kind of the right operand
	holds    func(left, right any) bool
	presence bool // IsPresent, which accepts a missing value
}

// Operand is the kind of value that an operator accepts.
type Operand uint8

// The kinds.
const (
	textOperand Operand = iota
	NumberOperand
	BoolOperand
	TimeOperand
)

// String names the kind with its article, for messages.
func (o Operand) String() string {
	return [...]string{
		textOperand: "a string", NumberOperand: "a number", BoolOperand: "true or false",
		TimeOperand: "an RFC 3339 timestamp such as 2026-01-31T12:00:00Z",
	}[o]
}

// Accepts reports whether a value is of the kind.
func (o Operand) Accepts(v any) bool {
	switch o {
	case textOperand:
		_, ok := v.(string)
		return ok
	case NumberOperand:
		return isNumber(v)
	case BoolOperand:
		_, ok := v.(bool)
		return ok
	default:
		_, ok := TimestampIn(v)
		return ok
	}
}

// Operators are the comparisons of Choice rules by their names.
var Operators = func() map[string]Operator {
	all := map[string]Operator{
		"StringMatches": {Operand: textOperand, holds: matchesPattern},
		"IsPresent":     {Operand: BoolOperand, presence: true},
	}
	for name, is := range map[string]func(any) bool{
		"IsNull":      func(v any) bool { return v == nil },
		"IsNumeric":   isNumber,
		"IsString":    func(v any) bool { _, ok := v.(string); return ok },
		"IsBoolean":   func(v any) bool { _, ok := v.(bool); return ok },
		"IsTimestamp": func(v any) bool { _, ok := TimestampIn(v); return ok },
	} {
		all[name] = Operator{Operand: BoolOperand, holds: func(left, right any) bool { return right == is(left) }}
	}
	both := func(name string, o Operator) { all[name], all[name+"Path"] = o, o }
	both("BooleanEquals", Operator{Operand: BoolOperand, holds: func(left, right any) bool {
		l, ok := left.(bool)
		r, ok2 := right.(bool)
		return ok && ok2 && l == r
	}})
	for relation, fits := range map[string]func(order int) bool{
		"Equals":            func(order int) bool { return order == 0 },
		"LessThan":          func(order int) bool { return order < 0 },
		"GreaterThan":       func(order int) bool { return order > 0 },
		"LessThanEquals":    func(order int) bool { return order <= 0 },
		"GreaterThanEquals": func(order int) bool { return order >= 0 },
	} {
		ordered := func(compare func(a, b any) (int, bool)) func(left, right any) bool {
			return func(left, right any) bool {
				order, ok := compare(left, right)
				return ok && fits(order)
			}
		}
		both("String"+relation, Operator{Operand: textOperand, holds: ordered(compareStrings)})
		both("Numeric"+relation, Operator{Operand: NumberOperand, holds: ordered(compareNumbers)})
		both("Timestamp"+relation, Operator{Operand: TimeOperand, holds: ordered(compareTimes)})
	}
	return all
}()

// OperatorNames lists And, Or, Not and the comparisons.
var OperatorNames = func() []string {
	names := []string{"And", "Or", "Not", "Variable"}
	for name := range Operators {
		names = append(names, name)
	}
	return names
}()

func isNumber(v any) bool {
	_, ok := v.(json.Number)
	return ok
}

// TimestampIn returns the time that a value represents.
func TimestampIn(v any) (time.Time, bool) {
	text, ok := v.(string)
	if !ok {
		return time.Time{}, false
	}
	return ParseTimestamp(text)
}

func compareTimes(a, b any) (int, bool) {
	x, ok := TimestampIn(a)
	y, ok2 := TimestampIn(b)
	return x.Compare(y), ok && ok2
}

// compareNumbers compares integers exactly and other numbers as float64.
func compareNumbers(a, b any) (int, bool) {
	x, ok := a.(json.Number)
	y, ok2 := b.(json.Number)
	if !ok || !ok2 {
		return 0, false
	}
	i, err := strconv.ParseInt(string(x), 10, 64)
	j, err2 := strconv.ParseInt(string(y), 10, 64)
	if err == nil && err2 == nil {
		return cmp.Compare(i, j), true
	}
	f, _ := strconv.ParseFloat(string(x), 64) // a number out of range counts as infinity
	g, _ := strconv.ParseFloat(string(y), 64)
	return cmp.Compare(f, g), true
}

// compareStrings orders texts by their UTF-16 code units, as AWS does.
func compareStrings(a, b any) (int, bool) {
	x, ok := a.(string)
	y, ok2 := b.(string)
	if !ok || !ok2 {
		return 0, false
	}
	i := 0
	for i < len(x) && i < len(y) && x[i] == y[i] {
		i++
	}
	for i > 0 && i < len(x) && !utf8.RuneStart(x[i]) {
		i--
	}
	x, y = x[min(i, len(x)):], y[min(i, len(y)):]
	if x == "" || y == "" {
		return len(x) - len(y), true
	}
	p, _ := utf8.DecodeRuneInString(x)
	q, _ := utf8.DecodeRuneInString(y)
	return int(codeUnitOrder(p) - codeUnitOrder(q)), true
}

// codeUnitOrder changes a character so that comparing the results compares UTF-16 code units. It moves the characters
// above the surrogates behind those that UTF-16 writes with surrogates.
func codeUnitOrder(r rune) rune {
	if 0xe000 <= r && r <= 0xffff {
		return r + 0x200000
	}
	return r
}

// matchesPattern reports whether text matches a pattern. In a pattern, * matches any text and \ escapes the next
// character.
func matchesPattern(left, right any) bool {
	text, ok := left.(string)
	pattern, ok2 := right.(string)
	if !ok || !ok2 {
		return false
	}
	pieces := splitPattern(pattern)
	first, last := pieces[0], pieces[len(pieces)-1]
	if len(pieces) == 1 {
		return text == first
	}
	if len(text) < len(first)+len(last) || !strings.HasPrefix(text, first) || !strings.HasSuffix(text, last) {
		return false
	}
	text = text[len(first) : len(text)-len(last)]
	for _, piece := range pieces[1 : len(pieces)-1] {
		i := strings.Index(text, piece)
		if i < 0 {
			return false
		}
		text = text[i+len(piece):]
	}
	return true
}

// splitPattern returns the literal parts between a pattern's stars.
func splitPattern(pattern string) []string {
	var pieces []string
	var piece strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '*':
			pieces = append(pieces, piece.String())
			piece.Reset()
		case c == '\\' && i+1 < len(pattern):
			i++
			piece.WriteByte(pattern[i])
		default:
			piece.WriteByte(c)
		}
	}
	return append(pieces, piece.String())
}

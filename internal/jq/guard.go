package jq

import (
	"math/big"

	"github.com/itchyny/gojq"
)

// Names of variables in guarded programs. No user's program can contain them.
const (
	meterVariable = "$__ebb"
	inputGuard    = "__ebb_input"
	argumentGuard = "__ebb_argument"
	operandGuard  = "__ebb_operands"
	matchGuard    = "__ebb_match"
)

var guardOptions = []gojq.CompilerOption{
	gojq.WithFunction(inputGuard, 2, 2, guardOfInput),
	gojq.WithFunction(argumentGuard, 4, 4, guardOfArgument),
	gojq.WithFunction(operandGuard, 4, 4, guardOfOperands),
	gojq.WithFunction(matchGuard, 4, 4, guardedMatch),
}

// A cost says what an operation does with a value.
type cost int

const (
	_             cost = iota
	costFlat           // visits each element, member or byte
	costText           // visits each character of a text
	costDeep           // visits the whole value, at any depth
	costPaths          // lists paths of the whole value
	costExplode        // makes an array of a text
	costTranspose      // makes a table of the rows
	costDigits         // reads numbers in a text
	costTimeText       // reads a time
	costPattern        // uses the value as a pattern
	costKey            // uses the value as the name of a member
	costIndex          // uses the value as the index of an element
	costPath           // follows the path, and creates missing values
	costOrder          // counts up to the value
	costJoin           // repeats the value between the elements of the input
	costProduct        // compares the value with each part of the input
)

// guardOfInput is called with a cost and the meter. It returns its input.
func guardOfInput(v any, args []any) any {
	//nolint:forcetypeassert // calls of guards are made by this package
	if err := args[1].(*meter).input(cost(args[0].(int)), v); err != nil {
		return err
	}
	return v
}

// guardOfArgument is called with a cost, the input and an argument of a function,
// and the meter. It returns the argument.
func guardOfArgument(_ any, args []any) any {
	c, in, arg, m := cost(args[0].(int)), args[1], args[2], args[3].(*meter) //nolint:forcetypeassert // as above
	var err error
	switch c {
	case costJoin:
		err = m.join(in, arg)
	case costProduct:
		err = m.product(in, arg)
	default:
		err = m.input(c, arg)
	}
	if err != nil {
		return err
	}
	return arg
}

// guardOfOperands is called with an operator, its operands and the meter. It
// returns the operands.
func guardOfOperands(_ any, args []any) any {
	//nolint:forcetypeassert // as above
	op, left, right, m := gojq.Operator(args[0].(int)), args[1], args[2], args[3].(*meter)
	if err := m.operands(op, left, right); err != nil {
		return err
	}
	return []any{left, right}
}

// input charges for an operation on a value.
func (m *meter) input(c cost, v any) error {
	switch c {
	case costFlat:
		return m.charge(length(v) >> 3)
	case costText:
		if _, ok := v.(string); !ok {
			return nil
		}
		return m.charge(length(v) >> 5)
	case costDeep:
		_, err := m.weigh(v)
		return err
	case costPaths:
		w, err := m.weigh(v)
		if err == nil {
			err = m.charge(w.size / stepBytes * w.depth / 8)
		}
		return err
	case costExplode:
		return m.reserve(length(v) * scalarSize)
	case costTranspose:
		return m.table(v)
	case costDigits:
		return m.digits(v)
	case costTimeText, costPattern:
		return atMost(v, maxPattern, "a pattern, or the text of a time, is longer than it may be")
	case costKey:
		return atMost(v, maxKey, "the name of a member is longer than it may be")
	case costIndex:
		return m.index(v)
	case costPath:
		return m.path(v)
	case costOrder:
		n, _ := gojq.ToInt(v)
		if n > maxOrder || n < -maxOrder {
			return &limitError{"the order of a Bessel function is larger than it may be"}
		}
		return m.charge(max(n, -n))
	default:
		return nil
	}
}

// reserve charges for creating a value of the given size.
func (m *meter) reserve(size int) error {
	if size > MaxSize || size < 0 {
		return errSize
	}
	return m.charge(size / stepBytes)
}

func atMost(v any, most int, message string) error {
	if text, ok := v.(string); ok && len(text) > most {
		return &limitError{message}
	}
	return nil
}

func (m *meter) table(v any) error {
	rows, ok := v.([]any)
	if !ok {
		return nil
	}
	longest := 0
	for _, row := range rows {
		longest = max(longest, length(row))
	}
	return m.reserve((len(rows) + longest) * (longest + 1) * scalarSize)
}

// digits refuses texts with numbers that take long to parse.
func (m *meter) digits(v any) error {
	text, ok := v.(string)
	if !ok {
		return nil
	}
	run := 0
	for i := range len(text) {
		if run++; text[i] < '0' || text[i] > '9' {
			run = 0
		}
		if run > MaxDigits {
			return errDigits
		}
	}
	return m.reserve(len(text) * 8)
}

// index refuses indexes far beyond those of real arrays.
func (m *meter) index(v any) error {
	if needle, ok := v.([]any); ok {
		if len(needle) > maxNeedle {
			return &limitError{"an array that is looked for is longer than it may be"}
		}
		_, err := m.weigh(needle)
		return err
	}
	if i, ok := gojq.ToInt(v); ok && i > MaxIndex {
		return errIndex
	}
	return nil
}

func (m *meter) path(v any) error {
	steps, ok := v.([]any)
	if !ok {
		return nil
	}
	if len(steps) > MaxDepth {
		return errDepth
	}
	for _, step := range steps {
		if err := m.index(step); err != nil {
			return err
		}
	}
	return m.charge(len(steps))
}

// join charges for a text that is repeated between elements.
func (m *meter) join(in, separator any) error {
	return m.reserve(length(in) * length(separator))
}

// product charges for comparing each part of one value with each part of another.
func (m *meter) product(in, arg any) error {
	for _, v := range [...]any{in, arg} {
		if text, ok := v.(string); ok { // gojq splits it into characters, and may find as many matches
			if err := m.reserve(2 * len(text) * scalarSize); err != nil {
				return err
			}
		}
	}
	a, err := m.weigh(in)
	if err != nil {
		return err
	}
	b, err := m.weigh(arg)
	if err != nil {
		return err
	}
	x, y := max(a.size/scalarSize, length(in)), max(b.size/scalarSize, length(arg))
	if x > MaxSteps || y > MaxSteps || x*y/4 > MaxSteps {
		return m.charge(MaxSteps)
	}
	return m.charge(x * y / 4)
}

// operands charges for an operation.
func (m *meter) operands(op gojq.Operator, left, right any) error {
	switch op {
	case gojq.OpAdd:
		return m.sum(left, right)
	case gojq.OpSub:
		if isArray(left) && isArray(right) {
			return m.product(left, right)
		}
	case gojq.OpMul:
		return m.multiple(left, right)
	case gojq.OpDiv:
		if text, ok := left.(string); ok {
			return m.reserve(len(text) * scalarSize)
		}
	default: // a comparison
		if isContainer(left) && isContainer(right) {
			return m.bothDeep(left, right)
		}
		if text, ok := left.(string); ok {
			return m.charge(len(text) / stepBytes)
		}
	}
	return nil
}

func (m *meter) bothDeep(left, right any) error {
	if _, err := m.weigh(left); err != nil {
		return err
	}
	_, err := m.weigh(right)
	return err
}

func (m *meter) sum(left, right any) error {
	switch left := left.(type) {
	case string:
		if right, ok := right.(string); ok {
			return m.reserve(len(left) + len(right))
		}
	case []any:
		return m.reserve((len(left) + length(right)) * scalarSize)
	case map[string]any:
		return m.reserve((len(left) + length(right)) * memberSize)
	}
	return nil
}

func (m *meter) multiple(left, right any) error {
	if text, ok := right.(string); ok {
		left, right = text, left
	}
	switch left := left.(type) {
	case string:
		if n, ok := gojq.ToFloat64(right); ok && n > 0 {
			if n*float64(len(left)) > MaxSize {
				return errSize
			}
			return m.reserve(int(n * float64(len(left))))
		}
	case map[string]any:
		return m.bothDeep(left, right)
	case int, *big.Int:
		if bits(left)+bits(right) > maxBits {
			return errDigits
		}
	}
	return nil
}

// bits returns how many binary digits a whole number has.
func bits(v any) int {
	if n, ok := v.(*big.Int); ok {
		return n.BitLen()
	}
	return 64
}

func isArray(v any) bool { _, ok := v.([]any); return ok }

func isContainer(v any) bool {
	_, object := v.(map[string]any)
	return object || isArray(v)
}

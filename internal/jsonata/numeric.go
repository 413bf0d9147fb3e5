package jsonata

import (
	"math"
	"math/big"
	"strings"
)

// Functions on numbers.

// numbers calls visit with each number of an array.
func (r *run) numbers(list *array, visit func(n float64)) {
	r.work(len(list.items) / bytesPerStep)
	for _, item := range list.items {
		n, _ := number(item)
		visit(n)
	}
}

func sum(r *run, args []any) (any, error) {
	list, ok := argument[*array](args, 0)
	if !ok {
		return undefined, nil
	}
	total := 0.0
	r.numbers(list, func(n float64) { total += n })
	return total, nil
}

func average(r *run, args []any) (any, error) {
	list, ok := argument[*array](args, 0)
	if !ok || len(list.items) == 0 {
		return undefined, nil
	}
	total := 0.0
	r.numbers(list, func(n float64) { total += n })
	return total / float64(len(list.items)), nil
}

// extreme returns $max, or $min with a sign of -1.
func extreme(sign float64) func(r *run, args []any) (any, error) {
	return func(r *run, args []any) (any, error) {
		list, ok := argument[*array](args, 0)
		if !ok || len(list.items) == 0 {
			return undefined, nil
		}
		best := math.Inf(-1)
		r.numbers(list, func(n float64) { best = math.Max(best, sign*n) })
		return sign * best, nil
	}
}

// numeral returns the function that converts a number.
func numeral(f func(float64) float64) func(*run, []any) (any, error) {
	return func(_ *run, args []any) (any, error) {
		n, ok := number(args[0])
		if !ok {
			return undefined, nil
		}
		return f(n), nil
	}
}

func toNumber(_ *run, args []any) (any, error) {
	switch v := args[0].(type) {
	case nil, float64, long:
		return v, nil
	case bool:
		if v {
			return 1.0, nil
		}
		return 0.0, nil
	case string:
		if n, ok := numberOf(v); ok {
			return n, nil
		}
	}
	return nil, &fault{code: "D3030", value: args[0], index: 1}
}

// numberOf parses a number: decimal, or hexadecimal, octal or binary after 0x, 0o and 0b.
func numberOf(text string) (float64, bool) {
	if len(text) > 2 && text[0] == '0' && strings.IndexByte("xXoObB", text[1]) >= 0 {
		base := map[byte]int{'x': 16, 'o': 8, 'b': 2}[text[1]|0x20]
		n, ok := new(big.Int).SetString(text[2:], base)
		if !ok || text[2] == '+' || text[2] == '-' || len(text) > maxDigits {
			return 0, false
		}
		f, _ := new(big.Float).SetInt(n).Float64()
		return f, !math.IsInf(f, 0)
	}
	digits, negative := strings.CutPrefix(text, "-")
	if digits == "" || digits[0] < '0' || digits[0] > '9' {
		return 0, false
	}
	digits = strings.TrimLeft(digits, "0")
	if digits == "" || digits[0] < '0' || digits[0] > '9' {
		digits = "0" + digits
	}
	n, size := parseNumber(digits)
	if size != len(digits) || math.IsInf(n, 0) {
		return 0, false
	}
	if negative {
		n = -n
	}
	return n, true
}

// maxDigits bounds the digits of a number, because conversion takes quadratic time.
const maxDigits = 300

func toRounded(_ *run, args []any) (any, error) {
	n, ok := number(args[0])
	if !ok {
		return undefined, nil
	}
	places, _ := number(args[1])
	if places != math.Trunc(places) {
		return math.NaN(), nil
	}
	return round(n, int(max(-400, min(places, 400)))), nil
}

func squareRoot(_ *run, args []any) (any, error) {
	n, ok := number(args[0])
	if !ok {
		return undefined, nil
	}
	if n < 0 {
		return nil, &fault{code: "D3060", value: args[0], index: 1}
	}
	return math.Sqrt(n), nil
}

func power(_ *run, args []any) (any, error) {
	n, ok := number(args[0])
	if !ok {
		return undefined, nil
	}
	exponent, ok := number(args[1])
	if !ok {
		exponent = math.NaN()
	}
	result := math.Pow(n, exponent)
	if math.IsInf(result, 0) || math.IsNaN(result) {
		return nil, &fault{code: "D3061", value: args[0], exp: args[1], index: 1}
	}
	return result, nil
}

func formatBase(_ *run, args []any) (any, error) {
	n, ok := number(args[0])
	if !ok {
		return undefined, nil
	}
	n = round(n, 0)
	radix, ok := number(args[1])
	if radix = round(radix, 0); !ok {
		radix = 10
	}
	switch {
	case radix < 2 || radix > 36:
		return nil, &fault{code: "D3100", value: radix}
	case radix == 10 || math.IsInf(n, 0) || math.IsNaN(n):
		return numberText(n), nil
	}
	whole, _ := big.NewFloat(n).Int(nil)
	return whole.Text(int(radix)), nil
}

package awsshape

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"
)

// checkText compares a text with the enumeration or the length of the shape.
func (s *shape) checkText(name, text string) error {
	if len(s.words) > 0 {
		if !slices.Contains(s.words, text) {
			return invalid(name, "is not an expected value")
		}
		return nil
	}
	return s.checkLength(name, utf8.RuneCountInString(text))
}

// checkLength compares the length of a text, an array or an object with the limits of the shape.
func (s *shape) checkLength(name string, length int) error {
	return s.checkLimits(name, "smaller", "length", new(big.Rat).SetInt64(int64(length)))
}

// checkNumber compares a number with the range of the shape. A whole number may have a fraction of zeros.
func (s *shape) checkNumber(name string, number json.Number) error {
	n := exact(number)
	switch {
	case n == nil:
		return invalid(name, "must be a number")
	case s.kind == 'i' && !n.IsInt():
		return invalid(name, "must be an integer")
	}
	return s.checkLimits(name, "less", "value", n)
}

// maxDigits bounds the length of numbers that are compared exactly.
const maxDigits = 64

// exact returns a number, or nil if it is too large. For a long number, or one with an exponent, it returns the nearest
// floating-point number, because the exact one might need much memory.
func exact(number json.Number) *big.Rat {
	text := number.String()
	if len(text) <= maxDigits && !strings.ContainsAny(text, "eE") {
		n, _ := new(big.Rat).SetString(text)
		return n
	}
	float, err := number.Float64()
	if err != nil {
		return nil
	}
	return new(big.Rat).SetFloat64(float)
}

func (s *shape) checkLimits(name, less, what string, n *big.Rat) error {
	if least, ok := new(big.Rat).SetString(s.least.String()); ok && n.Cmp(least) < 0 {
		return invalid(name, "is "+less+" than the minimum "+what)
	}
	if most, ok := new(big.Rat).SetString(s.most.String()); ok && n.Cmp(most) > 0 {
		return invalid(name, "exceeds the maximum "+what)
	}
	return nil
}

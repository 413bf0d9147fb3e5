package jsonpath

import (
	"cmp"
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// numberText returns a number as JSON writes it.
func numberText(value any) (string, bool) {
	switch v := value.(type) {
	case json.Number:
		return v.String(), true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), !math.IsInf(v, 0) && !math.IsNaN(v)
	case float32:
		return numberText(float64(v))
	case int:
		return strconv.Itoa(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case int32:
		return strconv.FormatInt(int64(v), 10), true
	case uint64:
		return strconv.FormatUint(v, 10), true
	case uint32:
		return strconv.FormatUint(uint64(v), 10), true
	}
	return "", false
}

// compareNumbers compares two numbers by their exact decimal values. A text on the right that contains a number counts
// as that number.
func (e *evaluation) compareNumbers(a, b any) (order int, ok bool, err error) {
	first, ok1 := numberText(a)
	second, ok2 := numberText(b)
	if text, is := b.(string); is {
		second, ok2 = strings.TrimPrefix(text, "+"), len(text) <= maxSpelling
	}
	if !ok1 || !ok2 {
		return 0, false, nil
	}
	if i, j, ok := smallIntegers(first, second); ok {
		return cmp.Compare(i, j), true, nil
	}
	if err := e.spend((len(first) + len(second)) / bytesPerStep); err != nil {
		return 0, false, err
	}
	x, ok1 := parseDecimal(first)
	y, ok2 := parseDecimal(second)
	return x.compare(y), ok1 && ok2, nil
}

// maxSpelling bounds the texts that are tried as numbers.
const maxSpelling = 1000

// smallIntegers parses two numbers that fit into 64 bits, which is the usual case.
func smallIntegers(a, b string) (i, j int64, ok bool) {
	const digits = 18
	if len(a) > digits || len(b) > digits || !isInteger(a) || !isInteger(b) {
		return 0, 0, false
	}
	i, err1 := strconv.ParseInt(a, 10, 64)
	j, err2 := strconv.ParseInt(b, 10, 64)
	return i, j, err1 == nil && err2 == nil
}

// isInteger reports whether a number has neither fraction nor exponent.
func isInteger(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return false
		}
	}
	return digits != ""
}

// decimal is ±0.digits × 10^exponent. Its digits neither start nor end with 0. Zero has no digits.
type decimal struct {
	negative bool
	digits   string
	exponent int
}

// parseDecimal reads a number as JSON or Java writes it. For any other text, and for exponents of more than nine
// digits, ok is false.
func parseDecimal(text string) (d decimal, ok bool) {
	rest, negative := strings.CutPrefix(text, "-")
	exponent := 0
	if i := strings.IndexAny(rest, "eE"); i >= 0 {
		const digits = 9
		value, err := strconv.Atoi(rest[i+1:])
		if err != nil || len(rest)-i-1 > digits+1 {
			return decimal{}, false
		}
		rest, exponent = rest[:i], value
	}
	whole, fraction, _ := strings.Cut(rest, ".")
	all := whole + fraction
	if !isInteger(all) || strings.HasPrefix(all, "-") {
		return decimal{}, false
	}
	digits := strings.TrimLeft(all, "0")
	exponent += len(whole) - (len(all) - len(digits))
	digits = strings.TrimRight(digits, "0")
	if digits == "" {
		return decimal{}, true
	}
	return decimal{negative, digits, exponent}, true
}

// sign returns -1, 0 or 1.
func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	}
	return 1
}

func (d decimal) compare(other decimal) int {
	if order := cmp.Compare(d.sign(), other.sign()); order != 0 {
		return order
	}
	order := cmp.Compare(d.exponent, other.exponent)
	if order == 0 {
		order = strings.Compare(d.digits, other.digits)
	}
	if d.negative {
		return -order
	}
	return order
}

package jsonpath

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// A function computes one value from the result of a path.
type function uint8

const (
	noFunction function = iota
	lengthFunction
	minFunction
	maxFunction
	avgFunction
	sumFunction
	keysFunction
)

var functionWords = [...]string{"", "length", "min", "max", "avg", "sum", "keys"}

func (f function) String() string { return functionWords[f] }

func functionNamed(name string) (function, bool) {
	i := slices.Index(functionWords[1:], name)
	return function(i + 1), i >= 0
}

func functionNames() string { return strings.Join(functionWords[1:], "(), ") + "()" }

// apply returns the function's value, or an error that says why there is none.
func (f function) apply(e *evaluation, value any) (result any, reason string, err error) {
	switch f {
	case lengthFunction:
		size, ok, err := e.sizeOf(value)
		if !ok {
			return nil, f.refuses("an array, an object or a string", value), err
		}
		return json.Number(strconv.Itoa(size)), "", err
	case keysFunction:
		object, ok := value.(*jsontext.OrderedMap)
		if !ok {
			return nil, f.refuses("an object", value), nil
		}
		if err := e.spend(object.Len()); err != nil {
			return nil, "", err
		}
		keys := make([]any, 0, object.Len())
		for name := range object.All() {
			keys = append(keys, name)
		}
		return keys, "", nil
	default:
		list, ok := value.([]any)
		if !ok {
			return nil, f.refuses("an array", value), nil
		}
		if err := e.spend(len(list)); err != nil {
			return nil, "", err
		}
		return f.aggregate(e, list)
	}
}

func (f function) refuses(what string, value any) string {
	return fmt.Sprintf("%s() takes %s, found %s", f, what, kindOf(value))
}

// aggregate uses only the numbers of a list.
func (f function) aggregate(e *evaluation, list []any) (result any, reason string, err error) {
	var best any
	var texts []string
	for _, element := range list {
		text, ok := numberText(element)
		if !ok {
			continue
		}
		texts = append(texts, text)
		order, _, err := e.compareNumbers(element, best, strict)
		if err != nil {
			return nil, "", err
		}
		if best == nil || f == minFunction && order < 0 || f == maxFunction && order > 0 {
			best = element
		}
	}
	if len(texts) == 0 {
		return nil, fmt.Sprintf("%s() found no number in the array", f), nil
	}
	if f == minFunction || f == maxFunction {
		return best, "", nil
	}
	if f == sumFunction {
		if sum, ok := addIntegers(texts); ok {
			return json.Number(strconv.FormatInt(sum, 10)), "", nil
		}
	}
	sum := addFloats(texts)
	if f == avgFunction {
		sum /= float64(len(texts))
	}
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		return nil, fmt.Sprintf("%s() is beyond what a number can hold", f), nil
	}
	text, err := json.Marshal(sum)
	return json.Number(text), "", err
}

// addIntegers adds exactly if all numbers are integers and the sum fits into 64 bits.
func addIntegers(texts []string) (sum int64, ok bool) {
	for _, text := range texts {
		i, err := strconv.ParseInt(text, 10, 64)
		if err != nil || i > 0 && sum > math.MaxInt64-i || i < 0 && sum < math.MinInt64-i {
			return 0, false
		}
		sum += i
	}
	return sum, true
}

func addFloats(texts []string) float64 {
	var sum float64
	for _, text := range texts {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return math.NaN()
		}
		sum += f
	}
	return sum
}

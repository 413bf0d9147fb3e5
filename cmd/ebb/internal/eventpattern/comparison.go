package eventpattern

import (
	"errors"
	"fmt"
	"strings"
)

// comparisons make tests of the comparisons by their names.
var comparisons map[string]func(with any) (test, error)

func init() { //nolint:gochecknoinits // anything-but calls the others by this table
	comparisons = map[string]func(with any) (test, error){
		"prefix":             folding(strings.HasPrefix),
		"suffix":             folding(strings.HasSuffix),
		"equals-ignore-case": texts(strings.EqualFold),
		"wildcard":           texts(func(text, pattern string) bool { return wildcard(pattern, text) }),
		"anything-but":       anythingBut,
		"numeric":            numeric,
		"exists":             exists,
	}
}

// texts returns a comparison of a text with another.
func texts(is func(text, with string) bool) func(any) (test, error) {
	return func(with any) (test, error) {
		other, ok := with.(string)
		if !ok {
			return nil, errors.New("want a text")
		}
		return func(value any, there bool) bool {
			text, ok := value.(string)
			return there && ok && is(text, other)
		}, nil
	}
}

// folding returns a comparison that may ignore the case: {"prefix": {"equals-ignore-case": "x"}}.
func folding(is func(text, with string) bool) func(any) (test, error) {
	return func(with any) (test, error) {
		if object, folded := with.(map[string]any); folded && len(object) == 1 {
			return texts(func(text, with string) bool {
				return is(strings.ToLower(text), strings.ToLower(with))
			})(object["equals-ignore-case"])
		}
		return texts(is)(with)
	}
}

// anythingBut holds for a value that is there and that the others do not match.
func anythingBut(with any) (test, error) {
	list, is := with.([]any)
	if !is {
		list = []any{with}
	}
	// {"prefix": ["a", "b"]} stands for {"prefix": "a"}, {"prefix": "b"}.
	if object, one := with.(map[string]any); one && len(object) == 1 {
		for name, of := range object {
			if many, several := of.([]any); several {
				list = nil
				for _, item := range many {
					list = append(list, map[string]any{name: item})
				}
			}
		}
	}
	p, err := parseTests(list)
	if err != nil {
		return nil, err
	}
	return func(value any, there bool) bool { return there && !holds(p.any, value, there) }, nil
}

// exists holds for a field that is there, or for one that is not.
func exists(with any) (test, error) {
	want, is := with.(bool)
	if !is {
		return nil, errors.New("want true or false")
	}
	return func(_ any, there bool) bool { return there == want }, nil
}

// numeric holds for a number in a range: [">", 0, "<=", 5].
func numeric(with any) (test, error) {
	list, is := with.([]any)
	if !is || len(list) == 0 || len(list)%2 != 0 {
		return nil, errors.New(`want comparisons and numbers, such as [">", 0]`)
	}
	var all []func(float64) bool
	for i := 0; i < len(list); i += 2 {
		number, ok := list[i+1].(float64)
		compare := map[string]func(float64) bool{
			"=": func(n float64) bool { return n == number }, "<": func(n float64) bool { return n < number },
			"<=": func(n float64) bool { return n <= number }, ">": func(n float64) bool { return n > number },
			">=": func(n float64) bool { return n >= number },
		}[fmt.Sprint(list[i])]
		if !ok || compare == nil {
			return nil, errors.New(`want comparisons and numbers, such as [">", 0]`)
		}
		all = append(all, compare)
	}
	return func(value any, there bool) bool {
		n, ok := value.(float64)
		for _, compare := range all {
			ok = ok && compare(n)
		}
		return there && ok
	}, nil
}

package expression

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/ebbflow/ebb/flow/asl/internal/data"
)

func arrayPartition(args []any, _ func() uint64) (any, error) {
	list, err := array(args)
	if err != nil {
		return nil, err
	}
	size, err := whole(args, 1)
	if err != nil {
		return nil, err
	}
	if size < 1 {
		return nil, errors.New("argument 2 must be at least 1")
	}
	parts := []any{}
	for part := range slices.Chunk(list, int(min(size, int64(len(list))+1))) {
		parts = append(parts, part)
	}
	return parts, nil
}

// same returns the text by which values are compared: their JSON with members ordered by name.
func same(v any) string { return string(data.AppendJSON(nil, v, true)) }

func arrayContains(args []any, _ func() uint64) (any, error) {
	list, err := array(args)
	if err != nil {
		return nil, err
	}
	wanted := same(args[1])
	return slices.ContainsFunc(list, func(v any) bool { return same(v) == wanted }), nil
}

func arrayUnique(args []any, _ func() uint64) (any, error) {
	list, err := array(args)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	unique := []any{}
	for _, v := range list {
		if key := same(v); !seen[key] {
			seen[key] = true
			unique = append(unique, v)
		}
	}
	return unique, nil
}

func arrayRange(args []any, _ func() uint64) (any, error) {
	first, err := whole(args, 0)
	last, err2 := whole(args, 1)
	by, err3 := whole(args, 2)
	if err := errors.Join(err, err2, err3); err != nil {
		return nil, err
	}
	if by == 0 {
		return nil, errors.New("argument 3 must not be 0")
	}
	numbers := []any{}
	for n := first; by > 0 && n <= last || by < 0 && n >= last; n += by {
		if len(numbers) == maxRange {
			return nil, fmt.Errorf("the range has more than %d numbers", maxRange)
		}
		numbers = append(numbers, data.Number(n))
		if by > 0 && n > math.MaxInt64-by || by < 0 && n < math.MinInt64-by {
			break
		}
	}
	return numbers, nil
}

func arrayGetItem(args []any, _ func() uint64) (any, error) {
	list, err := array(args)
	if err != nil {
		return nil, err
	}
	i, err := whole(args, 1)
	if err != nil {
		return nil, err
	}
	if i < 0 || i >= int64(len(list)) {
		return nil, fmt.Errorf("the array has no element %d", i)
	}
	return list[i], nil
}

func arrayLength(args []any, _ func() uint64) (any, error) {
	list, err := array(args)
	return data.Number(int64(len(list))), err
}

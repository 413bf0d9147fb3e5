package inspect

import (
	"cmp"
	"slices"
)

// Rest returns the rest of a list after an id. If the object with that id is gone from a list in the order of ids, the
// rest begins where it was.
func Rest[T any](all []T, after string, id func(*T) string) []T {
	if after == "" {
		return all
	}
	from := 1 + slices.IndexFunc(all, func(one T) bool { return id(&one) == after })
	if from == 0 && slices.IsSortedFunc(all, func(a, b T) int { return cmp.Compare(id(&a), id(&b)) }) {
		from, _ = slices.BinarySearchFunc(all, after, func(one T, after string) int { return cmp.Compare(id(&one), after) })
	}
	return all[from:]
}

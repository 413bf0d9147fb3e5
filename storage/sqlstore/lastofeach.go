package sqlstore

import (
	"iter"
	"slices"
)

// lastOfEach yields the last element with each key, beginning with the last of all. A statement for many rows cannot
// write a row twice.
func lastOfEach[T any, K comparable](all []T, key func(*T) K) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		var met map[K]bool
		for i := range slices.Backward(all) {
			one := &all[i]
			if len(all) > 1 {
				k := key(one)
				if met[k] {
					continue
				}
				if met == nil {
					met = make(map[K]bool, len(all))
				}
				met[k] = true
			}
			if !yield(one) {
				return
			}
		}
	}
}

// Package paging reads lists that may be larger than memory, page by page. It knows nothing of what it reads.
package paging

import (
	"iter"
	"reflect"
)

// All yields the records that read returns, up to limit, or all if limit is 0. A page has up to most records. Each
// call of read receives the last record of the previous page. An empty page is the last one. If a page ends with the
// record after which it was to begin, the list does not go on: All ends with the error stuck.
func All[T any](stuck error, limit, most int, read func(limit int, last *T) ([]T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var last *T
		for n := 0; limit == 0 || n < limit; {
			size := most
			if limit > 0 {
				size = min(size, limit-n)
			}
			page, err := read(size, last)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for i := range page {
				if !yield(page[i], nil) {
					return
				}
			}
			if len(page) == 0 {
				return
			}
			before := last
			if last, n = &page[len(page)-1], n+len(page); before != nil && reflect.DeepEqual(before, last) {
				var none T
				yield(none, stuck)
				return
			}
		}
	}
}

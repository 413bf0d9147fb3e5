package engine

import (
	"cmp"
	"context"
	"fmt"
	"iter"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/storedlist"
	"github.com/ebbflow/ebb/storage"
)

// Elements yields the elements of the list that key has at the end, in order. Unlike [Get], it reads a list page by
// page, so the list may be too large for one value, such as the results of flow.Each. If key has no value, or the
// store fails, Elements yields the error and ends.
func Elements[T any](ctx context.Context, r *Result, key atom.Key[[]T]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for v, err := range r.elements(ctx, key.Name()) {
			var element T
			if err == nil {
				err = v.Decode(&element)
			}
			if !yield(element, err) || err != nil {
				return
			}
		}
	}
}

// elements yields the elements of a list.
func (r *Result) elements(ctx context.Context, symbol string) iter.Seq2[atom.Value, error] {
	return func(yield func(atom.Value, error) bool) {
		v, ok := r.Value(symbol)
		if !ok {
			yield(nil, said(storage.ErrNotFound, "run %q has no value of %q", r.Run.ID, symbol))
			return
		}
		list, stored := atom.StoredListOf(v)
		if !stored {
			var values []atom.Value
			if err := v.Decode(&values); err != nil {
				yield(nil, err)
				return
			}
			for _, v := range values {
				if !yield(v, nil) {
					return
				}
			}
			return
		}
		for from := 0; from < list.Nodes; from += atom.ListPage {
			page, err := storedlist.Page(ctx, r.store, list, from, atom.ListPage, cmp.Or(r.Run.Root, r.Run.ID))
			if err != nil {
				yield(nil, fmt.Errorf("engine: the list %q of run %q: %w", symbol, r.Run.ID, err))
				return
			}
			for _, v := range page {
				if !yield(v, nil) {
					return
				}
			}
		}
	}
}

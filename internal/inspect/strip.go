package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// A Strip counts the items of a Map, a fork or a flow.Each by their status, the most important one first.
type Strip struct {
	Counts []StatusCount `json:"counts,omitempty"`
	More   bool          `json:"more,omitzero"` // there are items that were not counted
}

// A StatusCount is the number of items with a status.
type StatusCount struct {
	Status string `json:"status"` // a text of [storage.Status]
	Count  int    `json:"count"`
}

// Items returns the number of counted items.
func (s Strip) Items() int {
	n := 0
	for _, c := range s.Counts {
		n += c.Count
	}
	return n
}

// String returns a text such as "2 FAILURE, 38 SUCCESS". It is "" without items.
func (s Strip) String() string {
	parts := make([]string, 0, len(s.Counts)+1)
	for _, c := range s.Counts {
		parts = append(parts, fmt.Sprint(c.Count, " ", c.Status))
	}
	if s.More {
		parts = append(parts, "and more")
	}
	return strings.Join(parts, ", ")
}

// with returns the strip with one more item.
func (s Strip) with(status storage.Status) Strip {
	at, known := slices.BinarySearchFunc(s.Counts, status, func(c StatusCount, status storage.Status) int {
		return Compare(storage.Status(c.Status), status)
	})
	if !known {
		s.Counts = slices.Insert(s.Counts, at, StatusCount{Status: string(status)})
	}
	s.Counts[at].Count++
	return s
}

// ReadStrip counts the items directly below a path of the tree of a run; "" is the run itself, such as that of a
// flow.Each. It reads at most 400,000 atoms. Errors are the store's.
func ReadStrip(ctx context.Context, store backend.Reader, run *storage.Run, below string) (Strip, error) {
	return new(Levels).Strip(ctx, store, run, below)
}

// Strip is [ReadStrip]. All calls must have the same store.
func (ls *Levels) Strip(ctx context.Context, store backend.Reader, run *storage.Run, below string) (Strip, error) {
	place, err := PlaceOf(ctx, store, run, below)
	if err == nil {
		place, err = place.entered(ctx, store)
	}
	if err != nil {
		return Strip{}, err
	}
	l, err := ls.scan(ctx, store, &place)
	if err != nil {
		return Strip{}, err
	}
	return l.strip(), nil
}

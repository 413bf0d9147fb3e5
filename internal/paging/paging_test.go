package paging_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/ebbflow/ebb/internal/paging"
)

// TestAll reads the numbers up to 7 in pages: all, some, as far as they can be read, and where a list does not go on.
func TestAll(t *testing.T) {
	t.Parallel()
	stuck, broken := errors.New("stuck"), errors.New("broken")
	for name, c := range map[string]struct {
		limit int
		fails int // the page that cannot be read, counted from 1
		stays bool
		want  []int
		err   error
	}{
		"all":     {want: []int{1, 2, 3, 4, 5, 6, 7}},
		"some":    {limit: 4, want: []int{1, 2, 3, 4}},
		"broken":  {fails: 2, want: []int{1, 2, 3}, err: broken},
		"no next": {stays: true, want: []int{1, 2, 3, 1, 2, 3}, err: stuck},
	} {
		page := 0
		read := func(limit int, last *int) (list []int, err error) {
			if page++; page == c.fails {
				return nil, broken
			}
			from := 1
			if last != nil && !c.stays {
				from = *last + 1
			}
			for n := from; n <= 7 && len(list) < limit; n++ {
				list = append(list, n)
			}
			return list, nil
		}
		var got []int
		var err error
		for n, failed := range paging.All(stuck, c.limit, 3, read) {
			if err = failed; err == nil {
				got = append(got, n)
			}
		}
		if !slices.Equal(got, c.want) || !errors.Is(err, c.err) {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
}

package inspect_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestGroupInOrder: of a large group, the first failed members are shown, in the order of their numbers, though they
// began and failed in another one. Each has its duration.
func TestGroupInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const n = 60
		item := atom.Func("item", func(_ context.Context, in struct {
			Item int `json:"item"`
		},
		) (struct{}, error) {
			time.Sleep(time.Duration(n-in.Item) * time.Second)
			if in.Item >= n/2 {
				return struct{}{}, errors.New("no")
			}
			return struct{}{}, nil
		})
		items := atom.NewKey[[]int]("items")
		store := memstore.New()
		e, err := engine.New(flow.Linear("many", flow.Each("all", items, item).WithParallelism(16).Tolerate(n)), store,
			engine.WithInputs(items))
		if err != nil {
			t.Fatal(err)
		}
		list := make([]int, n)
		for i := range list {
			list[i] = i
		}
		if _, err := e.Run(t.Context(), "m", engine.With(items, list)); err != nil {
			t.Fatal(err)
		}
		run, err := store.Run(t.Context(), "m/all")
		if err != nil {
			t.Fatal(err)
		}
		tree, err := inspect.Recorded(t.Context(), store, &run, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got, want []string
		shown, rest := tree.Top.Shown()
		for i, s := range shown {
			got = append(got, fmt.Sprint(s.Name, " ", s.State, " ", s.Took(time.Now())))
			want = append(want, fmt.Sprint(n/2+i, " FAILURE ", time.Duration(n/2-i)*time.Second))
		}
		if diff := cmp.Diff(want, got); diff != "" || len(shown) != inspect.MaxShownOfGroup || rest != "20 FAILURE, 30 SUCCESS" {
			t.Errorf("shown, and %s (-want +got):\n%s", rest, diff)
		}
	})
}

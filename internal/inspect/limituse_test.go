package inspect_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestLimitUses counts the driven runs of each limit, of a limit by label those of the value with the most.
func TestLimitUses(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	for i, team := range []string{"a", "b", "b", "", "b"} {
		run := storage.Run{ID: fmt.Sprint("r", i), Flow: []string{"trip", "order"}[i%2], Labels: map[string]string{}}
		if team != "" {
			run.Labels["team"] = team
		}
		if err := store.Create(t.Context(), run); err != nil {
			t.Fatal(err)
		}
		if i < 4 { // the last one is not driven
			if _, _, err := store.Begin(t.Context(), run.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, l := range []storage.Limit{{Flow: "trip", Runs: 5}, {Label: "team", Runs: 3}, {Runs: 9}, {Flow: "order", Rate: 7, Per: time.Minute}} {
		if err := store.SetLimit(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	uses, err := inspect.LimitUses(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, u := range uses {
		got[u.String()] = fmt.Sprint(u.Used, " ", u.Value)
	}
	want := map[string]string{
		"at most 5 at once of trip: 2 driven now": "2 ", "at most 9 at once of every flow: 4 driven now": "4 ",
		"at most 3 at once of every flow with the same team: 2 driven now, for team=b": "2 b",
		"at most 7 new ones in 1m0s of order":                                          "2 ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

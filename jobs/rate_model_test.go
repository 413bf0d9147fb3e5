package jobs_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestRateModel: no matter which claimant claims and when, claimants get all jobs that
// their rates allow, in the order of the board, and no more in any window.
//
// Guarantee (Jobs): In any window of a rate, all processes together claim no more jobs than it allows.
// Also: `TestSQLite`, `TestPostgreSQL`.
func TestRateModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rapid.SyncTest(t, func(t *rapid.T) {
			records := memstore.New()
			boards := []*jobs.Board{jobs.New(records, jobs.Policy{Lease: 1000 * time.Hour}), jobs.New(records.Join(), jobs.Policy{Lease: 1000 * time.Hour})}
			flows := []string{"f", "g"}
			rates := map[string]storage.Limit{}
			for _, flow := range append(flows, "") {
				l := storage.Limit{
					Flow: flow, Rate: rapid.IntRange(0, 4).Draw(t, "rate of "+flow), Per: time.Duration(rapid.IntRange(1, 10).Draw(t, "seconds")) * time.Second,
				}
				if err := records.SetLimit(t.Context(), l); err != nil {
					t.Fatal(err)
				}
				if l.Rate > 0 {
					rates[flow] = l
				}
			}
			type claimed struct {
				flow string
				at   time.Time
			}
			var waiting []jobs.Job
			var got []claimed
			fits := func(flow string) bool {
				for _, of := range []string{flow, ""} {
					l, is := rates[of]
					n := 0
					for _, c := range got {
						if is && (of == "" || c.flow == of) && time.Since(c.at) < l.Per {
							n++
						}
					}
					if is && n >= l.Rate {
						return false
					}
				}
				return true
			}
			t.Repeat(map[string]func(*rapid.T){
				"post": func(t *rapid.T) {
					j := jobs.Job{ID: fmt.Sprint(len(waiting)+len(got), time.Now().UnixNano()), Flow: rapid.SampledFrom(flows).Draw(t, "flow")}
					if _, err := boards[0].Post(t.Context(), j); err != nil {
						t.Fatal(err)
					}
					waiting = append(waiting, j)
				},
				"claim": func(t *rapid.T) {
					limit := rapid.IntRange(1, 3).Draw(t, "limit")
					list, err := rapid.SampledFrom(boards).Draw(t, "board").Claim(t.Context(), jobs.ClaimQuery{Limit: limit})
					if err != nil {
						t.Fatal(err)
					}
					var want, have []string
					waiting = slices.DeleteFunc(waiting, func(j jobs.Job) bool {
						if len(want) == limit || !fits(j.Flow) {
							return false
						}
						want, got = append(want, j.ID), append(got, claimed{j.Flow, time.Now()})
						return true
					})
					for _, c := range list {
						have = append(have, c.Job.ID)
					}
					if !slices.Equal(have, want) {
						t.Fatalf("claimed %q, want %q", have, want)
					}
				},
				"wait": func(t *rapid.T) {
					time.Sleep(time.Duration(rapid.IntRange(1, 5000).Draw(t, "milliseconds")) * time.Millisecond)
				},
			})
		})
	})
}

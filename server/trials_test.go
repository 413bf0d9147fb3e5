package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/server"
)

// TestTrials: a caller displaces its own oldest trial, and a trial of another caller only if that is half an hour old.
func TestTrials(t *testing.T) {
	t.Parallel()
	var trials server.Trials
	now := time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC)
	keep := func(owner string, after time.Duration) string {
		t.Helper()
		if err := trials.Check(owner, now.Add(after)); err != nil {
			t.Fatal(err)
		}
		id, err := trials.Keep(owner, nil, now.Add(after))
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	there := func(owner string, ids ...string) (kept []bool) {
		for _, id := range ids {
			_, ok := trials.Of(owner, id)
			kept = append(kept, ok)
		}
		return kept
	}
	var ann []string
	for i := range 6 {
		ann = append(ann, keep("ann", time.Duration(i)*time.Second))
	}
	if got := there("ann", ann...); !slices.Equal(got, []bool{false, true, true, true, true, true}) {
		t.Errorf("ann has %v of 6 trials", got)
	}
	if got := there("bob", ann...); slices.Contains(got, true) {
		t.Errorf("bob sees trials of ann: %v", got)
	}
	for i := range 15 {
		keep(fmt.Sprint("caller ", i), time.Minute)
	}
	for _, err := range []error{
		trials.Check("bob", now.Add(2*time.Minute)),
		func() error { _, err := trials.Keep("bob", nil, now.Add(2*time.Minute)); return err }(),
	} {
		if err == nil || !strings.HasSuffix(err.Error(), "try again in 28m1s") {
			t.Errorf("a further caller got %v", err)
		}
	}
	keep("caller 3", 3*time.Minute) // displaces its own
	if got := there("ann", ann...); !slices.Equal(got, []bool{false, true, true, true, true, true}) {
		t.Errorf("ann has %v of 6 trials after those of others", got)
	}
	bob := keep("bob", 31*time.Minute)
	if got := there("ann", ann...); !slices.Equal(got, []bool{false, false, true, true, true, true}) {
		t.Errorf("ann has %v of 6 trials after half an hour", got)
	}
	if got := there("bob", bob); !got[0] {
		t.Error("bob has no trial after half an hour")
	}
}

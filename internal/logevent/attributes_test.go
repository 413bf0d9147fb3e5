package logevent_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/internal/logevent"
)

// TestAttributesLeaveOutEmptyValues: no entry has an attribute without a value, and durations have their unit.
func TestAttributesLeaveOutEmptyValues(t *testing.T) {
	t.Parallel()
	var none error
	got := logevent.Attributes("run", "r", "path", "", "attempt", 0, "due", time.Time{}, "error", none, "failed", false,
		"duration", 1234567*time.Microsecond, "long", 90*time.Minute+time.Millisecond, "short", 1500*time.Nanosecond,
		"due", time.Date(2026, 1, 2, 3, 4, 5, 6789000, time.FixedZone("", 3600)))
	if diff := cmp.Diff([]any{"run", "r", "duration", "1.235s", "long", "1h30m0s", "short", "0.002ms", "due", "2026-01-02T02:04:05.006Z"}, got); diff != "" {
		t.Errorf("attributes (-want +got):\n%s", diff)
	}
	failure := errors.New("no")
	if got := logevent.Attributes("error", failure); len(got) != 2 || got[1] != any(failure) {
		t.Errorf("an error became %v", got)
	}
}

package attempts_test

import (
	"testing"
	"time"

	"github.com/ebbflow/ebb/engine/internal/attempts"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/storage"
)

// units are what the timers of tests belong to.
var units [600]scheduler.Unit

func key(a int32) attempts.Key { return attempts.Key{Unit: &units[a]} }

// TestTimers: the nearest timer comes first, in the order of setting among equals, and dropped ones never.
func TestTimers(t *testing.T) {
	t.Parallel()
	var ts attempts.Timers
	if _, waits := ts.Nearest(); waits || ts.MayPass() || ts.HasPassed(noon) || len(ts.Take(noon)) != 0 {
		t.Error("a timer that nobody set")
	}
	for i := range int32(4) {
		ts.Set(key(i), noon.Add(time.Duration(4-i/2)*time.Second)) // 0, 1 after 2, 3
	}
	ts.Set(key(3), noon.Add(time.Minute)) // later than before
	ts.Set(key(4), noon)
	ts.Drop(key(4))
	if at, waits := ts.Nearest(); !waits || !at.Equal(noon.Add(3*time.Second)) || !ts.MayPass() {
		t.Errorf("the nearest is due at %v", at)
	}
	if ts.HasPassed(noon.Add(2*time.Second)) || !ts.HasPassed(noon.Add(3*time.Second)) {
		t.Error("a timer is due at the wrong time")
	}
	got := ts.Take(noon.Add(4 * time.Second))
	if len(got) != 3 || got[0] != key(2) || got[1] != key(0) || got[2] != key(1) {
		t.Errorf("got %v", got)
	}
	if at, set := ts.Due(key(3)); !set || !at.Equal(noon.Add(time.Minute)) {
		t.Errorf("got %v, %v", at, set)
	}
	if _, set := ts.Due(key(0)); set {
		t.Error("a timer that has fired is set")
	}
}

// TestTimersAtOnce: very many timers that are due do not share a commit.
func TestTimersAtOnce(t *testing.T) {
	t.Parallel()
	var ts attempts.Timers
	for i := range int32(600) {
		ts.Set(key(i), noon)
	}
	if first, second := len(ts.Take(noon)), len(ts.Take(noon)); first != 500 || second != 100 {
		t.Errorf("%d, then %d fire at once", first, second)
	}
}

// TestWaits: a wait has a row, which goes when it ends. If waits are cut, it ends earlier or at once, unless it is a
// limit.
func TestWaits(t *testing.T) {
	t.Parallel()
	for cut, want := range map[float64]string{0: "wait +1h0m0s", 0.75: "wait +15m0s", 1: "wait +0s"} {
		w := begun(t, flow.Unordered("f", deferrable("open")))
		due := func(u *scheduler.Unit, in time.Duration) *scheduler.Command {
			return &scheduler.Command{Unit: u, Detail: &scheduler.Detail{Due: noon.Add(in)}}
		}
		wait := due(w.node("wait", &grow.Spec{Kind: grow.Timer}), time.Hour)
		limit := due(w.node("limit", &grow.Spec{Kind: grow.Timer, Limits: true}), time.Hour)
		retry := due(w.s.Unit(0), -time.Hour)
		w.Init("r", w.plan, w.s, &w.draft, cut)
		w.SetWait(wait)
		w.SetWait(limit)
		w.SetWait(retry)
		w.DropWait(retry)
		same(t, "rows", w.timers(), want, "limit +1h0m0s", "open +-1h0m0s", "open gone")
		kinds := w.draft.Timers
		if kinds[0].Kind != storage.TimerWait || kinds[2].Kind != storage.TimerRetry {
			t.Errorf("got %v", kinds)
		}
		w.committed()
		w.Fired(attempts.Deadline)
		w.Fired(attempts.Key{Unit: w.s.Unit(0)})
		if same(t, "fired", w.timers(), "open gone"); attempts.Deadline.Kind() != storage.TimerDeadline {
			t.Error("the deadline has another kind")
		}
	}
}

package scheduler_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow/grow"
)

// goingOn is a language that asks for more when one task has ended, and waits for nothing
// when another has.
type goingOn struct{ holding }

func (goingOn) Grow(ask *grow.Ask) grow.Growth {
	var g grow.Growth
	switch c := &ask.Cause; {
	case c.Kind == grow.Begin:
		g = grow.Growth{Add: []grow.Spec{{Name: "a"}, {Name: "b"}}, Memory: atom.Null}
	case c.Kind == grow.Continue:
		g = grow.Growth{Add: []grow.Spec{{Name: decode[string](c.Note)}}}
	case c.Name == "a":
		g = grow.Growth{More: atom.MustEncode("c")}
	case c.Name == "c":
		g = grow.Growth{End: &grow.End{Value: c.Result}}
	}
	g.Events = []grow.Event{{Name: ask.Cause.Kind.String() + " " + ask.Cause.Name}}
	return g
}

// TestMoreComesFirst lets two tasks end before a flow hears of the first, as during a suspension. The flow then asks
// for more, and gets this question before it hears of the second.
func TestMoreComesFirst(t *testing.T) {
	t.Parallel()
	for _, each := range []bool{true, false} {
		for stop := 1; ; stop++ {
			suspended := false
			for crash := 0; ; crash++ {
				g := newGardener(t, toyFlow{})
				g.lang, g.each, g.stopAt, g.crashAt = goingOn{}, each, stop, crash
				last := ""
				g.asked = func(c *grow.Cause) {
					if last == "a" && c.Name == "b" {
						t.Errorf("each %t, suspended after commit %d, crash after %d: it hears of b, and wants more", each, stop, crash)
					}
					last = c.Name
				}
				g.play()
				suspended = suspended || g.stopAt == 0
				if crash > 0 && !g.crashed {
					break
				}
				g.check()
				if want := `SUCCESS value null failure "" timed out false`; g.end() != want {
					t.Errorf("each %t, suspended after commit %d, crash after %d: ended %s, want %s", each, stop, crash, g.end(), want)
				}
			}
			if !suspended {
				break
			}
		}
	}
}

// TestStoppedNotAskedAbout postpones the question about the end of a task until the run is overdue. The task is stopped
// with the others, and the question is not asked.
func TestStoppedNotAskedAbout(t *testing.T) {
	t.Parallel()
	g := newGardener(t, toyFlow{Deadline: time.Minute, Steps: []toyStep{work("a"), work("b")}})
	asks := 0
	g.defers = func() bool { asks++; return asks == 2 }
	var got []grow.CauseKind
	g.asked = func(c *grow.Cause) { got = append(got, c.Kind) }
	g.play()
	g.check()
	if diff := cmp.Diff([]grow.CauseKind{grow.Begin, grow.Overdue}, got); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a"}, g.undone); diff != "" || g.over.PendingOutcome != scheduler.PendingTimedOut {
		t.Errorf("ended %s, undone (-want +got):\n%s", g.end(), diff)
	}
}

// TestOverdueWhileEnding: a run that its language has ended becomes overdue while the process is down. The run ends as
// its language said.
func TestOverdueWhileEnding(t *testing.T) {
	t.Parallel()
	for crash := 0; ; crash++ {
		g := newGardener(t, toyFlow{})
		g.lang = answers{
			grow.Begin: {Add: []grow.Spec{{Name: "a"}, {Name: "b"}}, Memory: atom.Null, Deadline: g.now.Add(time.Minute)},
			grow.Ended: {End: &grow.End{Cancelled: true, Failure: &atom.Failure{Code: "Enough"}}},
		}
		g.crashAt = crash
		g.process()
		if crash > 0 && !g.crashed {
			return
		}
		if ending := g.atom.Ended == grow.EndFailure; g.dead && ending {
			g.now = g.now.Add(time.Hour)
		}
		if g.dead && !g.flow.Ended() {
			g.play()
			g.check()
		}
		if want := `FAILURE value  failure "Enough" timed out false`; g.over != nil && g.end() != want {
			t.Errorf("crash after commit %d: ended %s, want %s", crash, g.end(), want)
		}
	}
}

package view

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/states"
)

// screen is a terminal that knows what the painter writes: it returns the lines
// that are to be seen in the end, those scrolled out at the top included.
func screen(t *testing.T, written string) []string {
	t.Helper()
	lines, at := []string{""}, 0
	for rest := written; rest != ""; {
		var up int
		switch {
		case strings.HasPrefix(rest, "\x1b[2K"):
			lines[at], rest = "", rest[4:]
		case strings.HasPrefix(rest, "\x1b[J"):
			lines, rest = append(lines[:at], ""), rest[3:]
		case strings.HasPrefix(rest, "\x1b["):
			if _, err := fmt.Sscanf(rest, "\x1b[%dA", &up); err != nil {
				t.Fatalf("what is %.10q?", rest)
			}
			_, rest, _ = strings.Cut(rest, "A")
			at -= up
		case rest[0] == '\r':
			rest = rest[1:]
		case rest[0] == '\n':
			if at++; at == len(lines) {
				lines = append(lines, "")
			}
			rest = rest[1:]
		default:
			n := strings.IndexAny(rest, "\r\n\x1b")
			if n < 0 {
				n = len(rest)
			}
			lines[at] += rest[:n]
			rest = rest[n:]
		}
		if at < 0 {
			t.Fatal("the cursor left the screen")
		}
	}
	return lines[:len(lines)-1]
}

// TestPainter paints in virtual time and looks at the screen on the way.
func TestPainter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := NewPainter(&out, func() (int, int) { return 30, 5 }, inspect.NewTree("trip", "one"), false)
		see := func(want ...string) {
			t.Helper()
			synctest.Wait()
			if diff := cmp.Diff(want, screen(t, out.String())); diff != "" {
				t.Errorf("the screen (-want +got):\n%s", diff)
			}
		}
		happened := func(path, to string, more ...func(*engine.Event)) {
			ev := engine.Event{Kind: engine.AtomChanged, Path: path, To: to, Attempt: 1, Time: time.Now()}
			if path == "" {
				ev.Kind = engine.FlowChanged
			}
			for _, f := range more {
				f(&ev)
			}
			p.Happened(ev)
		}
		due := func(ev *engine.Event) { ev.Timer, ev.Due = true, time.Now().Add(2*time.Second) }

		happened("", "RUNNING")
		happened("A", "RUNNING")
		see("▸ trip  one  RUNNING  0 ms", "└ ▸ A  RUNNING  0 ms")
		happened("A", "SUCCESS")
		happened("Pause", "RUNNING", due)
		time.Sleep(1100 * time.Millisecond) // the countdown goes on by itself
		see("▸ trip  one  RUNNING  1.0 s", "├ ✓ A      SUCCESS  0 ms", "└ ▸ Pause  RUNNING        1 …")
		p.Notice("suspending: this line is too long")
		see("▸ trip  one  RUNNING  1.1 s", "├ ✓ A      SUCCESS  0 ms", "└ ▸ Pause  RUNNING        1 …", "suspending: this line is too…")
		// Of what is higher than the terminal its end is shown, until all is over.
		happened("B", "RUNNING")
		happened("C", "RUNNING")
		see("├ ▸ Pause  RUNNING        1 …", "├ ▸ B      RUNNING  0 ms", "└ ▸ C      RUNNING  0 ms", "suspending: this line is too…")
		happened("", "SUCCESS")
		ended := *p.(*painter).tree
		ended.State, ended.Stopped = states.FlowFailure, true
		p.Stop(&ended)
		see("■ trip  one  FAILURE  1.1 s", "├ ✓ A      SUCCESS  0 ms", "├ ▸ Pause  RUNNING        1 …", "├ ▸ B      RUNNING  0 ms", "└ ▸ C      RUNNING  0 ms")
	})
}

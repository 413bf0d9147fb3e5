package scheduler_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// anyToy draws a program of steps with names of their own.
func anyToy(t *rapid.T, depth int) toyFlow {
	var f toyFlow
	for i := range rapid.IntRange(0, 3).Draw(t, "steps") {
		step := toyStep{
			Kind: rapid.SampledFrom([]string{"work", "work", "work", "timer", "more", "fork", "undo"}).Draw(t, "kind"),
			Name: "s" + strconv.Itoa(i), After: time.Duration(rapid.IntRange(0, 2).Draw(t, "after")) * time.Minute,
		}
		switch {
		case step.Kind == "fork" && depth > 0:
			step.Slots = rapid.IntRange(0, 2).Draw(t, "slots")
			step.Retries = rapid.IntRange(0, 1).Draw(t, "retries")
			step.Clean = rapid.Bool().Draw(t, "clean")
			for range rapid.IntRange(0, 3).Draw(t, "children") {
				step.Flows = append(step.Flows, anyToy(t, depth-1))
			}
		case step.Kind == "fork":
			step.Kind = "work"
		case step.Kind == "undo" && i > 0:
			name := rapid.SampledFrom([]string{"", "s0", "s1"})
			step.Under, step.To = name.Draw(t, "under"), name.Draw(t, "to")
		case step.Kind == "undo":
			step.Kind = "more"
		case step.Kind == "work":
			step.Undo = rapid.Bool().Draw(t, "undo")
			step.Stuck = rapid.IntRange(0, 9).Draw(t, "stuck") == 0
			step.Beside = rapid.IntRange(0, 4).Draw(t, "beside") == 0
			step.Retries = rapid.IntRange(0, 2).Draw(t, "retries")
			step.Fails = max(0, rapid.IntRange(-3, 3).Draw(t, "fails"))
		}
		if step.Fails > 0 {
			step.Beside = false
		}
		f.Steps = append(f.Steps, step)
	}
	if slices.ContainsFunc(f.Steps, func(s toyStep) bool { return s.Kind == "undo" }) {
		for i := range f.Steps {
			f.Steps[i].Beside = false // no step waits for its end
		}
	}
	return f
}

// anyDeferral draws which questions to a language are answered later: none, or any.
func anyDeferral(t *rapid.T) func() bool {
	if !rapid.Bool().Draw(t, "defers") {
		return nil
	}
	return func() bool { return rapid.IntRange(0, 2).Draw(t, "later") == 0 }
}

// races reports whether the end of a program depends on how far the children of a fork have
// come when one fails: they are undone before the fork is tried again, which may fail.
func (f toyFlow) races() bool {
	return slices.ContainsFunc(f.Steps, func(s toyStep) bool {
		clean := s.Kind == "fork" && s.Clean && s.Retries > 0
		return clean && slices.ContainsFunc(s.Flows, toyFlow.sticks) || slices.ContainsFunc(s.Flows, toyFlow.races)
	})
}

// sticks reports whether an undo of a program fails.
func (f toyFlow) sticks() bool {
	return slices.ContainsFunc(f.Steps, func(s toyStep) bool {
		return s.Undo && s.Stuck || slices.ContainsFunc(s.Flows, toyFlow.sticks)
	})
}

// TestGrowthRandom crashes random programs again and again, with completions in
// any order: a program that succeeds when it is left alone succeeds, one that
// fails fails, and nothing that can be undone is left.
func TestGrowthRandom(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		program := anyToy(t, 2)
		alone := newGardener(t, program)
		alone.play()
		alone.check()

		g := newGardener(t, program)
		g.each = rapid.Bool().Draw(t, "each")
		g.gap = rapid.IntRange(1, 20).Draw(t, "gap")
		g.pick = func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "pick") }
		g.crashAt = g.gap
		g.stopAt = rapid.IntRange(0, 40).Draw(t, "stop at")
		g.defers = anyDeferral(t)
		g.parts = rapid.IntRange(1, 5).Draw(t, "parts")
		g.play()
		if g.over == nil {
			return // it died after its last commit
		}
		g.check()
		if program.races() {
			return
		}
		if got, want := g.over.End.Failure == nil, alone.over.End.Failure == nil; got != want {
			t.Errorf("crashed again and again: ended %s, want %s", g.end(), alone.end())
		}
	})
}

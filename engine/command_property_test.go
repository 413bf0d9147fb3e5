package engine_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/storage"
)

// TestCommandProperty sends commands to random flows at random moments, in processes that may also die. A held run
// continues to the same end. A cancelled run is undone, an abandoned one stays as it is, and the world agrees with the
// states.
//
// Guarantee (G5): With deaths, held random flows end as if left alone; cancelled ones leave nothing.
func TestCommandProperty(t *testing.T) {
	const times = 500
	check(t, times, func(rt *rapid.T) { commandAnywhere(t, rt) })
}

func commandAnywhere(t *testing.T, rt *rapid.T) {
	f := anyFlow(rt)
	c := conditions{
		policy:   rapid.SampledFrom([]engine.Checkpoints{engine.Step, engine.Each}).Draw(rt, "policy"),
		parallel: rapid.SampledFrom([]int{1, 4}).Draw(rt, "parallel"),
		seed:     rapid.Uint64Range(1, 1000).Draw(rt, "pace"),
	}
	alone := inBubbleOf(t, inMemory(), f, c)
	alone.report(rt, f, c)
	commands := map[string]engine.Command{"hold": engine.Hold(), "cancel": engine.Cancel("enough"), "abandon": engine.Abandon("enough")}
	kind := rapid.SampledFrom([]string{"hold", "cancel", "abandon"}).Draw(rt, "command")
	command := commands[kind]
	c.command, c.commandAt = &command, rapid.IntRange(1, 2*alone.commits).Draw(rt, "sent at")
	c.deaths = anyDeaths(rt, 0, 2, alone.commits)
	got := inBubbleOf(t, inMemory(), f, c)
	got.report(rt, f, c)
	if alone.stuck || got.stuck {
		return
	}
	if kind == "hold" || !got.commanded {
		if diff := cmp.Diff(alone.upshot, got.upshot); diff != "" {
			rt.Fatalf("%s\n%+v\nends otherwise than alone (-alone +commanded):\n%s", f, c, diff)
		}
		return
	}
	if got.End != storage.Cancelled && got.End != alone.End {
		rt.Fatalf("%s\n%+v\n%s ended %v", f, c, kind, got.End)
	}
	if kind == "cancel" && got.End == storage.Cancelled && len(got.Left) > 0 {
		rt.Fatalf("%s\n%+v\nwas cancelled and left %v", f, c, got.Left)
	}
}

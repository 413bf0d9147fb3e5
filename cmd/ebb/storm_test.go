package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// Variables of TestStorm: how long it lasts, such as 30m; the seed of its plays; one script to play only.
const (
	stormTime     = "EBB_STORM"
	stormSeed     = "EBB_STORM_SEED"
	stormOnly     = "EBB_STORM_PLAY"
	stormPatience = 2 * time.Minute // with a loaded machine
	stormAtOnce   = 24              // plays
)

// TestStorm sends runs what others do for them, and commands, by all doors of real processes: one after the other, at
// once, to one process and to two, with kill -9 between and amid. What was answered with yes counts, whatever command
// comes next, and what was refused does not.
func TestStorm(t *testing.T) {
	t.Parallel()
	if os.Getenv(stormTime) == "" {
		t.Skip("needs EBB_STORM: how long it lasts, such as 1m")
	}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		storm(t, "")
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		dsn := postgrestest.DSN(t) + "&lease=1s"
		if _, err := sqlstore.Migrate(t.Context(), dsn); err != nil {
			t.Fatal(err)
		}
		storm(t, dsn)
	})
}

func storm(t *testing.T, dsn string) {
	t.Helper()
	seed := rand.Uint64()
	lasts, err := time.ParseDuration(os.Getenv(stormTime))
	if err != nil {
		t.Fatal(stormTime, ": ", err)
	}
	if text := os.Getenv(stormSeed); text != "" {
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(stormSeed, ": ", err)
		}
	}
	r := rand.New(rand.NewPCG(seed, 0))
	pairs, onPairs, kills := stormPairs(), 0, ""
	if text := os.Getenv(stormOnly); text != "" {
		var s script
		n, err := fmt.Sscan(strings.ReplaceAll(text, "/", " "), &s.flow, &s.thing, &s.thingBy, &s.command, &s.commandBy, &s.when, &onPairs, &kills)
		if n < 7 {
			t.Fatalf("%s=%q: %v", stormOnly, text, err)
		}
		pairs = slices.Repeat([]script{s}, stormAtOnce)
	}
	w := newStormWorld(t, dsn)
	w.prepare(t.Context())
	count := map[string]*[3]int{} // by pair: plays, things that were acknowledged, violations
	began := time.Now()
	var next []script
	for round := 0; time.Since(began) < lasts; round++ {
		for len(next) < stormAtOnce {
			r.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
			next = append(next, pairs...)
		}
		kill, on := [...]string{"", "between", "amid"}[r.IntN(3)], 1+r.IntN(2)
		if onPairs > 0 {
			kill, on = kills, onPairs
		}
		scripts := slices.Clone(next[:stormAtOnce])
		next = next[stormAtOnce:]
		for i := range scripts {
			if scripts[i].when == "" {
				scripts[i] = scripts[i].complete(r)
			}
		}
		w.round(t.Context(), round, scripts, on, kill, count)
	}
	total := [3]int{}
	var lines []string
	for pair, n := range count {
		for i := range total {
			total[i] += n[i]
		}
		lines = append(lines, fmt.Sprintf("%-32s %4d plays, %4d acknowledged, %d wrong", pair, n[0], n[1], n[2]))
	}
	slices.Sort(lines)
	t.Logf("seed %d: %d plays, %d things acknowledged, %d plays wrong\n%s", seed, total[0], total[1], total[2], strings.Join(lines, "\n"))
	if total[1] == 0 {
		t.Error("no thing was acknowledged")
	}
}

// round plays some scripts at once, on one or two pairs of processes, one of which may be killed.
func (w *stormWorld) round(ctx context.Context, round int, scripts []script, pairs int, kill string, count map[string]*[3]int) {
	w.Helper()
	w.start(0)
	if w.start(1); pairs == 1 {
		w.pairs[1].kill()
	}
	working, stop := context.WithCancel(ctx)
	var workers sync.WaitGroup
	w.serve(working, &workers)
	defer func() { stop(); workers.Wait() }()
	var plays []*play
	var all sync.WaitGroup
	var mu sync.Mutex
	for i, s := range scripts {
		if kill == "between" {
			s.when = map[bool]string{true: "held", false: "killed"}[s.when == "held"]
		}
		p := &play{
			script: s, stormWorld: w, name: fmt.Sprintf("play-%d-%d", round, i), seat: 1_000_000 + round*stormAtOnce + i, commands: map[string]int{},
			at: rand.IntN(pairs), early: i%2 == 0 && s.when != "held" && s.command != "suspend", // a suspension waits for the call
			book: make(chan taking, 1), side: make(chan taking, 1), done: make(chan struct{}),
		}
		p.other = (p.at + pairs - 1) % pairs
		w.plays.Store(p.name, p)
		all.Go(func() {
			if p.begin(ctx) {
				mu.Lock()
				plays = append(plays, p)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	each := func(do func(*play)) {
		for _, p := range plays {
			all.Go(func() { do(p) })
		}
	}
	victim := rand.IntN(pairs)
	switch kill {
	case "":
		each(func(p *play) { p.act(ctx) })
	case "amid":
		each(func(p *play) { p.act(ctx) })
		time.Sleep(rand.N(300 * time.Millisecond))
		w.pairs[victim].kill()
		w.start(victim)
	case "between":
		each(func(p *play) { p.sendThing(ctx) })
		if rand.IntN(2) == 0 {
			time.Sleep(rand.N(150 * time.Millisecond))
		} else {
			all.Wait()
		}
		w.pairs[victim].kill()
		all.Wait()
		each(func(p *play) { p.sendCommand(ctx) })
		if pairs == 1 && rand.IntN(2) == 0 { // the time limits pass while no process runs
			time.Sleep(time.Until(slices.MaxFunc(plays, func(a, b *play) int { return a.begun.Compare(b.begun) }).begun.Add(stormLimit)))
		}
		w.start(victim)
	}
	all.Wait()
	each(func(p *play) {
		wrong := p.judge(ctx)
		mu.Lock()
		defer mu.Unlock()
		pair := fmt.Sprintf("%s %s %s", p.flow, p.thing, p.command)
		if count[pair] == nil {
			count[pair] = &[3]int{}
		}
		count[pair][0]++
		if p.thinged == yes {
			count[pair][1]++
		}
		if len(wrong) > 0 {
			count[pair][2]++
			w.Errorf("%v, run %s:\n  %s\n  again: EBB_STORM=30s EBB_STORM_PLAY='%v %d%s' go test ./cmd/ebb -run '%s'",
				p, p.run, strings.Join(wrong, "\n  "), p.script, pairs, strings.TrimRight(" "+kill, " "), w.Name())
		}
	})
	all.Wait()
	w.plays.Clear()
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/longtest"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// Variables of TestStorm: how long it lasts at least, such as 30m; the seed of its plays; one script to play only.
const (
	stormTime     = "EBB_STORM"
	stormSeed     = "EBB_STORM_SEED"
	stormOnly     = "EBB_STORM_PLAY"
	stormPatience = 2 * time.Minute // with a loaded machine
	stormBound    = time.Minute     // ends the sample on a slow machine
	stormAtOnce   = 24              // plays
)

// A stormMode says how many pairs of processes a round has, and when one of them is killed.
type stormMode struct {
	pairs int
	kill  string // between the thing and the command, amid both, or not
}

// stormModes are the modes of the rounds, in turn. The sample has three rounds.
var stormModes = []stormMode{{1, "between"}, {2, "between"}, {2, "amid"}, {1, ""}, {1, "amid"}, {2, ""}}

// TestStorm sends runs what others do for them, and commands, by all doors of real processes: one after the other, at
// once, to one process and to two, with kill -9 between and amid. What was answered with yes counts, whatever command
// comes next, and what was refused does not. Each pair of a thing and a command is played once for each kind of flow,
// and each door is used; with EBB_STORM, random plays follow.
//
// Guarantee (G1): What was acknowledged counts, whatever comes next. A run, and its undo, know each result, failure,
// heartbeat and signal that was accepted before a command, a time limit or a failure beside it: by every door, on one
// and two processes, with a kill between the two.
func TestStorm(t *testing.T) { //nolint:paralleltest,tparallel // its processes would slow down the tests beside it
	longtest.Needs(t)
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
	lasts, errTime := time.ParseDuration(cmp.Or(os.Getenv(stormTime), "0s"))
	seed, errSeed := strconv.ParseUint(cmp.Or(os.Getenv(stormSeed), "1"), 10, 64)
	if err := errors.Join(errTime, errSeed); err != nil {
		t.Fatal(err)
	}
	pairs, modes, doors := stormPairs(), stormModes, doors{}
	if text := os.Getenv(stormOnly); text != "" {
		var s script
		var m stormMode
		text = strings.ReplaceAll(text, "/", " ")
		n, err := fmt.Sscan(text, &s.flow, &s.thing, &s.thingBy, &s.command, &s.commandBy, &s.when, &m.pairs, &m.kill)
		if n < 7 {
			t.Fatalf("%s=%q: %v", stormOnly, text, err)
		}
		pairs, modes = slices.Repeat([]script{s}, stormAtOnce), []stormMode{m}
	}
	w := newStormWorld(t, dsn)
	w.prepare(t.Context())
	count := map[string]*[3]int{} // by pair: plays, things that were acknowledged, violations
	began, r := time.Now(), rand.New(rand.NewPCG(seed, 0))
	var next []script
	for round := 0; round*stormAtOnce < len(pairs) || time.Since(began) < lasts; round++ {
		if time.Since(began) > max(lasts, stormBound) {
			t.Logf("stops after %d of %d plays: the machine is slow", round*stormAtOnce, len(pairs))
			break
		}
		for len(next) < stormAtOnce {
			r.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
			for _, s := range pairs {
				if s.when == "" {
					s = s.complete(doors)
				}
				next = append(next, s)
			}
		}
		w.round(t.Context(), round, next[:stormAtOnce], modes[round%len(modes)], count)
		next = next[stormAtOnce:]
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
	t.Logf("seed %d: %d plays in %v, %d things acknowledged, %d plays wrong\n%s",
		seed, total[0], time.Since(began).Round(time.Second), total[1], total[2], strings.Join(lines, "\n"))
	if total[1] == 0 {
		t.Error("no thing was acknowledged")
	}
}

// round plays some scripts at once, on one or two pairs of processes, one of which may be killed.
func (w *stormWorld) round(ctx context.Context, round int, scripts []script, m stormMode, count map[string]*[3]int) {
	w.Helper()
	w.start(0)
	if w.start(1); m.pairs == 1 {
		w.pairs[1].kill()
	}
	working, stop := context.WithCancel(ctx)
	var workers sync.WaitGroup
	w.serve(working, &workers)
	defer func() { stop(); workers.Wait() }()
	var plays []*play
	var all sync.WaitGroup
	defer all.Wait() // also if a process does not start
	var mu sync.Mutex
	for i, s := range scripts {
		if m.kill == "between" {
			s.when = map[bool]string{true: "held", false: "killed"}[s.when == "held"]
		}
		p := &play{
			script: s, stormWorld: w, name: fmt.Sprintf("play-%d-%d", round, i), commands: map[string]int{},
			seat: 1_000_000 + round*stormAtOnce + i, at: rand.IntN(m.pairs),
			early: i%2 == 0 && s.when != "held" && s.command != "suspend", // a suspension waits for the call
			book:  make(chan taking, 1), side: make(chan taking, 1), done: make(chan struct{}),
		}
		p.other = (p.at + m.pairs - 1) % m.pairs
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
	victim := rand.IntN(m.pairs)
	switch m.kill {
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
		if m.pairs == 1 && rand.IntN(2) == 0 { // the time limits pass while no process runs
			last := slices.MaxFunc(plays, func(a, b *play) int { return a.begun.Compare(b.begun) })
			time.Sleep(time.Until(last.begun.Add(stormLimit)))
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
			w.Errorf("%v, run %s:\n  %s\n  again: EBB_TEST_LONG=1 EBB_STORM=30s EBB_STORM_PLAY='%v %d%s' go test ./cmd/ebb -run '%s'",
				p, p.run, strings.Join(wrong, "\n  "), p.script, m.pairs, strings.TrimRight(" "+m.kill, " "), w.Name())
		}
	})
	all.Wait()
	w.plays.Clear()
}

package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// A conduct says how a run behaves beside others.
type conduct struct {
	Kills bool          // kills the process that drives it, in step Step
	Step  int           // the step that takes Takes; the others take no time. -1: it kills before anything is stored
	Takes time.Duration // until it ends, or kills
	Later time.Duration // time of its start
	Waits bool          // Step fails once, and the run waits for the next attempt
}

// maxDeaths is the number of deaths that one killer may cause. 6 happen until it is isolated for longer than it needs to
// kill, and 1 in an isolated group. The proof takes 3 deaths alone, or 9 beside others. Several killers may spoil the
// proofs about each other.
const maxDeaths = 6 + 1 + backend.ProofAlone*engine.DefaultMaxLost

// A colony is a set of processes. Each of them starts again after it has died.
type colony struct {
	t       *testing.T
	records *memstore.Store
	runs    map[string]conduct
	deaths  atomic.Int64
	begin   func(run string) []engine.RunOption // may be nil
}

func (c *colony) steps(p *process) flow.Node {
	root := flow.Linear("f")
	for i := range 4 {
		root.Add(atom.Func(fmt.Sprintf("step%d", i), func(ctx context.Context, _ struct{}) (int, error) {
			how := c.runs[atom.CurrentCall(ctx).Run]
			if how.Step != i {
				return i, nil
			}
			t := time.NewTimer(how.Takes)
			defer t.Stop()
			select {
			case <-t.C:
			case <-ctx.Done():
				return 0, ctx.Err()
			}
			if how.Waits && atom.CurrentCall(ctx).Attempt == 1 {
				return 0, errors.New("not yet")
			}
			if how.Kills {
				c.deaths.Add(1)
				p.store.Die()
				p.kill()
				<-ctx.Done()
			}
			return i, ctx.Err()
		}, atom.As(fmt.Sprintf("done%d", i)), atom.Attempts(2, atom.Backoff{First: time.Minute})))
	}
	return root
}

// A process serves until it dies.
type process struct {
	store *memstore.Store
	kill  context.CancelFunc
}

func (c *colony) live(ctx context.Context) {
	for ctx.Err() == nil {
		p := &process{store: c.records.Join()}
		living, kill := context.WithCancel(ctx)
		p.kill = kill
		eng := newEngine(c.t, c.steps(p), engine.WithStore(hasty{p.store, c, p}), engine.WithGrace(0))
		_ = eng.Serve(living, engine.WithSlots(20)) // the process has died
		kill()
		_ = p.store.Close()
		t := time.NewTimer(100 * time.Millisecond)
		select {
		case <-t.C:
		case <-ctx.Done():
		}
		t.Stop()
	}
}

// hasty is the store of a process that some runs kill before they have stored anything.
type hasty struct {
	*memstore.Store

	c *colony
	p *process
}

func (s hasty) Commit(ctx context.Context, claim backend.Claim, cp *backend.Checkpoint) error {
	if how := s.c.runs[claim.Run]; how.Kills && how.Step < 0 {
		s.c.deaths.Add(1)
		s.Die()
		s.p.kill()
	}
	return s.Store.Commit(ctx, claim, cp)
}

// play lets processes serve runs until all have ended or were set aside, for a day at most.
func (c *colony) play(processes int) {
	t := c.t
	ctx, stop := context.WithTimeout(t.Context(), 24*time.Hour)
	defer stop()
	starter := newEngine(t, c.steps(nil), engine.WithStore(c.records))
	for id, how := range c.runs {
		go func() {
			later := time.NewTimer(how.Later)
			defer later.Stop()
			<-later.C
			var opts []engine.RunOption
			if c.begin != nil {
				opts = c.begin(id)
			}
			if err := starter.Start(context.WithoutCancel(ctx), id, opts...); err != nil {
				t.Error(err)
			}
		}()
	}
	for range processes {
		go c.live(ctx)
	}
	look := time.NewTicker(time.Second)
	defer look.Stop()
	for ctx.Err() == nil {
		<-look.C
		left := 0
		for id := range c.runs {
			if run, err := c.records.Run(context.WithoutCancel(ctx), id); err != nil || !run.State.Ended() && !run.Hold {
				left++
			}
		}
		if left == 0 {
			break
		}
	}
	stop()
	synctest.Wait()
}

// judge returns the errors of the result.
func (c *colony) judge() error {
	killers := 0
	var wrong strings.Builder
	for id, how := range c.runs {
		run, err := c.records.Run(context.Background(), id)
		if err != nil {
			return err
		}
		parked := run.Hold && run.Failure != nil && run.Failure.Code == atom.CodeLost
		if how.Kills {
			killers++
		}
		if how.Kills != parked || !how.Kills && run.State != states.FlowSuccess {
			fmt.Fprintf(&wrong, "%s %+v is %v, parked %v (lost %d, %+v)\n", id, how, run.State, parked, run.Lost, run.CrashLoop)
		}
	}
	if n := int(c.deaths.Load()); n > killers*killers*maxDeaths {
		fmt.Fprintf(&wrong, "%d killers caused %d deaths\n", killers, n)
	}
	if wrong.Len() > 0 {
		return fmt.Errorf("after %d deaths:\n%s", c.deaths.Load(), wrong.String())
	}
	return nil
}

// TestKillersAmongInnocents drives innocent runs beside runs that kill their processes, at random times and after
// random commits. All innocent runs end, also those that wait in between. The killers are set aside after a bounded
// number of deaths.
//
// Attack (Runs and processes that die): A run kills its process again and again, after a commit or before it stores
// anything, beside innocent runs.
// Result: Sets only this run aside.
func TestKillersAmongInnocents(t *testing.T) {
	t.Parallel()
	check(t, 30, func(rt *rapid.T) {
		c := &colony{t: t, runs: map[string]conduct{}}
		seconds := func(what string, most int) time.Duration {
			return time.Duration(rapid.IntRange(0, most*1000).Draw(rt, what)) * time.Millisecond
		}
		for i := range rapid.IntRange(1, 3).Draw(rt, "killers") {
			c.runs[fmt.Sprintf("killer%d", i)] = conduct{
				Kills: true, Step: rapid.IntRange(-1, 3).Draw(rt, "step"), Takes: seconds("kills after", 40), Later: seconds("starts", 100),
			}
		}
		for i := range rapid.IntRange(0, 30).Draw(rt, "innocents") {
			takes := seconds("takes", rapid.SampledFrom([]int{0, 1, 30, 600}).Draw(rt, "at most"))
			c.runs[fmt.Sprintf("innocent%d", i)] = conduct{
				Step: rapid.IntRange(0, 3).Draw(rt, "step"), Takes: takes, Later: seconds("starts", 100),
				Waits: rapid.Bool().Draw(rt, "waits"),
			}
		}
		processes := rapid.IntRange(1, 3).Draw(rt, "processes")
		var wrong error
		synctest.Test(t, func(t *testing.T) {
			c.t, c.records = t, memstore.New()
			c.play(processes)
			wrong = c.judge()
		})
		if wrong != nil {
			rt.Fatal(wrong)
		}
	})
}

// TestKillerIsSetAside: a run that kills the processes that drive it is set aside with its job, and gives the reason. A
// process that runs it later starts with a clean record.
//
// Guarantee (Jobs): Ebb sets aside [only the run that kills its processes](attacks.md#runs-and-processes-that-die).
// Also: `cmd/ebb: TestScripts/serve` (real processes).
func TestKillerIsSetAside(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &colony{t: t, records: memstore.New(), runs: map[string]conduct{"killer": {Kills: true, Step: 1, Takes: time.Second}}}
		for i := range 10 {
			c.runs[fmt.Sprintf("innocent%d", i)] = conduct{Takes: time.Minute}
		}
		if err := c.records.PostJob(t.Context(), storage.Job{ID: "j", Run: "killer"}); err != nil {
			t.Fatal(err)
		}
		c.begin = func(run string) []engine.RunOption {
			if run == "killer" {
				return []engine.RunOption{engine.ForJob("j")}
			}
			return nil
		}
		c.play(1)
		if err := c.judge(); err != nil {
			t.Fatal(err)
		}
		run, err := c.records.Run(t.Context(), "killer")
		if err != nil || run.Lost != 0 || run.State != states.FlowSuspended {
			t.Errorf("the killer is %+v (%v)", run, err)
		}
		if why := run.Failure.Message; !strings.Contains(why, fmt.Sprintf("%d died, the last of them (process %d on ", c.deaths.Load(), os.Getpid())) {
			t.Errorf("after %d deaths it says %q", c.deaths.Load(), why)
		}
		if j := jobOf(t, c.records); j.State != states.JobParked || j.Failure == nil || j.Failure.Code != atom.CodeLost {
			t.Errorf("job is %+v", j)
		}
		c.runs["killer"] = conduct{}
		if _, err := newEngine(t, c.steps(nil), engine.WithStore(c.records)).Run(t.Context(), "killer"); err != nil {
			t.Error(err)
		}
		if j := jobOf(t, c.records); j.State != states.JobComplete || j.Failure != nil {
			t.Errorf("gone on with, the job is %+v", j)
		}
	})
}

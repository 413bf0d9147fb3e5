package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/internal/longtest"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// revertible is how many steps of steps.asl.json can be undone.
const revertible = 13

// killable are what TestCrashAnywhere kills, in turn, and how many steps of each
// can be undone, in all incarnations: they grow, wait, try again, fail and are
// undone, in every language.
var killable = []struct {
	name  string
	steps int
}{
	{"steps.asl.json", revertible},
	{"go:graph", 15},
	{"steps.sm4c.json", 9},
	{"go:laps", 12},
}

// TestCrashAnywhere kills runs at random moments: before, in or after any of
// their calls, or while they wait.
//
// Guarantee (G5): Go, ASL and SM4C flows survive kills while they grow, wait, retry and undo, and at failpoints around
// commits, calls, waits and reverts.
// Also: (40 kills, 100 in `.ci/run`, 5,000 in `make soak`), `TestCrashAtFailpoints`.
func TestCrashAnywhere(t *testing.T) {
	t.Parallel()
	kills := longtest.Count(40, 100, 5000)
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	var victims []kill
	for i, k := range killable {
		want, calls, each := undisturbed(t, k.name, k.steps)
		for n := i; n < kills; n += len(killable) {
			victims = append(victims, kill{
				newVictim(t, k.name), k.name, want,
				moment{random.IntN(calls), time.Duration(random.Int64N(int64(each)))},
				moment{random.IntN(calls / 2), time.Duration(random.Int64N(int64(each)))},
			})
		}
	}
	random.Shuffle(len(victims), func(i, j int) { victims[i], victims[j] = victims[j], victims[i] })
	var mu sync.Mutex
	landed := map[string]landing{}
	sideBySide(kills, func(i int) {
		v := &victims[i]
		err := v.killed(v.at)
		if i%4 == 3 { // kill the process that resumes the run, too
			err = errors.Join(err, v.killed(v.again))
		}
		s, last := v.recover(v.want)
		if err := errors.Join(err, last); err != nil {
			t.Errorf("%s, killed at %v, %v: %v", v.name, v.at, v.again, err)
		}
		mu.Lock()
		defer mu.Unlock()
		landed[v.name] = landed[v.name].with(&s)
	})
	t.Logf("%d runs killed, a quarter of them twice (seed %d)", kills, seed)
	between := 0
	for name, l := range landed {
		between += l.between
		t.Logf("%s: %d before the first commit, %d between, %d after the last", name, l.before, l.between, l.after)
	}
	if between == 0 {
		t.Errorf("none of %d runs was killed between the first and the last commit", kills)
	}
}

// killed returns the visits that are killed: the first and the last, or all in CI.
func killed(visits []int) []int {
	if longtest.On() || len(visits) == 1 {
		return visits
	}
	return []int{visits[0], visits[len(visits)-1]}
}

// A kill is a run whose process is killed, perhaps twice.
type kill struct {
	*victim

	name, want string
	at, again  moment
}

// A landing is how many runs were killed when.
type landing struct{ before, between, after int }

// with counts one more, as it was seen when it was killed.
func (l landing) with(s *sight) landing {
	switch {
	case s.run.Seq == 0:
		l.before++
	case s.run.State.Ended():
		l.after++
	default:
		l.between++
	}
	return l
}

// TestCrashAtFailpoints kills runs at the places where a crash would hurt most.
//
// Guarantee (G1): After a kill around a COMMIT, WAL checkpoint or migration, all acknowledged commits are there, and at
// most one more.
// Also: `storage/sqlstore: TestKilledInCommit`, `TestKilledInWALCheckpoint`, `TestKilledInMigration`.
func TestCrashAtFailpoints(t *testing.T) {
	t.Parallel()
	want, _, _ := undisturbed(t, "steps.asl.json", revertible)
	wantLarge, _, _ := undisturbed(t, "large.asl.json", 1)
	tests := []struct {
		place  string
		visits []int
		file   string
		want   string
	}{
		{"sqlstore.migrate", []int{1}, "steps.asl.json", want},
		{"sqlstore.commit.before", []int{1, 2, 3, 9, 20, 30}, "steps.asl.json", want},
		{"sqlstore.commit.after", []int{1, 2, 3, 9, 20, 30}, "steps.asl.json", want},
		{"engine.executed", []int{1, 5, 6, 8, 14, 15, 20, 27}, "steps.asl.json", want},
		{"engine.committed", []int{1, 2, 9, 20, 30}, "steps.asl.json", want},
		{"engine.growth", []int{1, 2, 7, 10, 15}, "steps.asl.json", want},
		{"engine.backoff", []int{1, 2}, "steps.asl.json", want},
		{"engine.reverting", []int{1, 2, 7, 13}, "steps.asl.json", want},
		{"sqlstore.walcheckpoint.before", []int{1}, "steps.asl.json", want}, // at the end
		{"sqlstore.walcheckpoint.after", []int{1}, "steps.asl.json", want},
		{"sqlstore.walcheckpoint.before", []int{1}, "large.asl.json", wantLarge}, // on the way
		{"sqlstore.walcheckpoint.after", []int{1}, "large.asl.json", wantLarge},
	}
	type kill struct {
		name, want, env string
		victim          *victim
	}
	var kills []kill
	for _, test := range tests {
		for _, visit := range killed(test.visits) {
			kills = append(kills, kill{
				fmt.Sprintf("%s, visit %d, in %s", test.place, visit, test.file), test.want,
				fmt.Sprintf("%s=%s %d", killAt, test.place, visit), newVictim(t, test.file),
			})
		}
	}
	sideBySide(len(kills), func(i int) {
		k := &kills[i]
		cmd := k.victim.begin(k.env)
		if out, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != -1 {
			t.Errorf("%s: the process was not killed: %v\n%s", k.name, err, out)
			return
		}
		if _, err := k.victim.recover(k.want); err != nil {
			t.Errorf("%s: %v", k.name, err)
		}
	})
}

// TestCrashTakesProgramsAlong kills a process while a program of its works, and
// sees that the program is gone.
func TestCrashTakesProgramsAlong(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ties a program's life to another's")
	}
	v := newVictim(t, "steps.asl.json")
	v.file = filepath.Join(v.dir, "wait.json")
	definition := `{"StartAt": "A", "States": {"A": {"Type": "Task", "End": true,
		"Resource": "exec:sh -c 'echo $$ >pid.new; mv pid.new pid; exec sleep 600'"}}}`
	if err := os.WriteFile(v.file, []byte(definition), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := v.begin("")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pid []byte
	for ; len(pid) == 0; time.Sleep(time.Millisecond) {
		pid, _ = os.ReadFile(filepath.Join(v.dir, "pid")) // not there yet
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	for ; ; time.Sleep(time.Millisecond) {
		stat, err := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/stat")
		if _, state, _ := strings.Cut(string(stat), ") "); err != nil || strings.HasPrefix(state, "Z") {
			return
		}
	}
}

// TestCrashInCancel kills a run, then the cancel of it, each at places where it
// would hurt. The process that resumes the run continues the undo.
func TestCrashInCancel(t *testing.T) {
	t.Parallel()
	places := []string{"engine.committed", "sqlstore.commit.before", "engine.reverting"}
	type kill struct {
		place  string
		victim *victim
	}
	var kills []kill
	for _, place := range places {
		for _, visit := range killed([]int{1, 2, 3, 5}) {
			kills = append(kills, kill{fmt.Sprintf("%s=%s %d", killAt, place, visit), newVictim(t, "steps.asl.json")})
		}
	}
	sideBySide(len(kills), func(i int) {
		v := kills[i].victim
		for _, cmd := range []*exec.Cmd{v.begin(killAt + "=engine.executed 9"), v.ebb(kills[i].place, "cancel", crashRun, "--reason", "enough")} {
			if out, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != -1 {
				t.Errorf("%s: the process was not killed: %v\n%s", kills[i].place, err, out)
				return
			}
		}
		before, err := v.look()
		if err != nil {
			t.Error(err)
			return
		}
		cmd := v.ebb("", "resume", crashRun)
		if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != exit.Reverted {
			t.Errorf("%s: going on: exit status %d\n%s", kills[i].place, cmd.ProcessState.ExitCode(), out)
		}
		after, err := v.look()
		if err == nil && after.run.Outcome != storage.Cancelled {
			err = fmt.Errorf("the outcome is %v", after.run.Outcome)
		}
		if len(after.committed(states.TaskSuccess)) != len(before.committed(states.TaskSuccess)) {
			err = errors.Join(err, errors.New("it went forward"))
		}
		if err := errors.Join(err, after.repeats(&before), after.judgeUndo()); err != nil {
			t.Errorf("%s: %v", kills[i].place, err)
		}
	})
}

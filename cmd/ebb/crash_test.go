package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// crashRun is the id of the run in each database of the crash tests.
const crashRun = "crash"

// crashesAtOnce is how many runs are killed side by side: they mostly sleep.
const crashesAtOnce = 8

// A victim is a run in a database of its own, which real processes work on and
// are killed.
type victim struct {
	self    string // this test's binary
	file    string // definition
	dir     string
	db      string
	journal string
}

func newVictim(t *testing.T, name string) *victim {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the steps are shell scripts")
	}
	file, err := filepath.Abs(filepath.Join("testdata", "crash", name))
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	return &victim{self, file, dir, filepath.Join(dir, "ebb.db"), filepath.Join(dir, "journal")}
}

// ebb returns the command as a process of its own: this test's binary, called
// ebb.
func (v *victim) ebb(env string, args ...string) *exec.Cmd {
	cmd := exec.Command(v.self, args...)
	cmd.Args[0] = "ebb"
	cmd.Dir = v.dir
	cmd.Env = append(os.Environ(), "EBB_DSN=sqlite:"+v.db, "EBB_TEST_JOURNAL="+v.journal, env)
	return cmd
}

func (v *victim) begin(env string) *exec.Cmd {
	return v.ebb(env, "run", "--id", crashRun, v.file)
}

// A sight is what is there to be seen of a run between processes.
type sight struct {
	run     storage.Run
	atoms   []storage.Atom
	history []storage.Entry
	journal []string
}

func (v *victim) look() (s sight, err error) {
	text, err := os.ReadFile(v.journal)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return s, err
	}
	s.journal = strings.SplitAfter(string(text), "\n")
	s.journal = s.journal[:len(s.journal)-1]
	ctx := context.Background()
	store, err := sqlstore.Open(ctx, v.db, sqlstore.ReadOnly())
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, sqlstore.ErrForeign) {
		return s, nil // killed before the database was made
	}
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	s.run, err = store.Run(ctx, crashRun)
	if errors.Is(err, storage.ErrNotFound) {
		return s, nil
	}
	if err == nil {
		s.atoms, err = store.Atoms(ctx, crashRun)
	}
	if err == nil {
		s.history, err = store.History(ctx, crashRun, 0, 0)
	}
	return s, err
}

// committed returns the steps whose changes to a state the history has, in its
// order.
func (s *sight) committed(to states.Task) []string {
	var paths []string
	for i := range s.history {
		if e := &s.history[i]; e.Kind == storage.EntryAtom && e.Path != flow.GrowingPath && states.Task(e.To) == to {
			paths = append(paths, e.Path)
		}
	}
	return paths
}

// end is all of a run's end that has to be the same however often it was killed.
func (s *sight) end() string {
	var b strings.Builder
	fmt.Fprintln(&b, s.run.State, s.run.Outcome, s.run.Undo, s.run.Failure)
	for i := range s.atoms {
		fmt.Fprintln(&b, s.atoms[i].Path, s.atoms[i].State)
	}
	return b.String()
}

// recover has a new process take the run to its end, and judges what it did
// against what was there before.
func (v *victim) recover(want string) (before sight, err error) {
	if before, err = v.look(); err != nil {
		return before, err
	}
	cmd := v.goOn(&before)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != exitReverted {
		return before, fmt.Errorf("going on: %w; want exit status %d\n%s", err, exitReverted, out)
	}
	after, err := v.look()
	if err != nil {
		return before, err
	}
	if diff := cmp.Diff(want, after.end()); diff != "" {
		err = fmt.Errorf("another end:\n%s", diff)
	}
	return before, errors.Join(err, after.repeats(&before), after.judgeUndo())
}

// goOn returns the command that goes on with the run, or begins it again when
// nothing of it is known.
func (v *victim) goOn(before *sight) *exec.Cmd {
	if before.run.ID == "" {
		return v.begin("")
	}
	return v.ebb("", "resume", crashRun)
}

// A moment is when a process is killed: some time after it has made so many
// calls.
type moment struct {
	calls int
	after time.Duration
}

// killed goes on with the run in a process that is killed at a moment, and judges
// what it did until then.
func (v *victim) killed(at moment) error {
	before, err := v.look()
	if err != nil {
		return err
	}
	cmd := v.goOn(&before)
	if err := cmd.Start(); err != nil {
		return err
	}
	ended, killed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(killed)
		pause := time.NewTimer(0)
		for v.calls()-len(before.journal) < at.calls {
			select {
			case <-ended:
				return
			case <-pause.C:
				pause.Reset(2 * time.Millisecond)
			}
		}
		time.Sleep(at.after)
		_ = cmd.Process.Kill() // it may have ended
	}()
	_ = cmd.Wait() // how it ended is seen in the store
	close(ended)
	<-killed
	s, err := v.look()
	return errors.Join(err, s.repeats(&before))
}

// calls returns how many calls of programs the journal tells of.
func (v *victim) calls() int {
	text, _ := os.ReadFile(v.journal) // not there yet
	return bytes.Count(text, []byte("\n"))
}

// repeats returns an error for each step that was called since before though
// what it was called for was committed then.
func (s *sight) repeats(before *sight) error {
	var errs []error
	done, undone := before.committed(states.TaskSuccess), before.committed(states.TaskReverted)
	for _, line := range s.journal[len(before.journal):] {
		kind, path := journalLine(line)
		if kind != "undo" && slices.Contains(done, path) {
			errs = append(errs, fmt.Errorf("%s was executed again though its success was committed", path))
		}
		if kind == "undo" && slices.Contains(undone, path) {
			errs = append(errs, fmt.Errorf("%s was undone again though that was committed", path))
		}
	}
	return errors.Join(errs...)
}

// journalLine returns what a program wrote about its call.
func journalLine(line string) (kind, path string) {
	kind, path, _ = strings.Cut(line, " ")
	path, _, _ = strings.Cut(path, " ")
	return kind, path
}

// judgeUndo compares the order of undoing with that of doing. What was cut off in
// the middle is undone, too, and was never done.
func (s *sight) judgeUndo() error {
	undone, done := s.committed(states.TaskReverted), s.committed(states.TaskSuccess)
	within := func(list, of []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(path string) bool { return !slices.Contains(of, path) })
	}
	forth, back := within(done, undone), within(undone, done)
	slices.Reverse(forth)
	if diff := cmp.Diff(forth, back); diff != "" {
		return fmt.Errorf("not undone in reverse order (-reverse +undone):\n%s", diff)
	}
	var called []string
	for _, line := range s.journal {
		if kind, path := journalLine(line); kind == "undo" && !slices.Contains(called, path) {
			called = append(called, path)
		}
	}
	if diff := cmp.Diff(undone, called); diff != "" {
		return fmt.Errorf("programs were called to undo in another order (-committed +called):\n%s", diff)
	}
	return nil
}

// undisturbed runs a definition without a kill, and returns its end, how many
// calls it made and how long each took.
func undisturbed(t *testing.T, name string, steps int) (end string, calls int, each time.Duration) {
	t.Helper()
	v := newVictim(t, name)
	began := time.Now()
	cmd := v.begin("")
	out, err := cmd.CombinedOutput()
	took := time.Since(began)
	if cmd.ProcessState.ExitCode() != exitReverted {
		t.Fatalf("%v\n%s", err, out)
	}
	s, err := v.look()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.committed(states.TaskReverted)); n != steps {
		t.Fatalf("%d steps were undone; want %d\n%s", n, steps, out)
	}
	if err := s.judgeUndo(); err != nil {
		t.Fatal(err)
	}
	calls = len(s.journal)
	return s.end(), calls, took / time.Duration(calls)
}

// sideBySide calls f for each number below n, some at once: more than there are
// processors, for the runs mostly sleep.
func sideBySide(n int, f func(i int)) {
	var group sync.WaitGroup
	slots := make(chan struct{}, crashesAtOnce)
	for i := range n {
		slots <- struct{}{}
		group.Go(func() {
			f(i)
			<-slots
		})
	}
	group.Wait()
}

// revertible is how many steps of steps.asl.json can be undone.
const revertible = 13

// TestCrashAnywhere kills runs at random moments: before, in or after any of
// their calls. How many is EBB_CRASH_KILLS.
func TestCrashAnywhere(t *testing.T) {
	t.Parallel()
	kills := 200
	if testing.Short() {
		kills = 8
	}
	if text := os.Getenv("EBB_CRASH_KILLS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal("EBB_CRASH_KILLS: ", err)
		}
		kills = n
	}
	want, calls, each := undisturbed(t, "steps.asl.json", revertible)
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	type kill struct {
		*victim

		at, again moment
	}
	victims := make([]kill, kills)
	for i := range victims {
		victims[i] = kill{
			newVictim(t, "steps.asl.json"),
			moment{random.IntN(calls), time.Duration(random.Int64N(int64(each)))},
			moment{random.IntN(calls / 2), time.Duration(random.Int64N(int64(each)))},
		}
	}
	var landed struct {
		sync.Mutex

		before, between, after int
	}
	sideBySide(kills, func(i int) {
		v := victims[i]
		err := v.killed(v.at)
		if i%4 == 3 { // who goes on is killed, too
			err = errors.Join(err, v.killed(v.again))
		}
		s, last := v.recover(want)
		if err := errors.Join(err, last); err != nil {
			t.Errorf("killed at %v, %v: %v", v.at, v.again, err)
		}
		landed.Lock()
		defer landed.Unlock()
		switch {
		case s.run.Seq == 0:
			landed.before++
		case s.run.State.Ended():
			landed.after++
		default:
			landed.between++
		}
	})
	t.Logf("%d runs killed within %d calls, a quarter of them twice (seed %d): %d before the first commit, %d between, %d after the last",
		kills, calls, seed, landed.before, landed.between, landed.after)
	if landed.between == 0 {
		t.Errorf("none of %d runs was killed between the first and the last commit", kills)
	}
}

// TestCrashAtFailpoints kills runs at the places where a crash would hurt most.
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
		if testing.Short() {
			test.visits = test.visits[:1]
		}
		for _, visit := range test.visits {
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
// would hurt. Whoever goes on goes on with the undoing.
func TestCrashInCancel(t *testing.T) {
	t.Parallel()
	places := []string{"engine.committed", "sqlstore.commit.before", "engine.reverting"}
	visits := []int{1, 2, 3, 5}
	if testing.Short() {
		visits = visits[1:2]
	}
	type kill struct {
		place  string
		victim *victim
	}
	var kills []kill
	for _, place := range places {
		for _, visit := range visits {
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
		if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != exitReverted {
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

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
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
	file    string // definition; "" for a flow in Go
	program string // which of the flows in Go
	dir     string
	db      string
	journal string
}

// newVictim returns the run of a definition in testdata/crash, or of a flow in Go:
// "go:NAME".
func newVictim(t *testing.T, name string) *victim {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the steps are shell scripts")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	v := &victim{self: self, dir: dir, db: filepath.Join(dir, "ebb.db"), journal: filepath.Join(dir, "journal")}
	var inGo bool
	if v.program, inGo = strings.CutPrefix(name, "go:"); inGo {
		return v
	}
	v.program = ""
	if v.file, err = filepath.Abs(filepath.Join("testdata", "crash", name)); err != nil {
		t.Fatal(err)
	}
	return v
}

// ebb returns the command as a process of its own.
func (v *victim) ebb(env string, args ...string) *exec.Cmd { return v.process("ebb", env, args...) }

// process returns this test's binary as a process of its own, called by a name.
func (v *victim) process(name, env string, args ...string) *exec.Cmd {
	cmd := exec.Command(v.self, args...)
	cmd.Args[0] = name
	cmd.Dir = v.dir
	cmd.Env = append(os.Environ(), "EBB_DSN=sqlite:"+v.db, "EBB_TEST_JOURNAL="+v.journal, env)
	return cmd
}

func (v *victim) begin(env string) *exec.Cmd {
	if v.program != "" {
		return v.process("goflow", env, v.program)
	}
	return v.ebb(env, "run", "--id", crashRun, v.file)
}

// A sight is the visible state of a run between processes.
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
		s.atoms, err = store.Atoms(ctx, crashRun, storage.AtomQuery{})
	}
	if err == nil {
		s.history, err = store.History(ctx, crashRun, 0, 0)
	}
	return s, err
}

// committed returns the steps whose changes to a state the history has, in its
// order; of what calls no program, as a growing flow or a retry, there are none.
func (s *sight) committed(to states.Task) []string {
	var steps []string
	for i := range s.history {
		e := &s.history[i]
		if e.Kind == storage.EntryAtom && e.Path != flow.GrowingPath && !strings.HasSuffix(e.Path, "_retry") && states.Task(e.To) == to {
			steps = append(steps, fmt.Sprint(e.Path, "@", e.Incarnation))
		}
	}
	return steps
}

// end is the part of a run's end that must be the same after any number of kills.
func (s *sight) end() string {
	var b strings.Builder
	fmt.Fprintln(&b, s.run.State, s.run.Outcome, s.run.Undo, s.run.Failure)
	for i := range s.atoms {
		fmt.Fprintln(&b, s.atoms[i].Path, s.atoms[i].State)
	}
	return b.String()
}

// recover lets a new process take the run to its end, and compares its work with the state before.
func (v *victim) recover(want string) (before sight, err error) {
	if before, err = v.look(); err != nil {
		return before, err
	}
	cmd := v.goOn(&before)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != exit.Reverted {
		return before, fmt.Errorf("going on: %w; want exit status %d\n%s", err, exit.Reverted, out)
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

// goOn returns the command that resumes the run, or starts it again if it is unknown.
func (v *victim) goOn(before *sight) *exec.Cmd {
	if before.run.ID == "" || v.program != "" {
		return v.begin("")
	}
	return v.ebb("", "resume", crashRun)
}

// A moment is when a process is killed: some time after the given number of calls.
type moment struct {
	calls int
	after time.Duration
}

// killed resumes the run in a process that is killed at a moment, and checks its work until then.
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

// calls returns the number of calls of programs in the journal.
func (v *victim) calls() int {
	text, _ := os.ReadFile(v.journal) // not there yet
	return bytes.Count(text, []byte("\n"))
}

// repeats returns an error for each step that was called since before although its end was committed then.
func (s *sight) repeats(before *sight) error {
	var errs []error
	done, undone := before.committed(states.TaskSuccess), before.committed(states.TaskReverted)
	for _, line := range s.journal[len(before.journal):] {
		kind, step := journalLine(line)
		if kind != "undo" && slices.Contains(done, step) {
			errs = append(errs, fmt.Errorf("%s was executed again though its success was committed", step))
		}
		if kind == "undo" && slices.Contains(undone, step) {
			errs = append(errs, fmt.Errorf("%s was undone again though that was committed", step))
		}
	}
	return errors.Join(errs...)
}

// journalLine returns a program's record of its call: the kind, the path, and the key, which ends with the incarnation.
func journalLine(line string) (kind, step string) {
	kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	path, key, _ := strings.Cut(rest, " ")
	return kind, path + "@" + key[strings.LastIndexByte(key, '/')+1:]
}

// judgeUndo compares the order of undoing with that of doing, of the last
// incarnation of each step. What was cut off in the middle is undone, too, and was
// never done. What stands side by side in a flow in Go has no order, and the same
// name up to a dash.
func (s *sight) judgeUndo() error {
	undone, done := lastOnes(s.committed(states.TaskReverted)), lastOnes(s.committed(states.TaskSuccess))
	forth, back := within(done, undone), within(undone, done)
	slices.Reverse(forth)
	if diff := cmp.Diff(stages(forth), stages(back)); diff != "" {
		return fmt.Errorf("not undone in reverse order (-reverse +undone):\n%s", diff)
	}
	var called []string
	for _, line := range s.journal {
		if kind, step := journalLine(line); kind == "undo" && !slices.Contains(called, step) {
			called = append(called, step)
		}
	}
	if diff := cmp.Diff(stages(undone), stages(lastOnes(called))); diff != "" {
		return fmt.Errorf("programs were called to undo in another order (-committed +called):\n%s", diff)
	}
	return nil
}

// within returns those steps of a list that are in another.
func within(list, of []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(step string) bool { return !slices.Contains(of, step) })
}

// lastOnes returns the steps of their last incarnations.
func lastOnes(steps []string) []string {
	last := map[string]string{}
	for _, step := range steps {
		path, incarnation, _ := strings.Cut(step, "@")
		last[path] = max(last[path], incarnation) // of one digit
	}
	return slices.DeleteFunc(slices.Clone(steps), func(step string) bool {
		path, incarnation, _ := strings.Cut(step, "@")
		return incarnation != last[path]
	})
}

// stages returns the steps up to a dash.
func stages(steps []string) []string {
	out := make([]string, len(steps))
	for i, step := range steps {
		out[i], _, _ = strings.Cut(step, "-")
	}
	return out
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
	if cmd.ProcessState.ExitCode() != exit.Reverted {
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

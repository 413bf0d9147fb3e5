package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// manners are the ways to run a flow. They must not make a difference.
var manners = map[string][]engine.Option{
	"step":        nil,
	"each":        {engine.WithCheckpoints(engine.Each)},
	"serial":      {engine.WithParallelism(1)},
	"serial each": {engine.WithParallelism(1), engine.WithCheckpoints(engine.Each)},
}

// inEach runs a test in virtual time for each manner.
func inEach(t *testing.T, test func(t *testing.T, opts ...engine.Option)) {
	t.Helper()
	t.Parallel()
	for name, opts := range manners {
		if testing.Short() && strings.HasPrefix(name, "serial") { // they start few goroutines
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { test(t, opts...) })
		})
	}
}

func newEngine(t *testing.T, root flow.Node, opts ...engine.Option) *engine.Engine {
	t.Helper()
	eng, err := engine.New(root, memstore.New(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	return eng
}

// because returns why a run did not succeed.
type because struct {
	Failures   []*atom.Failure
	UndoFailed bool
}

func reverted(t *testing.T, err error) because {
	t.Helper()
	e, ok := errors.AsType[*engine.RevertedError](err)
	if !ok {
		t.Fatalf("got %v; want that it was undone", err)
	}
	return because{Failures: e.Failures}
}

func failed(t *testing.T, err error) because {
	t.Helper()
	e, ok := errors.AsType[*engine.FailedError](err)
	if !ok {
		t.Fatalf("got %v; want that it failed", err)
	}
	return because{e.Failures, e.UndoFailed}
}

// TestCancel cancels a run in the middle of an atom. The atom is cancelled, and undone with the atoms before it.
//
// Guarantee (G4): An operator's command undoes what it names, in reverse order, as `Preview` listed.
// Also: `TestRevertTo`, `TestRetryFrom`, `TestUndoGrowing`, `TestPreviewGrowing`, `TestPreviewPivots`.
func TestCancel(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{do: script{"b": untilCancelled}}
		eng := newEngine(t, flow.Linear("f", s.atom("a"), s.atom("b"), s.atom("c")), opts...)
		go func() {
			time.Sleep(time.Minute)
			if _, err := eng.Command(t.Context(), "r", engine.Cancel("enough")); err == nil {
				t.Error("the one who cancelled was not told that the run was undone")
			}
		}()
		res, err := eng.Run(t.Context(), "r")
		if e := reverted(t, err); e.Failures[0].Code != atom.CodeCancelled || e.Failures[0].Message != "enough" {
			t.Errorf("it was undone because of %v", e.Failures[0])
		}
		wantEnd(t, res, "REVERTED", storage.Cancelled, storage.UndoneAll)
		wantActs(t, s, "a", "b", "undo b", "undo a done")
		wantStates(t, eng.Store(), "r", "a REVERTED", "b REVERTED")
		synctest.Wait()
	})
}

// TestAbandon ends a run in the middle.
func TestAbandon(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{do: script{"b": untilCancelled}}
		eng := newEngine(t, flow.Linear("f", s.atom("a"), s.atom("b"), s.atom("c")), opts...)
		go func() {
			time.Sleep(time.Minute)
			_, _ = eng.Command(t.Context(), "r", engine.Abandon("enough"))
		}()
		res, err := eng.Run(t.Context(), "r")
		failed(t, err)
		wantEnd(t, res, "FAILURE", storage.Cancelled, storage.UndoNone)
		wantActs(t, s, "a", "b")
		wantStates(t, eng.Store(), "r", "a SUCCESS", "b CANCELLED")
		synctest.Wait()
	})
}

// TestCancelAtRest cancels runs that no process drives: one that was suspended, one
// that succeeded, and one that was never run.
//
// Guarantee (G8): `ErrRefused` answers commands that a run does not allow. A refused `skip` or `retry` leaves the undo
// as it was. Not tested: the whole run after other refusals.
// Also: `TestRevertTo`, `TestUndoGrowing`, `TestMendTheRightOne`.
func TestCancelAtRest(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{}
		eng := newEngine(t, flow.Linear("f", s.atom("a"), s.atom("b")), opts...)
		s.do = script{"a": func(context.Context, int) error { eng.Suspend(); return nil }}
		if _, err := eng.Run(t.Context(), "suspended"); !errors.Is(err, engine.ErrSuspended) {
			t.Fatal(err)
		}
		s.do = nil
		next := newEngine(t, flow.Linear("f", s.atom("a"), s.atom("b")), append(opts, engine.WithStore(eng.Store()))...)
		if _, err := next.Run(t.Context(), "done"); err != nil {
			t.Fatal(err)
		}
		if err := eng.Store().Create(t.Context(), storage.Run{ID: "new", Flow: "f", Structure: eng.Plan().Hash, Input: storage.Held{Data: atom.MustEncode(map[string]int{})}}); err != nil {
			t.Fatal(err)
		}
		s.took()

		why := &atom.Failure{Code: atom.CodeCancelled}
		if _, err := next.Command(t.Context(), "done", engine.CancelLive(why)); !errors.Is(err, engine.ErrRefused) {
			t.Errorf("a run that has ended was cancelled: %v", err)
		}
		if err := engine.Send(t.Context(), eng.Store(), "done", engine.CancelLive(why)); err != nil {
			t.Fatal(err)
		}
		if res, err := next.Run(t.Context(), "done"); err != nil || res.Run.Outcome != storage.Succeeded {
			t.Errorf("a run that has ended was cancelled by a message: %v", err)
		}
		wantActs(t, s)

		res, err := next.Command(t.Context(), "suspended", engine.CancelLive(why))
		reverted(t, err)
		wantEnd(t, res, "REVERTED", storage.Cancelled, storage.UndoneAll)
		wantActs(t, s, "undo a done")

		res, err = next.Command(t.Context(), "done", engine.Cancel(""))
		reverted(t, err)
		wantEnd(t, res, "REVERTED", storage.Cancelled, storage.UndoneAll)
		wantActs(t, s, "undo b done", "undo a done")

		res, err = next.Command(t.Context(), "new", engine.Cancel(""))
		failed(t, err)
		wantEnd(t, res, "FAILURE", storage.Cancelled, storage.UndoNone)
		wantActs(t, s)

		if _, err := next.Command(t.Context(), "done", engine.Cancel("")); !errors.Is(err, engine.ErrRefused) {
			t.Errorf("a run that is undone was undone again: %v", err)
		}
	})
}

// TestDeadline runs a flow beyond its deadline.
//
// Guarantee (Waiting and time): A deadline cancels and undoes a run. A revert has its own time limit and attempts.
// Also: `TestRevertTimeout`, `TestRevertAgain`.
func TestDeadline(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{do: script{"b": untilCancelled}}
		eng := newEngine(t, flow.Linear("f", s.atom("a"), s.atom("b")).WithDeadline(time.Hour), opts...)
		begun := time.Now()
		res, err := eng.Run(t.Context(), "r")
		if e := reverted(t, err); e.Failures[0].Code != atom.CodeTimeout {
			t.Errorf("it was undone because of %v", e.Failures[0])
		}
		if took := time.Since(begun); took != time.Hour {
			t.Errorf("it took %v", took)
		}
		wantEnd(t, res, "REVERTED", storage.TimedOut, storage.UndoneAll)
		wantActs(t, s, "a", "b", "undo b", "undo a done")
	})
}

// TestHold suspends one run of an engine and no other.
func TestHold(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{do: script{"a": func(context.Context, int) error { time.Sleep(time.Hour); return nil }}}
		eng := newEngine(t, flow.Linear("f", s.atom("a"), s.atom("b")), opts...)
		go func() {
			time.Sleep(time.Minute)
			if err := engine.Send(t.Context(), eng.Store(), "r", engine.Hold()); err != nil {
				t.Error(err)
			}
		}()
		res, err := eng.Run(t.Context(), "r")
		if !errors.Is(err, engine.ErrSuspended) || !res.Run.Hold {
			t.Fatalf("got %v, hold %t", err, res.Run.Hold)
		}
		wantActs(t, s, "a")
		if _, err := eng.Run(t.Context(), "other"); err != nil {
			t.Error(err)
		}
		wantActs(t, s, "a", "b")
		if _, err := eng.Run(t.Context(), "r"); err != nil {
			t.Error(err)
		}
		wantActs(t, s, "b")
	})
}

// TestCommandsSurvive lets the process die after every commit in turn while it applies a command. The result is the
// same, and the audit has one line.
//
// Guarantee (G5): An operator's command takes effect even if the owner dies at any commit. If it dies earlier, the
// sender drives the run.
// Also: `TestUndoGrowingFurther`, `TestCommandOutlivesOwner`, `cmd/ebb: TestCrashInCancel`.
//
// Guarantee (G5): A command with a named sender has one line in history and audit, in the commit with its first effect.
// So does one that the run's state excludes.
// Also: `TestAudit`, `TestRefusedBeforeSent`, `TestRefusedCommandKeepsDue`; pages of lines `storage/sqlstore:
// TestStore/Audit`, `TestServerStore/Audit`.
func TestCommandsSurvive(t *testing.T) {
	t.Parallel()
	commands := map[string]engine.Command{
		"cancel": engine.Cancel("x"), "revert to": engine.RevertTo("b"), "retry": engine.RetryFrom("b"), "abandon": engine.Abandon("x"),
	}
	for name, o := range commands {
		for _, policy := range []engine.Checkpoints{engine.Step, engine.Each} {
			t.Run(fmt.Sprint(name, " ", policy), func(t *testing.T) {
				t.Parallel()
				want, _ := runCommanded(t, o, policy, 1<<20)
				if lines := strings.Count(want, "alice (console)"); lines != 1 {
					t.Fatalf("the audit has %d lines of alice: %s", lines, want)
				}
				for die := 1; ; die++ {
					got, died := runCommanded(t, o, policy, die)
					if got != want {
						t.Errorf("death after commit %d:\n got %s\nwant %s", die, got, want)
					}
					if !died {
						break
					}
				}
			})
		}
	}
}

// runCommanded runs a flow, sends it a command, and lets the process die so many
// commits later. Another process then resumes the run. runCommanded returns how the
// run ended, and whether the process died before it had applied the command.
func runCommanded(t *testing.T, o engine.Command, policy engine.Checkpoints, die int) (end string, died bool) {
	t.Helper()
	on := func(store backend.Store) *engine.Engine {
		s := &stage{}
		root := flow.Linear("f", s.atom("a"), s.atom("b"), flow.Unordered("u", s.atom("c"), s.atom("d")), s.atom("e"))
		return newEngine(t, root, engine.WithParallelism(1), engine.WithCheckpoints(policy), engine.WithStore(store))
	}
	store := memstore.New()
	if _, err := on(store).Run(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	by := storage.Issuer{Via: storage.ViaConsole, Name: "alice"}
	_, err := on(dies(store, die)).Command(t.Context(), "r", o.By(by))
	if died = errors.Is(err, errDied); died {
		next := store.Join()
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		store = next
		if _, err := on(store).Run(t.Context(), "r"); errors.Is(err, errDied) {
			t.Fatal(err)
		}
	}
	run, err := store.Run(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	atoms, err := store.Atoms(t.Context(), "r", storage.AtomQuery{})
	if err != nil {
		t.Fatal(err)
	}
	end = fmt.Sprint(run.State, run.Outcome, run.Undo, run.Hold)
	for _, a := range atoms {
		end += fmt.Sprint(" ", a.Path, " ", a.State, " ", a.Intention, " @", a.Incarnation)
	}
	return end + audited(t, store), died
}

// TestRetryTimedOut gives a run that timed out its full time again.
func TestRetryTimedOut(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{do: script{"b": func(ctx context.Context, n int) error {
			if n == 1 {
				return untilCancelled(ctx, n)
			}
			return nil
		}}}
		eng := newEngine(t, flow.Linear("f", s.atom("a"), s.atom("b")).WithDeadline(time.Hour), opts...)
		_, err := eng.Run(t.Context(), "r")
		reverted(t, err)
		if _, err := eng.Command(t.Context(), "r", engine.RetryFrom("")); err != nil {
			t.Error(err)
		}
		wantActs(t, s, "a", "b", "undo b", "undo a done", "a", "b")
	})
}

// TestDeadlineOfUndoing: a deadline does not hide why a run is being undone.
func TestDeadlineOfUndoing(t *testing.T) {
	growing := lang(func(ask *grow.Ask) grow.Growth {
		switch ask.Cause.Kind {
		case grow.Begin:
			return grow.Growth{Add: []grow.Spec{work("a")}, Deadline: ask.Now.Add(time.Hour)}
		case grow.Ended:
			return failure(&atom.Failure{Code: "Refused"})
		default:
			return failure(&atom.Failure{Code: "Late"})
		}
	})
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		undoing := func(ctx context.Context, n int) error {
			if n == 1 {
				<-ctx.Done() // the process is stopped
				return ctx.Err()
			}
			time.Sleep(2 * time.Hour)
			return nil
		}
		s := &stage{do: script{"b": alwaysFails}, undo: script{"a": undoing, "undo a": undoing}}
		opts = append(opts, engine.WithTasks(parts{s}))
		planned := flow.Linear("f", s.atom("a"), s.atom("b")).WithDeadline(time.Hour)
		for _, f := range []flow.Node{planned, flow.Growing("g", growing)} {
			eng := newEngine(t, f, opts...)
			running, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			if _, err := eng.Run(running, "r"); !errors.Is(err, engine.ErrStopped) {
				t.Fatal(err)
			}
			time.Sleep(2 * time.Hour)
			res, err := eng.Run(t.Context(), "r")
			if e := reverted(t, err); e.Failures[0].Code != "Refused" {
				t.Errorf("it was undone because of %v", e.Failures[0])
			}
			wantEnd(t, res, "REVERTED", storage.FailedOutcome, storage.UndoneAll)
		}
	})
}

// TestCommandsOfEndedRuns refuses commands that a run that has ended does not
// allow, and the empty command.
func TestCommandsOfEndedRuns(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{}
		eng := newEngine(t, s.atom("a"), opts...)
		if _, err := eng.Run(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		for _, o := range []engine.Command{engine.Abandon(""), engine.RetryRevert(""), engine.Skip("a"), {}} {
			if _, err := eng.Command(t.Context(), "r", o); err == nil {
				t.Errorf("%+v was applied", o)
			}
		}
		if err := engine.Send(t.Context(), eng.Store(), "r", engine.Command{}); err == nil {
			t.Error("an empty command was sent")
		}
		if run, err := eng.Store().Run(t.Context(), "r"); err != nil || run.Outcome != storage.Succeeded || run.Wakeups != 0 {
			t.Errorf("outcome %d, wakeups %d: %v", run.Outcome, run.Wakeups, err)
		}
	})
}

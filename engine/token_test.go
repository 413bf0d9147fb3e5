package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// approval is a flow whose second atom is ended by the holder of its token.
type approval struct {
	stage

	tokens box[string]
	ask    func(ctx context.Context) error // the second atom's work; nil defers
}

func (a *approval) flow(d atom.Deferral) flow.Node {
	ask := atom.Pair("ask",
		func(ctx context.Context, _ struct{}) (string, error) {
			a.act("ask")
			a.tokens.put(atom.Token(ctx))
			if a.ask != nil {
				if err := a.ask(ctx); err != nil {
					return "", err
				}
			}
			return "", atom.ErrDeferred
		},
		func(_ context.Context, _ struct{}, did atom.Outcome[string]) error {
			a.act("undo ask " + did.String())
			return nil
		}, atom.As("answer"), atom.Deferrable(d))
	return flow.Linear("f", a.atom("a"), ask, a.atom("c"))
}

var answer = atom.NewKey[string]("answer")

func (a *approval) end(t *testing.T, store backend.Store, result any, failure *atom.Failure) {
	t.Helper()
	if _, err := store.EndToken(t.Context(), a.tokens.at(-1), storage.TokenEnd{Result: atom.MustEncode(result), Failure: failure}); err != nil {
		t.Error(err)
	}
}

// TestDeferred: the holder of a token ends its atom, while the run is driven, and while it is only rows.
//
// Guarantee (G2): A token is used once. An attempt that restarts after a process stop keeps its token.
// Also: `TestDeferredSurvives`.
//
// Guarantee (Waiting and time): A run that only waits has no owner, no due time and no slot of `Serve`.
// Also: `TestServe`.
//
// Guarantee (Waiting and time): `ErrGone` refuses a token after its run's end or its deadline.
// Also: `TestDeferredTimes`, `TestCancelDeferred`.
func TestDeferred(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		a := &approval{}
		eng := newEngine(t, a.flow(atom.Deferral{}), opts...)
		go func() {
			time.Sleep(time.Hour)
			a.end(t, eng.Store(), "yes", nil)
		}()
		res, err := eng.Run(t.Context(), "driven")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := engine.Get(res, answer); got != "yes" {
			t.Errorf("the answer is %q: %v", got, err)
		}
		wantActs(t, &a.stage, "a", "ask", "c")

		for range 2 {
			if _, err := eng.Run(t.Context(), "rows", engine.Unload()); !errors.Is(err, engine.ErrWaiting) {
				t.Fatal(err)
			}
		}
		wantActs(t, &a.stage, "a", "ask")
		wantStates(t, eng.Store(), "rows", "a SUCCESS", "ask RUNNING")
		if run, err := eng.Store().Run(t.Context(), "rows"); err != nil || run.Owner != "" || !run.Due.IsZero() {
			t.Errorf("owned by %q, due %v: %v", run.Owner, run.Due, err)
		}
		a.end(t, eng.Store(), "no", nil)
		if _, err := eng.Store().EndToken(t.Context(), a.tokens.at(1), storage.TokenEnd{}); !errors.Is(err, storage.ErrGone) {
			t.Errorf("the token was used twice: %v", err)
		}
		res, err = eng.Run(t.Context(), "rows", engine.Unload())
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := engine.Get(res, answer); got != "no" {
			t.Errorf("the answer is %q", got)
		}
		wantActs(t, &a.stage, "c")
	})
}

// TestDeferredFails fails an attempt by its token. The next attempt has another token.
func TestDeferredFails(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		a := &approval{}
		eng := newEngine(t, a.flow(atom.Deferral{}), opts...)
		go func() {
			time.Sleep(time.Hour)
			a.end(t, eng.Store(), nil, &atom.Failure{Code: "Refused", Message: "no"})
		}()
		res, err := eng.Run(t.Context(), "r")
		if e := reverted(t, err); e.Failures[0].Code != "Refused" {
			t.Errorf("it failed with %v", e.Failures[0])
		}
		wantEnd(t, res, "REVERTED", storage.FailedOutcome, storage.UndoneAll)
		wantActs(t, &a.stage, "a", "ask", "undo ask failed", "undo a done")
	})
}

// TestDeferredTimes lets the time limits of a token pass, with and without heartbeats.
func TestDeferredTimes(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		for code, d := range map[string]atom.Deferral{
			atom.CodeTimeout:       {Deadline: time.Hour, Heartbeat: 50 * time.Minute},
			atom.CodeHeartbeatLost: {Deadline: 24 * time.Hour, Heartbeat: 30 * time.Minute},
		} {
			a := &approval{}
			eng := newEngine(t, a.flow(d), opts...)
			begun := time.Now()
			go func() {
				time.Sleep(20 * time.Minute)
				if _, err := eng.Store().Beat(t.Context(), a.tokens.at(0)); err != nil {
					t.Error(err)
				}
			}()
			_, err := eng.Run(t.Context(), "r")
			if e := reverted(t, err); e.Failures[0].Code != code {
				t.Errorf("it failed with %v; want %s", e.Failures[0], code)
			}
			want := time.Hour
			if code == atom.CodeHeartbeatLost {
				want = 50 * time.Minute
			}
			if took := time.Since(begun); took != want {
				t.Errorf("%s after %v; want %v", code, took, want)
			}
			wantActs(t, &a.stage, "a", "ask", "undo ask unknown", "undo a done")
			if _, err := eng.Store().EndToken(t.Context(), a.tokens.at(0), storage.TokenEnd{}); !errors.Is(err, storage.ErrGone) {
				t.Errorf("the token still holds: %v", err)
			}
		}
	})
}

// TestDeferredDuration: an attempt that another party ends lasts until then, not until its call has returned.
func TestDeferredDuration(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		a := &approval{ask: func(context.Context) error { time.Sleep(time.Second); return nil }}
		eng := newEngine(t, a.flow(atom.Deferral{}), opts...)
		go func() {
			time.Sleep(time.Hour)
			a.end(t, eng.Store(), "yes", nil)
		}()
		if _, err := eng.Run(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		ask, err := eng.Store().Atom(t.Context(), "r", "ask")
		if took := ask.EndedAt.Sub(ask.StartedAt); err != nil || took != time.Hour {
			t.Errorf("it took %v (%v)", took, err)
		}
		for e, err := range storage.EachEntry(t.Context(), eng.Store(), "r", 0) {
			if err != nil || e.Path == "ask" && !e.Ended.IsZero() {
				t.Errorf("the history says that it ended at %v (%v)", e.Ended, err)
			}
		}
	})
}

// TestDeferredEarly ends an attempt before its own call has ended.
func TestDeferredEarly(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		for name, late := range map[string]error{"defers": nil, "fails": errRefused} {
			a := &approval{}
			eng := newEngine(t, a.flow(atom.Deferral{}), opts...)
			a.ask = func(context.Context) error {
				a.end(t, eng.Store(), "yes", nil) //nolint:contextcheck // another party ends it
				time.Sleep(time.Minute)
				return late
			}
			res, err := eng.Run(t.Context(), "r")
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got, _ := engine.Get(res, answer); got != "yes" {
				t.Errorf("%s: the answer is %q", name, got)
			}
			wantActs(t, &a.stage, "a", "ask", "c")
		}
	})
}

// TestDeferredSurvives: an attempt whose process dies before it was deferred is repeated under the same token.
func TestDeferredSurvives(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		a := &approval{}
		a.ask = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		eng := newEngine(t, a.flow(atom.Deferral{Deadline: 3 * time.Hour}), opts...)
		begun := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if _, err := eng.Run(ctx, "r"); !errors.Is(err, engine.ErrStopped) {
			t.Fatal(err)
		}
		a.ask = nil
		_, err := eng.Run(t.Context(), "r")
		reverted(t, err)
		wantActs(t, &a.stage, "a", "ask", "ask", "undo ask unknown", "undo a done")
		if a.tokens.at(0) != a.tokens.at(1) || a.tokens.at(0) == "" {
			t.Errorf("tokens %q and %q", a.tokens.at(0), a.tokens.at(1))
		}
		if took := time.Since(begun); took != 3*time.Hour {
			t.Errorf("the deadline passed after %v", took)
		}
	})
}

// TestCancelDeferred: a cancelled run does not wait for the holder of the token.
func TestCancelDeferred(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		a := &approval{}
		eng := newEngine(t, a.flow(atom.Deferral{}), opts...)
		if _, err := eng.Run(t.Context(), "r", engine.Unload()); !errors.Is(err, engine.ErrWaiting) {
			t.Fatal(err)
		}
		res, err := eng.Command(t.Context(), "r", engine.Cancel(""))
		reverted(t, err)
		wantEnd(t, res, "REVERTED", storage.Cancelled, storage.UndoneAll)
		wantActs(t, &a.stage, "a", "ask", "undo ask unknown", "undo a done")
		if _, err := eng.Store().EndToken(t.Context(), a.tokens.at(0), storage.TokenEnd{}); !errors.Is(err, storage.ErrGone) {
			t.Errorf("the token still holds: %v", err)
		}
	})
}

// TestServe drives several runs, which wait as rows in between.
func TestServe(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{do: script{"b": failsOnce}}
		wait := atom.Awaits[string]("wait", "go", atom.Deferral{Deadline: 24 * time.Hour})
		root := flow.Linear("f", s.atom("a"), wait, s.atom("c", atom.Attempts(2, atom.Constant(time.Hour))))
		s.do = script{"c": func(ctx context.Context, _ int) error {
			if atom.Attempt(ctx) == 1 {
				return errRefused
			}
			return nil
		}}
		eng := newEngine(t, root, opts...)
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- eng.Serve(ctx, engine.WithSlots(3)) }()
		const runs = 20
		for i := range runs {
			if err := eng.Start(t.Context(), fmt.Sprint("r", i)); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		for i := range runs {
			if run, err := eng.Store().Run(t.Context(), fmt.Sprint("r", i)); err != nil || run.Owner != "" || run.State.Ended() {
				t.Fatalf("%s: %v, owned by %q: %v", run.ID, run.State, run.Owner, err)
			}
			if err := eng.Store().Send(t.Context(), storage.Message{Run: fmt.Sprint("r", i), Kind: "signal", Name: "go", Body: atom.Null}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
		for i := range runs {
			if run, err := eng.Store().Run(t.Context(), fmt.Sprint("r", i)); err != nil || run.Outcome != storage.Succeeded {
				t.Errorf("%s is %v: %v", run.ID, run.State, err)
			}
		}
	})
}

// TestServeGoesOn: Serve continues beside runs that it cannot drive.
func TestServeGoesOn(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{}
		old := newEngine(t, flow.Linear("f", s.atom("x")), opts...)
		eng := newEngine(t, flow.Linear("f", s.atom("a")), append(opts, engine.WithStore(old.Store()))...)
		for i := range 5 {
			if err := old.Start(t.Context(), fmt.Sprint("old", i)); err != nil {
				t.Fatal(err)
			}
		}
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- eng.Serve(ctx, engine.WithSlots(2)) }()
		time.Sleep(time.Minute)
		if err := eng.Start(t.Context(), "new"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if run, err := eng.Store().Run(t.Context(), "new"); err != nil || run.Outcome != storage.Succeeded {
			t.Errorf("the run is %v: %v", run.State, err)
		}
		wantActs(t, s, "a")
	})
}

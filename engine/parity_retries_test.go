package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// tried returns a flow of a and b with a retry. b fails at its first two calls.
func (s *stage) tried(retry *atom.Atom) *flow.LinearFlow {
	s.do = script{"b": func(_ context.Context, n int) error {
		if n <= 2 {
			return errRefused
		}
		return nil
	}}
	return flow.Linear("tried", s.atom("a"), s.atom("b")).WithRetry(retry)
}

// alternately is a user's own retry. It retries while the last failure has another code than the one before.
type alternately struct{}

func (alternately) Next(h atom.History, _ atom.Values) (atom.Value, error) {
	return atom.Encode(len(h.Tries))
}

func (alternately) OnFailure(h atom.History, _ atom.Values) (atom.Decision, error) {
	if n := len(h.Tries); n > 1 && h.Tries[n-1].Failures[0].Code == h.Tries[n-2].Failures[0].Code {
		return atom.Decision{Verdict: atom.VerdictRevert}, nil
	}
	return atom.Decision{Verdict: atom.VerdictRetry}, nil
}

// retries decide what follows a failure in their flow.
var retries = shown{
	"times": func(t *testing.T, s *stage) {
		play(t, s.tried(atom.Times(3, atom.Backoff{})))
		wantActs(t, s, "a", "b", "undo b failed", "undo a done", "a", "b", "undo b failed", "undo a done", "a", "b")
	},
	"always revert": func(t *testing.T, s *stage) {
		undone(t, flow.Linear("f", s.atom("c"), s.tried(atom.AlwaysRevert())))
		wantActs(t, s, "c", "a", "b", "undo b failed", "undo a done", "undo c done")
	},
	"always revert all": func(t *testing.T, s *stage) { // also past an outer retry that would try again
		inner := s.tried(atom.AlwaysRevertAll())
		undone(t, flow.Linear("f", inner).WithRetry(atom.Times(5, atom.Backoff{})))
		wantActs(t, s, "a", "b", "undo b failed", "undo a done")
	},
	"for each": func(t *testing.T, s *stage) {
		s.do = script{"b": failsOnce}
		root := flow.Linear("f", s.show("a", atom.Requires("host")), s.atom("b")).WithRetry(atom.ForEach("one", "two", "three").As("host"))
		play(t, root)
		wantActs(t, s, `a host="one"`, "b", "undo b failed", `a host="two"`, "b")
	},
	"for each of a symbol": func(t *testing.T, s *stage) {
		s.do = script{"b": failsOnce}
		root := flow.Linear("f", s.show("a", atom.Requires("host")), s.atom("b")).WithRetry(atom.ForEachOf("hosts").As("host"))
		play(t, root, with("hosts", []string{"one", "two"}))
		wantActs(t, s, `a host="one"`, "b", "undo b failed", `a host="two"`, "b")
	},
	"then revert all": func(t *testing.T, s *stage) {
		for _, c := range []struct {
			retry *atom.Atom
			opts  []engine.Option
		}{
			{atom.TimesThenAll(1, atom.Backoff{}), nil},
			{atom.ForEachThenAll(1), nil},
			{atom.ForEachOfThenAll("one"), []engine.Option{with("one", []int{1})}},
		} {
			undone(t, flow.Linear("f", s.tried(c.retry)).WithRetry(atom.Times(5, atom.Backoff{})), c.opts...)
			wantActs(t, s, "a", "b", "undo b failed", "undo a done")
			s.calls = nil
		}
	},
	"custom retry": func(t *testing.T, s *stage) {
		codes := []string{"Busy", "Lost", "Lost"}
		s.do = script{"a": func(_ context.Context, n int) error { return atom.Errorf(codes[n-1], "no") }}
		undone(t, flow.Linear("f", s.atom("a")).WithRetry(atom.Retry("mine", alternately{})))
		wantActs(t, s, "a", "undo a failed", "a", "undo a failed", "a", "undo a failed")
	},
	"history": func(t *testing.T, s *stage) { // is stored unchanged, and survives the process
		store := memstore.New()
		eng := newEngine(t, s.tried(atom.Times(3, atom.Backoff{})), engine.WithStore(store))
		if _, err := eng.Run(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		retry, err := store.Atom(t.Context(), "r", "tried_retry")
		if err != nil {
			t.Fatal(err)
		}
		for i, try := range retry.Tries.Tries {
			if failed := len(try.Failures) == 1 && try.Failures[0].Atom == "b"; try.Value.String() != fmt.Sprint(i+1) || failed != (i < 2) {
				t.Errorf("try %d is %s, failed %v", i, try.Value, try.Failures)
			}
		}
	},
	"nested retries": func(t *testing.T, s *stage) { // if the inner one has no try left, the outer one is asked
		inner := s.tried(atom.Times(2, atom.Backoff{}))
		play(t, flow.Linear("f", s.atom("c"), inner).WithRetry(atom.Times(2, atom.Backoff{})))
		wantActs(t, s, "c", "a", "b", "undo b failed", "undo a done", "a", "b", "undo b failed", "undo a done", "undo c done", "c", "a", "b")
	},
	"all is undone unless said otherwise": func(t *testing.T, s *stage) { // TaskFlow's defer_reverts, on by default
		undone(t, flow.Linear("f", s.atom("c"), s.tried(atom.Times(1, atom.Backoff{}))))
		wantActs(t, s, "c", "a", "b", "undo b failed", "undo a done", "undo c done")
		s.calls = nil
		undone(t, flow.Linear("f", s.atom("c"), s.tried(atom.Times(1, atom.Backoff{}))).WithFailurePolicy(flow.UndoFlow))
		wantActs(t, s, "c", "a", "b", "undo b failed", "undo a done")
	},
	"never resolve": func(t *testing.T, s *stage) {
		_, err := newEngine(t, s.tried(atom.Times(3, atom.Backoff{})).WithFailurePolicy(flow.LeaveFailed)).Run(t.Context(), "r")
		failed(t, err)
		wantActs(t, s, "a", "b")
	},
	"wait between tries": func(t *testing.T, s *stage) {
		begun := time.Now()
		play(t, s.tried(atom.Times(3, atom.Exponential(time.Minute, time.Hour))))
		if took := time.Since(begun); took != 3*time.Minute {
			t.Errorf("waited %v; want one minute, then two", took)
		}
	},
	"attempts of one task": func(t *testing.T, s *stage) { // outer retries do not hear of it
		s.do = script{"b": failsOnce}
		play(t, flow.Linear("f", s.atom("a"), s.atom("b", atom.Attempts(2, atom.Constant(time.Second)))))
		wantActs(t, s, "a", "b", "b")
	},
}

// badEnds are the ways in which a run ends without success.
var badEnds = shown{
	"timeout of a task": func(t *testing.T, s *stage) {
		s.do = script{"a": untilCancelled}
		if f := undone(t, s.atom("a", atom.Timeout(time.Minute))); f[0].Code != atom.CodeTimeout {
			t.Errorf("it failed with %v", f)
		}
		wantActs(t, s, "a", "undo a") // it is unknown whether it had its effect
	},
	"deadline of a run": func(t *testing.T, s *stage) {
		s.do = script{"b": untilCancelled}
		res, err := newEngine(t, flow.Linear("f", s.atom("a"), s.atom("b")).WithDeadline(time.Hour)).Run(t.Context(), "r")
		reverted(t, err)
		wantEnd(t, res, "REVERTED", storage.TimedOut, storage.UndoneAll)
	},
	"cancel": func(t *testing.T, s *stage) { // executing atoms are cancelled, then all is undone: in one call
		s.do = script{"b": untilCancelled}
		eng := newEngine(t, flow.Linear("f", s.atom("a"), s.atom("b")))
		time.AfterFunc(time.Hour, func() {
			if err := engine.Send(t.Context(), eng.Store(), "r", engine.Cancel("enough")); err != nil {
				t.Error(err)
			}
		})
		res, err := eng.Run(t.Context(), "r")
		reverted(t, err)
		wantEnd(t, res, "REVERTED", storage.Cancelled, storage.UndoneAll)
		wantActs(t, s, "a", "b", "undo b", "undo a done")
	},
	"undone in part": func(t *testing.T, s *stage) {
		s.do = script{"c": alwaysFails}
		res, err := newEngine(t, flow.Linear("f", s.atom("a", atom.Pivot()), s.atom("b"), s.atom("c"))).Run(t.Context(), "r")
		failed(t, err)
		wantEnd(t, res, "FAILURE", storage.FailedOutcome, storage.UndonePart)
		wantActs(t, s, "a", "b", "c", "undo c failed", "undo b done")
	},
	"revert that fails": func(t *testing.T, s *stage) { // is retried, then waits for a person
		s.do, s.undo = script{"b": alwaysFails}, script{"a": alwaysFails}
		a := s.atom("a", atom.RevertAttempts(2, atom.Constant(time.Second)), atom.IfRevertFails(atom.Park))
		eng := newEngine(t, flow.Linear("f", a, s.atom("b")))
		if _, err := eng.Run(t.Context(), "r"); !errors.Is(err, engine.ErrSuspended) {
			t.Fatal(err)
		}
		wantActs(t, s, "a", "b", "undo b failed", "undo a done", "undo a done")
		_, err := eng.Command(t.Context(), "r", engine.Skip("a"))
		reverted(t, err)
	},
	"reverts see their result": func(t *testing.T, s *stage) {
		s.do = script{"b": alwaysFails}
		a := atom.Pair("a", func(context.Context, struct{}) (string, error) { return "volume-7", nil },
			func(_ context.Context, _ struct{}, did atom.Outcome[string]) error {
				name, _ := did.Done()
				s.act("undo " + name)
				return nil
			})
		undone(t, flow.Linear("f", a, s.atom("b")))
		wantActs(t, s, "b", "undo b failed", "undo volume-7")
	},
	"reverts see all failures": func(t *testing.T, s *stage) {
		s.do = script{"b": alwaysFails, "c": alwaysFails}
		a := atom.Pair("a", func(context.Context, struct{}) (string, error) { return "", nil },
			func(_ context.Context, _ struct{}, did atom.Outcome[string]) error {
				for _, f := range did.Failures() {
					s.act("because " + f.Atom)
				}
				return nil
			})
		undone(t, flow.Linear("f", a, flow.Unordered("g", s.atom("b"), s.atom("c"))))
		wantActs(t, s, "b", "c", "undo b failed", "undo c failed", "because b", "because c")
	},
	"failure": func(t *testing.T, _ *stage) { // code, cause, attempt, stack of a panic; the same after the store
		store := memstore.New()
		bang := atom.Func("a", func(context.Context, struct{}) (struct{}, error) { panic("bang") })
		_, err := newEngine(t, bang, engine.WithStore(store)).Run(t.Context(), "r")
		live := failed(t, err).Failures[0]
		kept, err := store.Atom(t.Context(), "r", "a")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(live, kept.Failure); diff != "" {
			t.Errorf("kept otherwise (-live +kept):\n%s", diff)
		}
		if live.Code != atom.CodePanic || live.Stack == "" || live.Atom != "a" || live.Attempt != 1 {
			t.Errorf("it failed with %+v", live)
		}
	},
	"several failures": func(t *testing.T, s *stage) {
		s.do = script{"a": alwaysFails, "b": alwaysFails}
		_, err := newEngine(t, flow.Unordered("f", s.atom("a"), s.atom("b")), inOrder).Run(t.Context(), "r")
		if e := reverted(t, err); len(e.Failures) != 2 || !errors.As(err, new(*atom.Failure)) {
			t.Errorf("got %v", err)
		}
	},
	"idempotency key": func(t *testing.T, s *stage) { // the same for every attempt
		a := atom.Func("a", func(ctx context.Context, _ struct{}) (struct{}, error) {
			s.act(fmt.Sprintf("%s attempt %d", atom.IdempotencyKey(ctx), atom.Attempt(ctx)))
			if atom.Attempt(ctx) == 1 {
				return struct{}{}, errRefused
			}
			return struct{}{}, nil
		}, atom.Attempts(2, atom.Backoff{}))
		play(t, a)
		wantActs(t, s, "r/a/0 attempt 1", "r/a/0 attempt 2")
	},
}

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

// reports is a language with one task, which its token ends, and which is retried as often as it fails. The node's note
// keeps the task's result.
func reports(tokens *box[string]) lang {
	return func(ask *grow.Ask) grow.Growth {
		token := func() string {
			t := ask.Token()
			tokens.put(t)
			return t
		}
		switch c := &ask.Cause; c.Kind {
		case grow.Begin:
			a := work("a")
			a.Token, a.Report, a.Note = token(), true, atom.MustEncode("")
			return add(a)
		case grow.Called:
			var note, said string
			_, _ = c.Note.Decode(&note), c.Result.Decode(&said)
			return grow.Growth{Note: atom.MustEncode(fmt.Sprintf("%s %d:%s", note, c.Attempt, said))}
		case grow.Failed:
			return grow.Growth{Again: &grow.Again{Token: token()}}
		default:
			return done([]atom.Value{c.Note, c.Result})
		}
	}
}

// says is a task that returns a fixed text.
type says string

func (s says) Task(string) (atom.Body, error) { return s, nil }
func (says) Reverts() bool                    { return false }
func (s says) Execute(context.Context, atom.Values) (atom.Value, error) {
	return atom.Encode(string(s))
}

func (says) Revert(context.Context, atom.Values, atom.Outcome[atom.Value]) (atom.Value, error) {
	return atom.Null, nil
}

// livesUntil drives a run in processes that die at ever later commits, until one survives. It calls a function each
// time the run waits.
func livesUntil(t *testing.T, build func(backend.Store) *engine.Engine, waits func(backend.Store)) *engine.Result {
	t.Helper()
	records := memstore.New()
	for n := 1; n < 1000; n++ {
		store := death{commit: (n + 1) / 2, after: n%2 == 0}.of(records.Join())
		res, err := build(store).Run(t.Context(), "r", engine.Unload())
		if errors.Is(err, engine.ErrWaiting) {
			waits(store)
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		if err == nil || res != nil {
			return res
		}
		if !errors.Is(err, errDied) && !errors.Is(err, engine.ErrWaiting) {
			t.Fatal(err)
		}
	}
	t.Fatal("it does not end")
	return nil
}

// TestCalled: if a token ends a task, the language learns what the task returned, once for each attempt, at any point
// of death.
func TestCalled(t *testing.T) {
	t.Parallel()
	for _, policy := range []engine.Checkpoints{engine.Step, engine.Each} {
		synctest.Test(t, func(t *testing.T) {
			var tokens box[string]
			build := func(s backend.Store) *engine.Engine {
				return newEngine(t, flow.Growing("f", reports(&tokens)),
					engine.WithStore(s), engine.WithTasks(says("hello")), engine.WithCheckpoints(policy))
			}
			ended := 0
			res := livesUntil(t, build, func(s backend.Store) {
				if ended++; ended > 2 {
					return
				}
				var failure *atom.Failure
				if ended == 1 {
					failure = &atom.Failure{Code: "Refused"}
				}
				a, err := s.Atom(t.Context(), "r", "a")
				if err != nil {
					t.Fatal(err)
				}
				var spec grow.Spec
				if err := a.Spec.Decode(&spec); err != nil {
					t.Fatal(err)
				}
				if _, err := s.EndToken(t.Context(), spec.Token, storage.TokenEnd{Result: atom.MustEncode("end"), Failure: failure}); err != nil {
					t.Errorf("the token that is stored with the node: %v", err)
				}
			})
			got := res.Output().String()
			if strings.Count(got, ":hello") != 2 || !strings.HasSuffix(got, `","end"]`) {
				t.Errorf("ended with %s", got)
			}
		})
	}
}

// TestCalledEarly: if the token was used before the task returned, the language learns of the call first.
func TestCalledEarly(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		var tokens box[string]
		slow := slowly{after: time.Minute, says: "hello"}
		eng := newEngine(t, flow.Growing("f", reports(&tokens)), append(opts, engine.WithTasks(slow))...)
		go func() {
			time.Sleep(time.Second)
			if _, err := eng.Store().EndToken(t.Context(), tokens.at(0), storage.TokenEnd{Result: atom.MustEncode("end")}); err != nil {
				t.Error(err)
			}
		}()
		res, err := eng.Run(t.Context(), "r")
		if err != nil || res.Output().String() != `[" 1:hello","end"]` {
			t.Errorf("ended with %v, %v", res, err)
		}
	})
}

// slowly is a task that takes some time.
type slowly struct {
	says

	after time.Duration
}

func (s slowly) Task(string) (atom.Body, error) { return s, nil }

func (s slowly) Execute(ctx context.Context, in atom.Values) (atom.Value, error) {
	time.Sleep(s.after)
	return s.says.Execute(ctx, in)
}

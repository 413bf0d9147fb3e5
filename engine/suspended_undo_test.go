package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestAcknowledgedEndOfInterruptedCall ends an attempt with its token while its call runs. The process stops, and the run
// is cancelled before or after that end: the undo is told the result.
//
// Guarantee (Waiting and time): An end that was accepted while the call of the attempt ran counts, also if the process of
// the call died.
func TestAcknowledgedEndOfInterruptedCall(t *testing.T) {
	t.Parallel()
	for _, first := range []bool{true, false} {
		t.Run(map[bool]string{true: "before", false: "after"}[first], func(t *testing.T) {
			inEach(t, func(t *testing.T, opts ...engine.Option) {
				var token, told string
				eng := newEngine(t, flow.Linear("f", atom.Untyped("d", func(ctx context.Context, _ atom.Values) (any, error) {
					token = atom.Token(ctx)
					<-ctx.Done()
					return nil, ctx.Err()
				}, func(_ context.Context, _ atom.Values, did atom.Outcome[atom.Value]) (any, error) {
					told = did.String()
					return "", nil
				}, atom.Deferrable(atom.Deferral{}))), opts...)
				running, stop := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { _, err := eng.Run(running, "r"); ended <- err }()
				synctest.Wait()
				stop()
				t.Log(<-ended)
				cancel := func() {
					if err := engine.Send(t.Context(), eng.Store(), "r", engine.Cancel("enough")); err != nil {
						t.Fatal(err)
					}
				}
				if first {
					cancel()
				}
				if _, err := eng.Store().EndToken(t.Context(), token, storage.TokenEnd{Result: atom.MustEncode("x")}); err != nil {
					t.Fatal(err)
				}
				if !first {
					cancel()
				}
				if _, err := eng.Run(t.Context(), "r"); told != "done" {
					t.Errorf("the undo was told %q, %v; want that it is done", told, err)
				}
			})
		})
	}
}

// TestAbandonedInterruptedCall is TestAcknowledgedEndOfInterruptedCall without an undo: the attempt has ended as the
// other party was told.
func TestAbandonedInterruptedCall(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		var token string
		eng := newEngine(t, flow.Linear("f", atom.Untyped("d", func(ctx context.Context, _ atom.Values) (any, error) {
			token = atom.Token(ctx)
			<-ctx.Done()
			return nil, ctx.Err()
		}, nil, atom.Deferrable(atom.Deferral{}))), opts...)
		running, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { _, err := eng.Run(running, "r"); ended <- err }()
		synctest.Wait()
		stop()
		t.Log(<-ended)
		_, err := eng.Store().EndToken(t.Context(), token, storage.TokenEnd{Result: atom.MustEncode("x")})
		if err == nil {
			_, err = eng.Command(t.Context(), "r", engine.Abandon("enough"))
		}
		t.Log(err)
		run, err := eng.Store().Run(t.Context(), "r")
		if err != nil || run.Outcome != storage.Cancelled || run.State != states.FlowFailure {
			t.Errorf("the run is %v, %v, %v", run.State, run.Outcome, err)
		}
		if d, err := eng.Store().Atom(t.Context(), "r", "d"); err != nil || d.State != states.TaskSuccess {
			t.Errorf("the atom is %v, %v; want that it succeeded", d.State, err)
		}
	})
}

// TestLanguageHearsEarlyEnd ends an attempt with its token while its call runs. At once the run is cancelled or abandoned,
// its deadline passes, or a sibling fails, whose call fails or whose token is failed: the language hears of the end before it
// hears of the stop.
func TestLanguageHearsEarlyEnd(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"cancel", "abandon", "deadline", "call", "token"} {
		t.Run(how, func(t *testing.T) {
			inEach(t, func(t *testing.T, opts ...engine.Option) {
				store := memstore.New()
				var heard []string
				deferred := work("d")
				deferred.Token = "token of d"
				beside := grow.Spec{Name: "beside", Kind: grow.Work, Token: "token of beside"}
				if how == "call" {
					beside = work("beside")
				}
				root := flow.Growing("f", lang(func(ask *grow.Ask) grow.Growth {
					switch ask.Cause.Kind {
					case grow.Begin:
						g := add(deferred, beside)
						if how == "deadline" {
							g.Deadline = ask.Now.Add(time.Hour)
						}
						return g
					case grow.Ended:
						heard = append(heard, ask.Cause.Name+string(ask.Cause.Result.JSON()))
						return grow.Growth{}
					default:
						heard = append(heard, fmt.Sprint("end ", ask.Cause.Kind))
						return failure(ask.Cause.Failure)
					}
				}))
				eng := newEngine(t, root, append(opts, engine.WithStore(store), engine.WithTasks(parts{&stage{do: script{
					"d": func(ctx context.Context, _ int) error {
						select {
						case <-ctx.Done():
						case <-time.After(2 * time.Hour):
						}
						return ctx.Err()
					},
					"beside": func(context.Context, int) error { time.Sleep(time.Hour); return errRefused },
				}}}))...)
				ended := make(chan error, 1)
				go func() { _, err := eng.Run(t.Context(), "r"); ended <- err }()
				synctest.Wait()
				time.Sleep(time.Hour - time.Second)
				end := func(token string, end storage.TokenEnd) {
					if _, err := store.EndToken(t.Context(), token, end); err != nil {
						t.Error(err)
					}
				}
				end("token of d", storage.TokenEnd{Result: atom.MustEncode(1)})
				var err error
				switch how {
				case "cancel":
					err = engine.Send(t.Context(), store, "r", engine.Cancel("enough"))
				case "abandon":
					err = engine.Send(t.Context(), store, "r", engine.Abandon("enough"))
				case "token":
					end("token of beside", storage.TokenEnd{Failure: &atom.Failure{Code: "No"}})
				}
				if t.Log(<-ended); err != nil {
					t.Error(err)
				}
				if len(heard) != 2 || heard[0] != "d1" {
					t.Errorf("the language heard of %q; want the end of d first", heard)
				}
			})
		})
	}
}

// TestLanguageHearsEndBehindStop cancels a run that no process drives, and ends its work behind that command: the
// language hears of the end before it hears of the stop.
func TestLanguageHearsEndBehindStop(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		store := memstore.New()
		var heard []string
		root := flow.Growing("f", lang(func(ask *grow.Ask) grow.Growth {
			switch ask.Cause.Kind {
			case grow.Begin:
				return add(grow.Spec{Name: "w", Kind: grow.Work, Token: "token of w"},
					grow.Spec{Name: "beside", Kind: grow.Work, Token: "token of beside"})
			case grow.Ended:
				heard = append(heard, ask.Cause.Name+string(ask.Cause.Result.JSON()))
				return grow.Growth{}
			default:
				heard = append(heard, fmt.Sprint("end ", ask.Cause.Kind))
				return failure(ask.Cause.Failure)
			}
		}))
		eng := newEngine(t, root, append(opts, engine.WithStore(store))...)
		if _, err := eng.Run(t.Context(), "r", engine.Unload()); !errors.Is(err, engine.ErrWaiting) {
			t.Fatal(err)
		}
		if err := engine.Send(t.Context(), store, "r", engine.Cancel("enough")); err != nil {
			t.Fatal(err)
		}
		if _, err := store.EndToken(t.Context(), "token of w", storage.TokenEnd{Result: atom.MustEncode(1)}); err != nil {
			t.Fatal(err)
		}
		_, err := eng.Run(t.Context(), "r")
		if len(heard) != 2 || heard[0] != "w1" {
			t.Errorf("the language heard of %q, and the run ended with %v; want the end of w first", heard, err)
		}
	})
}

// TestEndBehindStopDoesNotEndRun cancels a run that no process drives, as AWS's StopExecution does, and then ends its last
// attempt. The result counts, and the run is undone with it: whoever cancelled it was told that it had not ended.
//
// Guarantee (G9): A stop that was accepted before the end of the last attempt wins. The end counts, and the run is undone
// with its result.
// Also: `engine: TestStopWaitsForCall`.
func TestEndBehindStopDoesNotEndRun(t *testing.T) {
	t.Parallel()
	const token = "token of w"
	flows := map[string]func(heard *[]string) flow.Node{
		"planned": func(heard *[]string) flow.Node {
			return flow.Linear("f", atom.Pair("w",
				func(context.Context, struct{}) (int, error) { return 0, atom.ErrDeferred },
				func(_ context.Context, _ struct{}, did atom.Outcome[int]) error {
					n, _ := did.Done()
					*heard = append(*heard, fmt.Sprint("undo of ", n))
					return nil
				}, atom.Deferrable(atom.Deferral{})))
		},
		"growing": func(heard *[]string) flow.Node {
			return flow.Growing("f", lang(func(ask *grow.Ask) grow.Growth {
				switch c := &ask.Cause; c.Kind {
				case grow.Begin:
					return add(grow.Spec{Name: "w", Kind: grow.Work, Token: token, Undo: &grow.Undo{Task: "undo:w"}})
				case grow.Stopped:
					past, _ := ask.Recall(c.Accepted[0])
					*heard = append(*heard, "stopped after "+string(past.Result.JSON()))
					return failure(c.Failure)
				default:
					return done(0)
				}
			}))
		},
	}
	for name, build := range flows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var heard []string
				store := memstore.New()
				eng := newEngine(t, build(&heard), engine.WithStore(store), engine.WithTasks(parts{&stage{}}))
				if _, err := eng.Run(t.Context(), "r", engine.Unload()); !errors.Is(err, engine.ErrWaiting) {
					t.Fatal(err)
				}
				open, err := store.RunTokens(t.Context(), "r")
				if err != nil || len(open) != 1 {
					t.Fatal(open, err)
				}
				err = engine.Send(t.Context(), store, "r", engine.CancelLive(&atom.Failure{Code: "No", Message: "enough"}))
				if err != nil {
					t.Fatal(err)
				}
				if _, err := store.EndToken(t.Context(), open[0].ID, storage.TokenEnd{Result: atom.MustEncode(1)}); err != nil {
					t.Fatal(err)
				}
				_, err = eng.Run(t.Context(), "r")
				if _, undone := errors.AsType[*engine.RevertedError](err); !undone || len(heard) != 1 || !strings.HasSuffix(heard[0], "1") {
					t.Errorf("heard %q, and the run ended with %v; want it undone, with the result", heard, err)
				}
			})
		})
	}
}

// TestSuspendedWhileUndone suspends a run while a task is undone: after its deadline, and after a command to retry it,
// also one that takes the place of a retry. The run is suspended, its undo has not failed, and it goes on later.
func TestSuspendedWhileUndone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		root  func(f *flow.LinearFlow) *flow.LinearFlow
		again bool
		want  states.Flow
	}{
		"deadline": {func(f *flow.LinearFlow) *flow.LinearFlow { return f.WithDeadline(time.Minute) }, false, states.FlowReverted},
		"command":  {func(f *flow.LinearFlow) *flow.LinearFlow { return f }, true, states.FlowSuccess},
		"retry": {func(f *flow.LinearFlow) *flow.LinearFlow {
			return f.WithRetry(atom.Times(1, atom.Constant(0)))
		}, true, states.FlowSuccess},
		"retries": {func(f *flow.LinearFlow) *flow.LinearFlow {
			return f.WithRetry(atom.Times(2, atom.Constant(0)))
		}, true, states.FlowSuccess},
	} {
		t.Run(name, func(t *testing.T) {
			inEach(t, func(t *testing.T, opts ...engine.Option) {
				undoing := make(chan struct{})
				wait := func(context.Context, int) error { <-undoing; return nil }
				s := &stage{do: script{"b": func(ctx context.Context, n int) error {
					if c.again {
						return failsOnce(ctx, n)
					}
					return untilCancelled(ctx, n)
				}}, undo: script{"b": wait}}
				eng := newEngine(t, c.root(flow.Linear("f", s.atom("a"), s.atom("b"))), opts...)
				ended := make(chan error, 1)
				go func() { _, err := eng.Run(t.Context(), "r"); ended <- err }()
				synctest.Wait()
				if time.Sleep(2 * time.Minute); c.again {
					if err := engine.Send(t.Context(), eng.Store(), "r", engine.RetryFrom("")); err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
				}
				if err := engine.Send(t.Context(), eng.Store(), "r", engine.Hold()); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				close(undoing)
				t.Log(<-ended)
				run, err := eng.Store().Run(t.Context(), "r")
				if err != nil || run.State != states.FlowSuspended || run.Undo == storage.UndoFailed {
					t.Errorf("the run is %v, undo %v, %v; want that it is suspended", run.State, run.Undo, err)
				}
				_, _ = eng.Run(t.Context(), "r")
				if run, err := eng.Store().Run(t.Context(), "r"); err != nil || run.State != c.want {
					t.Errorf("the run ended %v, %v; want %v", run.State, err, c.want)
				}
			})
		})
	}
}

// TestSuspendBesideCommand suspends a run that no process drives, and that a command has made due: it stays due, so that
// the command is applied.
func TestSuspendBesideCommand(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{do: script{"a": untilCancelled}}
		eng := newEngine(t, flow.Linear("f", s.atom("a")), opts...)
		running, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { _, err := eng.Run(running, "r"); ended <- err }()
		synctest.Wait()
		stop()
		t.Log(<-ended)
		if err := engine.Send(t.Context(), eng.Store(), "r", engine.Cancel("enough")); err != nil {
			t.Fatal(err)
		}
		if _, err := engine.Suspend(t.Context(), eng.Store(), "r"); err != nil {
			t.Fatal(err)
		}
		serving, end := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- eng.Serve(serving) }()
		time.Sleep(time.Minute)
		end()
		t.Log(<-served)
		if run, err := eng.Store().Run(t.Context(), "r"); err != nil || run.Outcome != storage.Cancelled {
			t.Errorf("the run is %v, %v, %v; want that it was cancelled", run.State, run.Outcome, err)
		}
	})
}

// A resumer resumes a run as soon as it is seen at rest, before that is answered.
type resumer struct {
	backend.Store

	resume func()
	once   sync.Once
}

func (r *resumer) Run(ctx context.Context, id string) (storage.Run, error) {
	run, err := r.Store.Run(ctx, id)
	if err == nil && run.State == states.FlowSuspended {
		r.once.Do(r.resume)
		return r.Store.Run(ctx, id)
	}
	return run, err
}

// TestSuspendOnce suspends a run whose owner accepts that, and which somebody resumes before Suspend has seen it at rest:
// the command was carried out, and is not given again.
func TestSuspendOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &resumer{Store: memstore.New()}
		eng := newEngine(t, flow.Linear("f", atom.Pair("w",
			func(context.Context, struct{}) (int, error) { return 0, atom.ErrDeferred }, nil, atom.Deferrable(atom.Deferral{}))),
			engine.WithStore(store.Store))
		store.resume = func() {
			if _, err := eng.Run(t.Context(), "r", engine.Unload()); !errors.Is(err, engine.ErrWaiting) {
				t.Error(err)
			}
		}
		go func() { _, _ = eng.Run(t.Context(), "r") }()
		synctest.Wait()
		if run, err := engine.Suspend(t.Context(), store, "r"); err != nil || run.Hold || run.State != states.FlowRunning {
			t.Errorf("the run is %v, %v; want that it goes on", run.State, err)
		}
	})
}

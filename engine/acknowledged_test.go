package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
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

// closing is a store with an event just before the first commit that closes a token. Several runs commit at once.
type closing struct {
	backend.Store
	before atomic.Pointer[func()]
}

func (s *closing) Commit(ctx context.Context, claim backend.Claim, cp *backend.Checkpoint) error {
	if slices.ContainsFunc(cp.Tokens, func(t storage.Token) bool { return t.State == storage.TokenGone }) {
		if before := s.before.Swap(nil); before != nil {
			(*before)()
		}
	}
	return s.Store.Commit(ctx, claim, cp)
}

// TestAcknowledgedEndCounts ends the work of a worker, and then cancels the run: at once; in a run that no process
// drives, or that is suspended; in the moment in which the run gives the work up. A sibling also fails after the end, and
// the run's process notices both together, or the failure first. The end also comes behind a command that no process has
// applied yet, and between two such commands. In every language, the undo of the work is told how the worker ended it.
// AWS's history has that end.
//
// Guarantee (Waiting and time): An end of an attempt that was accepted counts: a command or a failure that follows finds
// the attempt ended, and its undo is told the result or the failure. This holds wherever processes stop, and also while a
// run is giving the attempt up.
func TestAcknowledgedEndCounts(t *testing.T) {
	t.Parallel()
	const done, failed = "done", "failed"
	ends := map[string]storage.TokenEnd{
		done:   {Result: atom.MustEncode(struct{}{})},
		failed: {Failure: &atom.Failure{Code: "Full", Message: "no seat is left"}},
	}
	for language, c := range atWork {
		for outcome, end := range ends {
			for _, how := range []string{"cancelled", "not driven", "suspended", "given up", "sibling fails", "sibling failed", "behind", "between"} {
				t.Run(language+"/"+outcome+"/"+how, func(t *testing.T) {
					inEach(t, func(t *testing.T, opts ...engine.Option) {
						s, failing := failsWhenTold("c")
						store := &closing{Store: memstore.New()}
						eng := newEngine(t, c.root(t, s, false), append(opts, engine.WithStore(store), engine.WithTasks(staffed{parts{s}}))...)
						ended := make(chan error, 1)
						running, stop := context.WithCancel(t.Context())
						defer stop()
						go func() { _, err := eng.Run(running, "r"); ended <- err }()
						synctest.Wait()
						w := take(t, store, c.queue)
						synctest.Wait()
						accept := func() {
							end := end
							end.Take = w.Take
							if _, err := store.EndToken(t.Context(), w.Token, end); err != nil {
								t.Errorf("the end was refused: %v", err)
							}
						}
						cancel := func() {
							go func() { _, err := eng.Command(t.Context(), "r", engine.Cancel("enough")); ended <- err }()
						}
						switch how {
						case "cancelled":
							accept()
							if err := engine.Send(t.Context(), store, "r", engine.Cancel("enough")); err != nil {
								t.Fatal(err)
							}
						case "not driven", "suspended":
							stop()
							if err := <-ended; !errors.Is(err, engine.ErrStopped) {
								t.Fatal(err)
							}
							if how == "suspended" {
								if _, err := engine.Suspend(t.Context(), store, "r"); err != nil {
									t.Fatal(err)
								}
							}
							accept()
							cancel()
						case "behind", "between":
							stop()
							if err := <-ended; !errors.Is(err, engine.ErrStopped) {
								t.Fatal(err)
							}
							send := func() {
								if err := engine.Send(t.Context(), store, c.run, engine.Cancel("enough")); err != nil {
									t.Fatal(err)
								}
							}
							send()
							accept()
							if how == "between" {
								send()
							}
							cancel()
						case "given up":
							store.before.Store(&accept)
							cancel()
						case "sibling failed":
							store.before.Store(&accept)
							close(failing)
						default:
							accept()
							close(failing)
						}
						undo := take(t, store, "unwork", "worker:unwork")
						if undo.Undoes == nil || undo.Undoes.Outcome != outcome {
							t.Errorf("taken %+v; want an undo of an outcome that is %s", undo.Undoes, outcome)
						}
						finish(t, store, undo, nil)
						if err := <-ended; err == nil {
							t.Error("the run succeeded")
						}
						if n := tellsEnd(t, store, outcome); strings.HasPrefix(language, "asl") && n != 1 {
							t.Errorf("AWS's history has the end %d times", n)
						}
					})
				})
			}
		}
	}
}

// tellsEnd returns how often AWS's history of a run has the end of its state B.
func tellsEnd(t *testing.T, store backend.Store, outcome string) (n int) {
	t.Helper()
	history, err := store.History(t.Context(), "r", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	end := map[string]string{"done": "Succeeded", "failed": "Failed"}[outcome]
	for _, e := range history {
		if e.Kind == storage.EntryEvent && e.Path == "B" && strings.HasSuffix(e.Type, end) {
			n++
		}
	}
	return n
}

// TestAcknowledgedSignalCounts sends a run the signal that it awaits, and cancels it at once: the atom has ended with the
// signal, whether a process drives the run or not.
func TestAcknowledgedSignalCounts(t *testing.T) {
	t.Parallel()
	for name, driven := range map[string]bool{"driven": true, "not driven": false} {
		t.Run(name, func(t *testing.T) {
			inEach(t, func(t *testing.T, opts ...engine.Option) {
				eng := newEngine(t, flow.Linear("f", atom.Awaits[int]("wait", "go", atom.Deferral{Deadline: time.Hour}),
					atom.Awaits[int]("never", "no", atom.Deferral{})), opts...)
				running, stop := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { _, err := eng.Run(running, "r"); ended <- err }()
				synctest.Wait()
				if !driven {
					stop()
					t.Log(<-ended)
				}
				err := eng.Store().Send(t.Context(), storage.Message{Run: "r", Kind: grow.MessageSignal, Name: "go", Body: atom.MustEncode(7)})
				if err == nil {
					err = engine.Send(t.Context(), eng.Store(), "r", engine.Cancel("enough"))
				}
				if err != nil {
					t.Fatal(err)
				}
				if !driven {
					go func() { _, err := eng.Run(t.Context(), "r"); ended <- err }()
				}
				t.Log(<-ended)
				stop()
				if got, err := eng.Store().Atom(t.Context(), "r", "wait"); err != nil || fmt.Sprint(got.Status()) != "SUCCESS" {
					t.Errorf("the atom is %v, %v; want that the signal ended it", got, err)
				}
			})
		})
	}
}

package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/storage"
)

// TestToldBeforeStop stops runs that have received messages, or ends of attempts, from which their language decides
// slowly. The language hears of each first, however long it takes.
func TestToldBeforeStop(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"cancel", "held", "deadline"} {
		for _, what := range []string{"messages", "ends"} {
			t.Run(how+"/"+what, func(t *testing.T) {
				inEach(t, func(t *testing.T, opts ...engine.Option) { toldBeforeStop(t, how, what == "ends", opts...) })
			})
		}
	}
}

func toldBeforeStop(t *testing.T, how string, ends bool, opts ...engine.Option) {
	t.Helper()
	const things = 5
	heard, last := map[string]bool{}, -1
	hears := lang(func(ask *grow.Ask) grow.Growth {
		switch c := &ask.Cause; c.Kind {
		case grow.Begin:
			g := grow.Growth{Listen: true}
			if how == "deadline" {
				g.Deadline = ask.Now.Add(time.Hour)
			}
			for i := range things {
				g.Add = append(g.Add, grow.Spec{Name: fmt.Sprint(i), Token: fmt.Sprint("token", i)})
			}
			return g
		case grow.Told, grow.Ended:
			time.Sleep(300 * time.Millisecond)
			heard[c.Name] = true
			return grow.Growth{Listen: true}
		default:
			last = len(heard)
			return failure(&atom.Failure{Code: "Over"})
		}
	})
	eng := newEngine(t, flow.Growing("f", hears), opts...)
	if _, err := eng.Run(t.Context(), "r", engine.Unload()); !errors.Is(err, engine.ErrWaiting) {
		t.Fatal(err)
	}
	if how == "held" {
		if err := engine.Send(t.Context(), eng.Store(), "r", engine.Hold()); err != nil {
			t.Fatal(err)
		}
		if _, err := eng.Run(t.Context(), "r"); !errors.Is(err, engine.ErrSuspended) {
			t.Fatal(err)
		}
	}
	for i := range things {
		var err error
		if message := (storage.Message{Run: "r", Kind: grow.MessageSignal, Name: fmt.Sprint(i)}); !ends {
			err = eng.Store().Send(t.Context(), message)
		} else {
			_, err = engine.EndToken(t.Context(), eng.Store(), fmt.Sprint("token", i), storage.TokenEnd{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if how == "deadline" {
		time.Sleep(2 * time.Hour)
	} else if err := engine.Send(t.Context(), eng.Store(), "r", engine.Cancel("enough")); err != nil {
		t.Fatal(err)
	}
	if _, err := eng.Run(t.Context(), "r"); err == nil || last != things {
		t.Errorf("it had heard of %d of %d when it was stopped: %v", last, things, err)
	}
}

// TestStopAfterEndOfHeldRun: an attempt of a suspended run ends, and then the run is cancelled. What the language begins
// when it hears of the end is cancelled with the rest, and the run ends.
func TestStopAfterEndOfHeldRun(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		books := lang(func(ask *grow.Ask) grow.Growth {
			switch ask.Cause.Kind {
			case grow.Begin:
				return grow.Growth{Add: []grow.Spec{{Name: "book", Token: "token"}}}
			case grow.Ended:
				return grow.Growth{Add: []grow.Spec{{Name: "hold", Kind: grow.Timer, Due: ask.Now.Add(time.Hour)}}}
			default:
				return failure(&atom.Failure{Code: "Over"})
			}
		})
		eng := newEngine(t, flow.Growing("f", books), opts...)
		if _, err := eng.Run(t.Context(), "r", engine.Unload()); !errors.Is(err, engine.ErrWaiting) {
			t.Fatal(err)
		}
		if err := engine.Send(t.Context(), eng.Store(), "r", engine.Hold()); err != nil {
			t.Fatal(err)
		}
		if _, err := eng.Run(t.Context(), "r"); !errors.Is(err, engine.ErrSuspended) {
			t.Fatal(err)
		}
		if _, err := engine.EndToken(t.Context(), eng.Store(), "token", storage.TokenEnd{}); err != nil {
			t.Fatal(err)
		}
		_, err := eng.Command(t.Context(), "r", engine.Cancel("enough"))
		if run, readErr := eng.Store().Run(t.Context(), "r"); readErr != nil || run.Outcome != storage.Cancelled {
			t.Errorf("it is %v: %v", run.Outcome, err)
		}
	})
}

// TestEndOfInterruptedCall: a process stops while it makes a call, and then another party ends the attempt. The call is
// not made again, and the language hears of that end, even if the run is overdue when it is resumed.
func TestEndOfInterruptedCall(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		for _, failed := range []*atom.Failure{nil, {Code: "Full"}} {
			for _, pause := range []time.Duration{time.Minute, 2 * time.Hour} {
				var heard []grow.CauseKind
				calls := lang(func(ask *grow.Ask) grow.Growth {
					if ask.Cause.Kind == grow.Begin {
						call := work("a")
						call.Token = "token"
						return grow.Growth{Add: []grow.Spec{call}, Deadline: ask.Now.Add(time.Hour)}
					}
					heard = append(heard, ask.Cause.Kind)
					return failure(&atom.Failure{Code: "Over"})
				})
				s := &stage{do: script{"a": func(ctx context.Context, _ int) error { <-ctx.Done(); return ctx.Err() }}}
				eng := newEngine(t, flow.Growing("f", calls), append(opts, engine.WithTasks(parts{s}))...)
				running, stop := context.WithTimeout(t.Context(), time.Minute)
				if _, err := eng.Run(running, "r"); !errors.Is(err, engine.ErrStopped) {
					t.Fatal(err)
				}
				stop()
				if _, err := engine.EndToken(t.Context(), eng.Store(), "token", storage.TokenEnd{Failure: failed}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(pause)
				_, err := eng.Run(t.Context(), "r")
				reverted(t, err)
				want, undo := grow.Ended, "undo a done"
				if failed != nil {
					want, undo = grow.Failed, "undo a failed"
				}
				if !slices.Equal(heard, []grow.CauseKind{want}) {
					t.Errorf("after %v it heard %q", pause, heard)
				}
				wantActs(t, s, "a", undo)
			}
		}
	})
}

// TestEndOfInterruptedAtom is TestEndOfInterruptedCall for an atom of a plan, whose attempt also has a time limit.
func TestEndOfInterruptedAtom(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		for _, failed := range []*atom.Failure{nil, {Code: "Full"}} {
			for _, pause := range []time.Duration{time.Minute, 45 * time.Minute, 2 * time.Hour} {
				var token, told string
				calls := 0
				call := atom.Untyped("d", func(ctx context.Context, _ atom.Values) (any, error) {
					calls++
					token = atom.Token(ctx)
					<-ctx.Done()
					return nil, ctx.Err()
				}, func(_ context.Context, _ atom.Values, did atom.Outcome[atom.Value]) (any, error) {
					told = did.String()
					return "", nil
				}, atom.Deferrable(atom.Deferral{Deadline: 30 * time.Minute}))
				fails := atom.Untyped("e", func(context.Context, atom.Values) (any, error) { return nil, errRefused }, nil)
				eng := newEngine(t, flow.Linear("f", call, fails).WithDeadline(time.Hour), opts...)
				running, stop := context.WithTimeout(t.Context(), time.Minute)
				if _, err := eng.Run(running, "r"); !errors.Is(err, engine.ErrStopped) {
					t.Fatal(err)
				}
				stop()
				if _, err := engine.EndToken(t.Context(), eng.Store(), token, storage.TokenEnd{Failure: failed}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(pause)
				_, err := eng.Run(t.Context(), "r")
				reverted(t, err)
				if want := map[bool]string{true: "done", false: "failed"}[failed == nil]; calls != 1 || told != want {
					t.Errorf("after %v: %d calls, and the undo was told %q, want %q", pause, calls, told, want)
				}
			}
		}
	})
}

// TestStopWaitsForCall cancels a run while a call still runs whose attempt another party has ended. Meanwhile a timer
// fires, and the language answers that the run ends. The run is cancelled, since the cancel was accepted before, and the
// language hears that the attempt had ended. Time is virtual: a process that looked again and again would never end.
func TestStopWaitsForCall(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		var heard []string
		deferred := work("d")
		deferred.Token = "token of d"
		hears := lang(func(ask *grow.Ask) grow.Growth {
			switch c := &ask.Cause; {
			case c.Kind == grow.Begin:
				return add(deferred, grow.Spec{Name: "t", Kind: grow.Timer, Due: ask.Now.Add(time.Hour)})
			case c.Kind == grow.Stopped:
				heard = append(heard, c.Accepted...)
				return failure(c.Failure)
			case c.Name == "t":
				return done("by the timer")
			default:
				return grow.Growth{}
			}
		})
		eng := newEngine(t, flow.Growing("f", hears), append(opts, engine.WithTasks(parts{&stage{do: script{
			"d": func(context.Context, int) error { time.Sleep(time.Hour + time.Second); return errRefused }, // virtual time
		}}}))...)
		ended := make(chan error, 1)
		go func() { _, err := eng.Run(t.Context(), "r"); ended <- err }()
		time.Sleep(time.Hour - time.Second) // virtual time
		if _, err := eng.Store().EndToken(t.Context(), "token of d", storage.TokenEnd{Result: atom.MustEncode(1)}); err != nil {
			t.Fatal(err)
		}
		if err := engine.Send(t.Context(), eng.Store(), "r", engine.Cancel("enough")); err != nil {
			t.Fatal(err)
		}
		t.Log(<-ended)
		run, err := eng.Store().Run(t.Context(), "r")
		if err != nil || run.Outcome != storage.Cancelled || !slices.Equal(heard, []string{"d"}) {
			t.Errorf("the run is %v, %v, %v, and its language heard of %q", run.State, run.Outcome, err, heard)
		}
	})
}

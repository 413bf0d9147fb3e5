package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// limited is a flow of one task for workers. A worker must take the task, end it and send
// heartbeats within the given times. The task's undo is work, too.
func limited(toStart, toClose, heartbeat time.Duration) flow.Node {
	return flow.Linear("f", atom.RemotePair[struct{}, string]("a", "a", "undo",
		atom.As("x"), atom.Timeout(time.Hour), atom.ScheduleToStart(toStart), atom.StartToClose(toClose),
		atom.Deferrable(atom.Deferral{Heartbeat: heartbeat})))
}

// TestRemoteLimits: the first limit that passes determines when and how an attempt for workers fails. Work that no
// worker took has not started, and is not undone.
//
// Guarantee (Workers): Work that is not taken in time, or takes too long, fails with its own code. The next worker's
// work continues.
// Also: `TestRemoteLimitsUnloaded`.
func TestRemoteLimits(t *testing.T) {
	t.Parallel()
	const never = time.Duration(0)
	for name, c := range map[string]struct {
		toStart, toClose, heartbeat time.Duration
		taken                       []time.Duration // when workers ask, for a lease of a minute
		after                       time.Duration
		code, message               string
		undo                        bool
	}{
		"nobody takes it": {
			toStart: 10 * time.Second, toClose: time.Second, heartbeat: time.Second,
			after: 10 * time.Second, code: atom.CodeScheduleToStart, message: "no worker took the work within 10s",
		},
		"it takes too long": {
			toStart: time.Minute, toClose: 5 * time.Second, taken: []time.Duration{30 * time.Second},
			after: 35 * time.Second, code: atom.CodeStartToClose, message: `worker "w" took the work and did not end it within 5s`, undo: true,
		},
		"it was lost, and the next has all of the time": {
			toStart: time.Minute, toClose: 90 * time.Second, taken: []time.Duration{time.Second, 10 * time.Second},
			after: (61 + 90) * time.Second, code: atom.CodeStartToClose, message: `worker "w" took the work and did not end it within 1m30s`, undo: true,
		},
		"nothing is heard of who took it": {
			toClose: time.Hour, heartbeat: 7 * time.Second, taken: []time.Duration{30 * time.Second},
			after: 37 * time.Second, code: atom.CodeHeartbeatLost, message: "no heartbeat arrived for 7s", undo: true,
		},
		"both together are too long": {
			toStart: never, toClose: 50 * time.Minute, taken: []time.Duration{30 * time.Minute},
			after: time.Hour, code: atom.CodeTimeout, message: "the attempt did not end before its deadline", undo: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			inEach(t, func(t *testing.T, opts ...engine.Option) {
				eng := newEngine(t, limited(c.toStart, c.toClose, c.heartbeat), opts...)
				begun := time.Now()
				why, undo := undertaken(t, eng, c.taken)
				a, err := eng.Store().Atom(t.Context(), "r", "a")
				if len(why) != 1 || err != nil {
					t.Fatalf("ended with %v (%v)", why, err)
				}
				want := &atom.Failure{Atom: "a", Attempt: 1, Code: c.code, Message: c.message, Untaken: c.taken == nil}
				if diff := cmp.Diff(want, why[0]); diff != "" {
					t.Errorf("failure (-want +got):\n%s", diff)
				}
				failed := a.EndedAt
				if undo != nil {
					failed = undo.Lease.Add(-time.Minute) // when a worker took it; workers poll each second
				}
				if took := failed.Sub(begun); took < c.after || took > c.after+2*time.Second {
					t.Errorf("it failed after %v, want %v", took, c.after)
				}
				if c.undo != (undo != nil && undo.Undoes.Outcome == "unknown") {
					t.Errorf("the undo is %+v, want one: %v", undo, c.undo)
				}
			})
		})
	}
}

// undertaken runs a flow. At the given times, workers take its task and never end it. If the task must be undone, a
// worker undoes it. undertaken returns why the run failed, and the work of the undo.
func undertaken(t *testing.T, eng *engine.Engine, at []time.Duration) (why []*atom.Failure, undo *engine.Work) {
	t.Helper()
	store := eng.Store()
	for _, at := range at {
		go func() {
			time.Sleep(at)
			take(t, store, "a")
		}()
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		w, err := engine.LeaseWork(t.Context(), store, storage.WorkRequest{Queues: []string{"undo"}, Worker: "w", Lease: time.Minute}, 2*time.Hour, nil)
		if err == nil {
			undo = w
			finish(t, store, w, nil)
		}
	}()
	_, err := eng.Run(t.Context(), "r")
	if r, ok := errors.AsType[*engine.RevertedError](err); ok {
		why = r.Failures
	} else if f, ok := errors.AsType[*engine.FailedError](err); ok {
		why = f.Failures
	}
	<-over
	return why, undo
}

// TestRemoteLimitsUnloaded: the limits hold for a run that has no owner while it waits,
// before and after a worker takes its work, which wakes the run.
func TestRemoteLimitsUnloaded(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		store := memstore.New()
		eng := newEngine(t, limited(time.Hour, 5*time.Second, 0), append(opts, engine.WithStore(store))...)
		serving, stop := context.WithCancel(t.Context())
		served := make(chan error)
		go func() { served <- eng.Serve(serving) }()
		if err := eng.Start(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		due := func(limit storage.TokenLimit) time.Time {
			t.Helper()
			tokens, err := store.RunTokens(t.Context(), "r")
			if err != nil || len(tokens) != 1 {
				t.Fatal(tokens, err)
			}
			timers, err := store.RunTimers(t.Context(), "r")
			got, at := tokens[0].Due()
			if err != nil || got != limit || len(timers) != 1 || !timers[0].Due.Equal(at) {
				t.Errorf("%v at %v, and the timers are %v (%v); want %v", got, at, timers, err, limit)
			}
			return at
		}
		due(storage.ScheduleToStart)
		before := time.Now()
		w := take(t, store, "a")
		synctest.Wait()
		if at := due(storage.StartToClose); !at.Equal(before.Add(5*time.Second)) || !w.Deadline.Equal(at) {
			t.Errorf("it is due at %v, want %v after %v", at, 5*time.Second, before)
		}
		undo := take(t, store, "undo")
		if took := time.Since(before); took < 5*time.Second || took > 7*time.Second || undo.Undoes.Outcome != "unknown" {
			t.Errorf("%+v after %v", undo.Undoes, took)
		}
		if _, err := store.EndToken(t.Context(), w.Token, storage.TokenEnd{Take: w.Take, Result: atom.MustEncode("late")}); !errors.Is(err, storage.ErrGone) {
			t.Errorf("it was done too late: %v", err)
		}
		finish(t, store, undo, nil)
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}

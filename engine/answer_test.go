package engine_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// A heedless language creates one task. Then it computes, and ignores all requests, until the test releases it.
type heedless struct {
	began    chan struct{}
	released chan struct{}
	loud     bool // asks whether it is interrupted and how the task ended, and ignores both
	answers  *atomic.Int64
}

func newHeedless(t *testing.T, loud bool) heedless {
	h := heedless{make(chan struct{}, 1), make(chan struct{}), loud, &atomic.Int64{}}
	t.Cleanup(func() { close(h.released) })
	return h
}

func (h heedless) Grow(ask *grow.Ask) grow.Growth {
	if ask.Cause.Kind == grow.Begin {
		return add(work("a"))
	}
	h.answers.Add(1)
	select {
	case h.began <- struct{}{}:
	default:
	}
	for !isDone(h.released) {
		if h.loud {
			ask.Done()
			ask.Recall("a")
		}
	}
	if h.loud {
		panic("it ends at last")
	}
	return done("at last")
}

func isDone(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func (heedless) Undo(*grow.UndoAsk) (atom.Value, error) { return atom.Null, nil }

// TestHeedlessAnswerIsGivenUp makes requests of runs whose language never ends an answer and does not ask whether it is
// interrupted. Ebb gives up the answer.
//
// Guarantee (Waiting and time): Ebb gives up, logs and counts [a grower or retry
// controller](attacks.md#runs-that-grow-or-compute-without-end) that ignores a command, deadline or stop.
// Also: `TestHeedlessAnswerWaitsForMessages`.
//
// Attack (Runs that grow or compute without end): A Go grower or retry controller that never returns or asks.
// Result: After a command, deadline or process stop, Ebb gives up the answer [after the
// grace](../how-to/retry-and-timeouts.md#time-limits-are-cooperative). Open: its goroutine remains.
// Also: `TestHeedlessAnswerMeetsDeadline`, `TestHeedlessRetryIsGivenUp`, `TestHeedlessAnswerIsGivenUpUnderSteps`.
func TestHeedlessAnswerIsGivenUp(t *testing.T) {
	t.Parallel()
	for _, loud := range []bool{false, true} {
		for _, how := range []string{"cancel", "abandon", "suspend", "suspend engine", "stop", "drain at once"} {
			name := how
			if loud {
				name += "/loud"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				var log syncBuffer
				s, lang := memstore.New(), newHeedless(t, loud)
				eng := newEngine(t, flow.Growing("f", lang), engine.WithStore(s), engine.WithTasks(parts{&stage{}}), engine.WithGrace(0),
					engine.WithLogger(hclog.New(&hclog.LoggerOptions{Output: &log, Level: hclog.Error})))
				requests[how](t, eng, s, lang.began)
				if n := eng.GivenUp(); n == 0 || !strings.Contains(log.String(), "answer.abandoned") {
					t.Errorf("%d were given up, and the log says %q", n, log.String())
				}
			})
		}
	}
}

// TestHeedlessAnswerMeetsDeadline lets the deadline of a run pass while its language ignores everything. The run times
// out, and its task is undone.
func TestHeedlessAnswerMeetsDeadline(t *testing.T) {
	t.Parallel()
	s, heedless, stage := memstore.New(), newHeedless(t, false), &stage{}
	timed := lang(func(ask *grow.Ask) grow.Growth {
		g := heedless.Grow(ask)
		if ask.Cause.Kind == grow.Begin {
			g.Deadline = ask.Now.Add(time.Second)
		}
		return g
	})
	eng := newEngine(t, flow.Growing("f", timed), engine.WithStore(s), engine.WithTasks(parts{stage}), engine.WithGrace(0))
	_, err := eng.Run(t.Context(), "run")
	hasEnded(t, s, err, storage.TimedOut)
	wantActs(t, stage, "a", "undo a") // its success was not committed yet
	if n := heedless.answers.Load(); n != 1 {
		t.Errorf("%d answers were wanted; want 1", n)
	}
}

// TestHeedlessAnswerWaitsForMessages sends messages that are not commands to a run whose answer takes long. Ebb does
// not give up the answer.
func TestHeedlessAnswerWaitsForMessages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began, released := make(chan struct{}), make(chan struct{})
		slow := lang(func(ask *grow.Ask) grow.Growth {
			if ask.Cause.Kind == grow.Begin {
				return add(work("a"))
			}
			close(began)
			<-released
			return done("at last")
		})
		s := memstore.New()
		eng := newEngine(t, flow.Growing("f", slow), engine.WithStore(s), engine.WithTasks(parts{&stage{}}), engine.WithGrace(0))
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { _, err := eng.Run(ctx, "run"); ended <- err }()
		<-began
		if err := s.Send(t.Context(), storage.Message{Run: "run", Kind: "event", Name: "x"}); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Hour) // virtual: longer than an unwanted answer may take
		if n := eng.GivenUp(); n != 0 {
			t.Errorf("%d were given up", n)
		}
		stop()
		if err := <-ended; !errors.Is(err, engine.ErrStopped) || eng.GivenUp() != 1 {
			t.Errorf("%d were given up: %v", eng.GivenUp(), err)
		}
		close(released)
	})
}

// heedlessRetry is a retry controller whose decision never comes.
type heedlessRetry struct {
	lang heedless
}

func (h heedlessRetry) OnFailure(atom.History, atom.Values) (atom.Decision, error) {
	h.lang.Grow(&grow.Ask{Cause: grow.Cause{Kind: grow.Continue}})
	return atom.Decision{}, nil
}

func (heedlessRetry) Next(atom.History, atom.Values) (atom.Value, error) { return atom.Null, nil }

// TestHeedlessRetryIsGivenUp cancels and suspends runs whose retry controller never decides.
func TestHeedlessRetryIsGivenUp(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"cancel", "suspend engine"} {
		t.Run(how, func(t *testing.T) { t.Parallel(); heedlessRetryIsGivenUp(t, how) })
	}
}

func heedlessRetryIsGivenUp(t *testing.T, how string) {
	t.Helper()
	s, lang := memstore.New(), newHeedless(t, false)
	stage := &stage{do: script{"b": func(context.Context, int) error { return errors.New("no") }}}
	eng := newEngine(t, flow.Linear("f", stage.atom("a"), stage.atom("b")).WithRetry(atom.Retry("retry", heedlessRetry{lang})), engine.WithStore(s), engine.WithGrace(0))
	requests[how](t, eng, s, lang.began)
	if n := eng.GivenUp(); n != 1 {
		t.Errorf("%d were given up; want 1", n)
	}
}

// syncBuffer is a buffer that can be read while it is written.
type syncBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

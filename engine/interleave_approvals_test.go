package engine_test

import (
	"context"
	"errors"
	"sync"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// approvals is the world of a meeting: the calls, and the tokens that were given out.
type approvals struct {
	tokens chan string

	mu    sync.Mutex
	count map[string]int
	begun map[string]chan struct{}
}

func (w *approvals) called(ctx context.Context, name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.count == nil {
		w.count = map[string]int{}
	}
	w.count[atom.CurrentCall(ctx).Run+" "+name]++
	if c := w.when(atom.CurrentCall(ctx).Run + " " + name); w.count[atom.CurrentCall(ctx).Run+" "+name] == 1 {
		close(c)
	}
}

func (w *approvals) calls(id, name string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.count[id+" "+name]
}

// when returns a channel that is closed when the name is called.
func (w *approvals) when(what string) chan struct{} {
	if w.begun == nil {
		w.begun = map[string]chan struct{}{}
	}
	if w.begun[what] == nil {
		w.begun[what] = make(chan struct{})
	}
	return w.begun[what]
}

// awaited waits until the run is about to wait for a signal.
func (w *approvals) awaited(id, signal string) {
	w.mu.Lock()
	c := w.when(id + " " + map[string]string{"one": "a", "two": "ask"}[signal])
	w.mu.Unlock()
	<-c
}

// end ends the tokens that are given out. A token may be given out again after its process has died.
func (w *approvals) end(ctx context.Context, s backend.Store, r *report) {
	for {
		select {
		case token := <-w.tokens:
			_, err := s.EndToken(context.WithoutCancel(ctx), token, storage.TokenEnd{Result: atom.MustEncode("yes")})
			if err != nil && !errors.Is(err, storage.ErrGone) {
				r.faultf("EndToken: %v", err)
			}
		case <-ctx.Done():
			return
		}
	}
}

func (w *approvals) flow() flow.Node {
	task := func(name string) *atom.Atom {
		return atom.Func(name, func(ctx context.Context, _ struct{}) (struct{}, error) {
			w.called(ctx, name)
			return struct{}{}, nil
		})
	}
	ask := atom.Func("ask", func(ctx context.Context, _ struct{}) (string, error) {
		w.called(ctx, "ask")
		w.tokens <- atom.Token(ctx)
		return "", atom.ErrDeferred
	}, atom.As("answer"), atom.Deferrable(atom.Deferral{}))
	one := atom.Awaits[string]("one", "one", atom.Deferral{}, atom.As("first"))
	two := atom.Awaits[string]("two", "two", atom.Deferral{}, atom.As("second"))
	b := atom.Func("b", func(ctx context.Context, _ struct{}) (struct{}, error) {
		w.called(ctx, "b")
		if atom.Attempt(ctx) == 1 {
			return struct{}{}, errRefused
		}
		return struct{}{}, nil
	}, atom.Attempts(2, atom.Constant(pause)))
	return flow.Linear("f", task("a"), one, ask, two, b)
}

package engine_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// A signalBox is on both sides of every call of the stores behind it. Each goroutine that arrives waits until the
// signalBox lets it pass. The signalBox lets one pass at a time, and only if no goroutine can do anything else. So the
// calls happen in the drawn order.
type signalBox struct {
	mu      sync.Mutex
	waiting []*waiting
	open    bool // all may pass

	moves   []string // which goroutine passed, and where
	choices int      // how often several were waiting
}

type waiting struct {
	who, where string
	since      int // move
	pass       chan struct{}
}

func (b *signalBox) wait(who, where string) {
	b.mu.Lock()
	if b.open {
		b.mu.Unlock()
		return
	}
	w := &waiting{who, where, len(b.moves), make(chan struct{})}
	b.waiting = append(b.waiting, w)
	b.mu.Unlock()
	<-w.pass
}

// next lets one goroutine pass, and returns whether there was one. order chooses the goroutine. After its end, next
// chooses the one that has waited longest.
func (b *signalBox) next(order []int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) == 0 {
		return false
	}
	slices.SortFunc(b.waiting, func(a, b *waiting) int {
		return cmp.Or(cmp.Compare(a.since, b.since), strings.Compare(a.who, b.who), strings.Compare(a.where, b.where))
	})
	i := 0
	if len(b.waiting) > 1 {
		if b.choices < len(order) {
			i = order[b.choices] % len(b.waiting)
		}
		b.choices++
	}
	w := b.waiting[i]
	b.waiting = slices.Delete(b.waiting, i, i+1)
	b.moves = append(b.moves, w.who+" "+w.where)
	close(w.pass)
	return true
}

func (b *signalBox) letAllPass() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open = true
	for _, w := range b.waiting {
		close(w.pass)
	}
	b.waiting = nil
}

// boxed is a store behind a signal box.
type boxed struct {
	backend.Store
	box *signalBox
	who string
}

func (s *boxed) around(what string) func() {
	s.box.wait(s.who, "before "+what)
	return func() { s.box.wait(s.who, "after "+what) }
}

func (s *boxed) Begin(ctx context.Context, run string) (backend.Claim, *backend.Snapshot, error) {
	defer s.around("Begin")()
	return s.Store.Begin(ctx, run)
}

func (s *boxed) Seize(ctx context.Context, run string) (backend.Claim, *backend.Snapshot, error) {
	defer s.around("Seize")()
	return s.Store.Seize(ctx, run)
}

func (s *boxed) Due(ctx context.Context, q backend.DueQuery) ([]backend.Due, time.Time, error) {
	defer s.around("Due")()
	return s.Store.Due(ctx, q)
}

func (s *boxed) Commit(ctx context.Context, c backend.Claim, cp *backend.Checkpoint) error {
	what := "Commit"
	if cp.Head.Release {
		what = "Commit that releases"
	}
	defer s.around(what)()
	return s.Store.Commit(ctx, c, cp)
}

func (s *boxed) Release(ctx context.Context, c backend.Claim, wakeups int64, due time.Time) error {
	defer s.around("Release")()
	return s.Store.Release(ctx, c, wakeups, due)
}

func (s *boxed) Send(ctx context.Context, messages ...storage.Message) error {
	defer s.around("Send")()
	return s.Store.Send(ctx, messages...)
}

func (s *boxed) EndToken(ctx context.Context, id string, end storage.TokenEnd) (storage.Token, error) {
	defer s.around("EndToken")()
	return s.Store.EndToken(ctx, id, end)
}

func (s *boxed) Messages(ctx context.Context, run string, after int64) (int64, []storage.Message, error) {
	defer s.around("Messages")()
	return s.Store.Messages(ctx, run, after)
}

func (s *boxed) RunsWithMessages(ctx context.Context, since int64) ([]backend.Arrival, int64, error) {
	defer s.around("RunsWithMessages")()
	return s.Store.RunsWithMessages(ctx, since)
}

func (s *boxed) Changed() <-chan struct{} {
	defer s.around("Changed")()
	return s.Store.Changed()
}

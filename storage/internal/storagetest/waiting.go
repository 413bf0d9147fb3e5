package storagetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// prompt bounds how long a caller waits for an event. Without a notification, the wait is a second. The rest is for a
// busy machine.
const prompt = 30 * time.Second

// testAwaitEnd lets callers wait for the ends of many runs. Some runs are ended by the same store, others by another
// one, with a checkpoint of an owner or with Step. Waits for runs that are deleted, or have ended, return.
func testAwaitEnd(t *testing.T, m Maker) {
	s := m.open(t)
	other := m.join(t, s)
	ctx, stop := context.WithTimeout(t.Context(), prompt)
	defer stop()
	want(t, "AwaitEnd of an unknown run", errOf(s.AwaitEnd(ctx, "none")), storage.ErrNotFound)
	const callers = 30
	id := func(n int) string { return fmt.Sprintf("r%02d", n) }
	returned := make(chan error, callers)
	for n := range callers {
		create(t, s, run(id(n)))
	}
	for n := range callers {
		go func() {
			row, err := s.AwaitEnd(ctx, id(n))
			if err == nil && (row.ID != id(n) || row.State != states.FlowSuccess) {
				err = fmt.Errorf("AwaitEnd returned %q, which is %v", row.ID, row.State)
			}
			returned <- err
		}()
	}
	for n := range callers {
		by := s
		if n%2 == 1 {
			by = other
		}
		if n%3 == 0 {
			must(t, "Step", by.Step(ctx, id(n), func(snap *backend.Snapshot) (*backend.Checkpoint, error) {
				return &backend.Checkpoint{Head: backend.Head{
					Seq: snap.Run.Seq, State: states.FlowSuccess, Outcome: storage.Succeeded, Ended: at(1), Time: at(1),
				}}, nil
			}))
		} else {
			begin(t, by, id(n)).finish(t, states.FlowSuccess)
		}
	}
	for range callers {
		must(t, "AwaitEnd", <-returned)
	}
	if row := ask[storage.Run](t, "AwaitEnd")(other.AwaitEnd(ctx, id(0))); row.State != states.FlowSuccess {
		t.Errorf("a run that has ended before is %v", row.State)
	}
	create(t, s, run("stays"))
	soon, leave := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer leave()
	want(t, "AwaitEnd for a while", errOf(s.AwaitEnd(soon, "stays")), context.DeadlineExceeded)
	go func() { returned <- errOf(other.AwaitEnd(ctx, "stays")) }()
	must(t, "Close", other.Close())
	want(t, "AwaitEnd of a closed store", <-returned, storage.ErrClosed)
}

// testAwaitToken lets callers of two stores wait for work. Each piece of work reaches one of them, from any store. Work
// whose lease expires reaches another caller.
func testAwaitToken(t *testing.T, m Maker) {
	s := m.open(t)
	other := m.join(t, s)
	create(t, s, run("a"), run("b"))
	p, q := begin(t, s, "a"), begin(t, other, "b")
	begun := time.Now()
	want(t, "AwaitToken without a wait", errOf(s.AwaitToken(t.Context(), taking("q", "w"), 0, nil)), storage.ErrNotFound)
	if p := s.Pollers(); len(p) != 1 || p[0].Queue != "q" || !slices.Equal(p[0].Workers, []string{"w"}) {
		t.Errorf("%+v ask for work", p)
	}
	want(t, "AwaitToken without a queue", errOf(s.AwaitToken(t.Context(), taking("", "w"), prompt, nil)),
		storage.ErrInvalid)
	over := make(chan struct{})
	close(over)
	want(t, "AwaitToken without patience", errOf(s.AwaitToken(t.Context(), taking("q", "w"), prompt, over)),
		storage.ErrNotFound)
	want(t, "AwaitToken without a caller", errOf(s.AwaitToken(cancelled(t), taking("q", "w"), prompt, nil)),
		context.Canceled)
	if time.Since(begun) > prompt {
		t.Error("callers waited who must not")
	}
	const pieces = 20
	got := make(chan string, pieces)
	wait := func(by backend.Store, lease time.Duration) {
		taking := taking("q", "w")
		taking.Queues, taking.Lease = append(taking.Queues, "r"), lease
		token, err := by.AwaitToken(t.Context(), taking, prompt, nil)
		if err != nil {
			token.ID = err.Error()
		}
		got <- token.ID
	}
	for n := range pieces {
		go wait([]backend.Store{s, other}[n%2], 0)
	}
	for n := range pieces {
		by := []*pen{p, q}[n/2%2]
		by.write(t, backend.Checkpoint{Tokens: []storage.Token{{
			ID: fmt.Sprintf("t%02d", n), Path: fmt.Sprint("p", n), Queue: []string{"q", "r"}[n%2], Beat: at(n),
		}}})
	}
	taken := map[string]bool{}
	for range pieces {
		taken[<-got] = true
	}
	for n := range pieces {
		if id := fmt.Sprintf("t%02d", n); !taken[id] {
			t.Errorf("%s reached no caller: %v", id, taken)
		}
	}
	p.write(t, backend.Checkpoint{Tokens: []storage.Token{{ID: "lost", Path: "lost", Queue: "q", Beat: at(1)}}})
	wait(s, time.Nanosecond)
	wait(other, 0)
	if first, second := <-got, <-got; first != "lost" || second != "lost" {
		t.Errorf("work whose lease has expired reached %q, then %q", first, second)
	}
}

package waiting_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/waiting"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A database holds the state that several processes share: runs that have ended, and work in queues.
type database struct {
	mu      sync.Mutex
	over    map[string]bool
	work    map[string]int
	foreign chan struct{}
	reads   map[string]int // of runs
	takes   int            // of work
	looks   atomic.Int64
}

func newDatabase() *database {
	return &database{over: map[string]bool{}, work: map[string]int{}, reads: map[string]int{}}
}

func (d *database) read(_ context.Context, id string) (storage.Run, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reads[id]++
	run := storage.Run{ID: id, State: states.FlowRunning}
	if d.over[id] {
		run.State = states.FlowSuccess
	}
	return run, nil
}

func (d *database) take(_ context.Context, t storage.WorkRequest) (storage.Token, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.takes++
	for _, queue := range t.Queues {
		if d.work[queue] > 0 {
			d.work[queue]--
			return storage.Token{Queue: queue, Worker: t.Worker}, nil
		}
	}
	return storage.Token{}, storage.ErrNotFound
}

func (d *database) Running(_ context.Context, runs []string) ([]string, error) {
	d.looks.Add(1)
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(runs), func(id string) bool { return d.over[id] }), nil
}

func (d *database) Queued(_ context.Context, queues []string) ([]string, error) {
	d.looks.Add(1)
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(queues), func(queue string) bool { return d.work[queue] == 0 }), nil
}

func (d *database) Foreign() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.foreign == nil {
		d.foreign = make(chan struct{})
	}
	return d.foreign
}

func (d *database) Rest() { d.change(func() {}) }

// change is a write of another process.
func (d *database) change(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
	if d.foreign != nil {
		close(d.foreign)
		d.foreign = nil
	}
}

// TestManyAwaitEnds lets 1,000 callers wait for runs. A commit of this process makes only the caller read that waits
// for its run. What another process did is found with one query for all callers.
//
// Guarantee (G2): A caller that waits for a run's end learns of it, whichever process ended the run.
// Also: `storage/sqlstore: TestStore/AwaitEnd`.
func TestManyAwaitEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const callers = 1000
		d := newDatabase()
		h := waiting.New(d)
		returned := make(chan string, callers)
		id := func(n int) string { return fmt.Sprint("run", n) }
		for n := range callers {
			go func() {
				run, err := h.AwaitEnd(t.Context(), id(n), d.read)
				if err != nil || run.State != states.FlowSuccess {
					t.Errorf("%s: %v, %v", id(n), run.State, err)
				}
				returned <- id(n)
			}()
		}
		synctest.Wait()
		h.Committed(id(7), &backend.Checkpoint{Head: backend.Head{State: states.FlowRunning}})
		d.over[id(5)] = true
		h.Committed(id(5), &backend.Checkpoint{Head: backend.Head{State: states.FlowSuccess}})
		if got := <-returned; got != id(5) {
			t.Errorf("%s returned", got)
		}
		synctest.Wait()
		if a, b := d.reads[id(5)], d.reads[id(6)]; a != 3 || b != 2 || d.reads[id(7)] != 2 || d.looks.Load() != 0 {
			t.Errorf("%d and %d reads, %d looks", a, b, d.looks.Load())
		}
		begun := time.Now()
		d.change(func() { d.over[id(6)] = true })
		if got := <-returned; got != id(6) || time.Since(begun) > 10*time.Millisecond || d.looks.Load() != 1 {
			t.Errorf("%s returned after %v and %d looks", got, time.Since(begun), d.looks.Load())
		}
		d.mu.Lock()
		for n := range callers { // no process reports it
			d.over[id(n)] = true
		}
		d.mu.Unlock()
		for range callers - 2 {
			<-returned
		}
		if took := time.Since(begun); took > time.Second {
			t.Errorf("the ends that no process told of were found after %v", took)
		}
		looks := d.looks.Load()
		time.Sleep(time.Hour)
		if d.looks.Load() != looks {
			t.Error("the hub looks while no caller waits")
		}
	})
}

// TestTurns lets 100 callers wait for work of one queue. Each piece of work wakes the caller that has waited longest,
// who then wakes the next one. Callers that give up, or whose queue is another one, are not in the way.
//
// Guarantee (G2): New work, also of another process or with an expired lease, wakes the worker that has waited longest.
// A worker that leaves wakes the next.
// Also: `TestTurnPassedOn`, `storage/sqlstore: TestStore/AwaitToken`.
func TestTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const callers = 100
		d := newDatabase()
		h := waiting.New(d)
		got := make(chan string, callers)
		wait := func(ctx context.Context, worker string, wait time.Duration, queues ...string) {
			token, err := h.AwaitToken(ctx, storage.WorkRequest{Queues: queues, Worker: worker}, wait, nil, d.take)
			if err != nil {
				token.Worker = fmt.Sprint(worker, " ", err)
			}
			got <- token.Worker
		}
		expect := func(want ...string) {
			t.Helper()
			synctest.Wait()
			for _, want := range want {
				if worker := <-got; worker != want {
					t.Errorf("%q returned, want %q", worker, want)
				}
			}
			if len(got) > 0 {
				t.Errorf("%q returned, too", <-got)
			}
		}
		commit := func(queue string, pieces int) {
			cp := backend.Checkpoint{Head: backend.Head{State: states.FlowRunning}}
			for range pieces {
				d.work[queue]++
				cp.Tokens = append(cp.Tokens, storage.Token{Queue: queue})
			}
			h.Committed("run", &cp)
		}
		go wait(t.Context(), "none", 0, "q")
		expect("none " + storage.ErrNotFound.Error())
		for n := range callers {
			go wait(t.Context(), fmt.Sprint("w", n), time.Hour, "q", "r")
			synctest.Wait()
		}
		go wait(t.Context(), "other", time.Hour, "other")
		synctest.Wait()
		d.takes = 0
		commit("q", 1)
		expect("w0")
		if d.takes != 2 { // w0 takes it, w1 finds no more
			t.Errorf("%d callers looked for one piece of work", d.takes)
		}
		d.takes = 0
		d.change(func() { d.work["r"] = 3 })
		expect("w1", "w2", "w3")
		if d.takes != 4 {
			t.Errorf("%d callers looked for three pieces of work", d.takes)
		}
		commit("none", 1)
		expect()
		commit("other", 1)
		expect("other")

		ctx, leave := context.WithCancel(t.Context())
		go wait(ctx, "leaves", time.Hour, "s")
		synctest.Wait()
		go wait(t.Context(), "stays", time.Hour, "s")
		synctest.Wait()
		leave()
		expect("leaves " + context.Canceled.Error())
		commit("s", 1)
		expect("stays")

		d.mu.Lock()
		d.work["q"] = 1 // the lease of a worker has expired
		d.mu.Unlock()
		time.Sleep(time.Second)
		expect("w4")
		time.Sleep(time.Hour)
		synctest.Wait()
		for range callers - 5 {
			<-got
		}
		looks := d.looks.Load()
		time.Sleep(time.Hour)
		if d.looks.Load() != looks {
			t.Error("the hub looks while no caller waits")
		}
	})
}

// TestTurnPassedOn: a caller that was woken, and fails or gives up before it has taken the work, wakes the next one.
func TestTurnPassedOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDatabase()
		h := waiting.New(d)
		broken := errors.New("the database does not answer")
		calls := 0
		fails := func(ctx context.Context, ask storage.WorkRequest) (storage.Token, error) {
			if calls++; calls > 1 {
				return storage.Token{}, broken
			}
			return d.take(ctx, ask)
		}
		over := make(chan error, 2)
		go func() {
			_, err := h.AwaitToken(t.Context(), storage.WorkRequest{Queues: []string{"q"}, Worker: "a"}, time.Hour, nil, fails)
			over <- err
		}()
		synctest.Wait()
		go func() {
			_, err := h.AwaitToken(t.Context(), storage.WorkRequest{Queues: []string{"q"}, Worker: "b"}, time.Hour, nil, d.take)
			over <- err
		}()
		synctest.Wait()
		begun := time.Now()
		d.work["q"] = 1
		h.Committed("run", &backend.Checkpoint{Tokens: []storage.Token{{Queue: "q"}}})
		if first, second := <-over, <-over; !errors.Is(first, broken) || second != nil || time.Since(begun) > 0 {
			t.Errorf("%v, then %v after %v", first, second, time.Since(begun))
		}
	})
}

// TestClosed: closing the hub ends all waits.
func TestClosed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDatabase()
		h := waiting.New(d)
		over := make(chan error, 2)
		go func() {
			_, err := h.AwaitEnd(t.Context(), "a", d.read)
			over <- err
		}()
		go func() {
			_, err := h.AwaitToken(t.Context(), storage.WorkRequest{Queues: []string{"q"}, Worker: "a"}, time.Hour, nil, d.take)
			over <- err
		}()
		synctest.Wait()
		h.Close()
		for range 2 {
			if err := <-over; !errors.Is(err, storage.ErrClosed) {
				t.Error(err)
			}
		}
		if _, err := h.AwaitEnd(t.Context(), "a", d.read); !errors.Is(err, storage.ErrClosed) {
			t.Error(err)
		}
	})
}

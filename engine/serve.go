package engine

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/hashicorp/go-hclog"
)

// Serve drives due runs until ctx ends. A run is due when it was started, a timer of it is due, a message has
// arrived, or its owner has died. Limits may delay a due run (see [SetLimit]). Serve asks the store when the
// store reports a change, and once a second. It does not drive runs that are held. If a run cannot be driven, Serve
// logs the error and retries later. It takes up no run while the process's memory budget is reached, see [Limits]. To
// learn how runs end, read the store, or use [WithObserver].
//
// Serve returns when all its runs have stopped: nil if ctx ended, or the store's error if the store cannot list due
// runs. Serve may be called again. Any number of processes may serve one store.
func (s *Server) Serve(ctx context.Context) error {
	return newServing(s).serve(ctx)
}

// A serving is one call of [Server.Serve], which drives many runs concurrently.
type serving struct {
	server *Server
	e      *Engine
	slots  *slots
	again  chan struct{} // a run that was left out because it was being driven may be due
	left   atomic.Bool   // set together with again
	runs   sync.WaitGroup

	driving context.Context //nolint:containedctx // of the runs: it outlives the context of Serve by the drain
	quiet   <-chan struct{} // closed when the context of Serve ends

	asked   time.Time // when the store was last asked for due runs
	version int64     // [backend.Inbox.Version] before that
	next    time.Time // when the next run is due, by the engine's clock; zero if none is

	isolations *isolations

	mu     sync.Mutex
	busy   map[string]int64 // ids of driven runs, with the version before they were found
	closed bool             // no further run may be driven
}

func newServing(s *Server) *serving {
	return &serving{
		server: s, e: s.engine, busy: map[string]int64{}, slots: newSlots(s.slots), again: make(chan struct{}, 1),
		isolations: newIsolations(s.engine.env.Store.Now()),
	}
}

func (s *serving) serve(ctx context.Context) error {
	driving, cut := context.WithCancel(context.WithoutCancel(ctx))
	s.driving, s.quiet = driving, ctx.Done()
	s.server.serving.Store(s)
	defer func() {
		s.server.serving.CompareAndSwap(s, nil)
		s.close()
		patience := time.AfterFunc(s.server.drain, cut)
		s.runs.Wait()
		patience.Stop()
		cut()
	}()
	beside, stop := context.WithCancel(ctx)
	defer stop()
	s.runs.Go(func() { s.present(beside) })
	if s.server.sender != nil {
		s.runs.Go(func() { s.send(beside) })
	}
	if s.e.env.Memory.Budget > 0 {
		s.runs.Go(func() { s.e.env.Memory.Attend(beside) })
	}
	for {
		changed := s.e.env.Store.Changed()
		wait, err := s.look(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		t := time.NewTimer(wait)
		select {
		case <-changed:
		case <-s.again:
		case <-t.C:
		case <-ctx.Done():
		}
		t.Stop()
	}
}

// send sends the messages in the outbox. If the store cannot be read for a while, it retries.
func (s *serving) send(ctx context.Context) {
	for ctx.Err() == nil {
		if err := s.e.Dispatch(ctx, s.server.sender); err != nil {
			s.e.env.Log.Log(backend.LevelOf(err, hclog.Error), logevent.OutboxFailed, "error", err)
			t := time.NewTimer(pollInterval)
			select {
			case <-t.C:
			case <-ctx.Done():
			}
			t.Stop()
		}
	}
}

// lookForOthers is how long a server ignores a run that this process cannot drive, because it does not know the
// flow or the tasks, the flow has changed, or the run's records are damaged.
const lookForOthers = time.Minute

// pollInterval is the pause between queries for due runs if the store reports no change.
//
//limit:scheduling poll for due runs without notification (`Server.Serve`) | each {} | –
const pollInterval = time.Second

// look drives due runs, and returns how long to wait before the next query.
func (s *serving) look(ctx context.Context) (time.Duration, error) {
	for {
		if err := s.e.claims.releaseLeft(ctx, ""); err != nil {
			return 0, err
		}
		free := s.slots.free(ctx)
		if free == 0 {
			return 0, nil
		}
		if s.e.env.Memory.Exhausted(time.Now()) {
			return pollInterval, nil
		}
		begun, isolated, err := s.crashLoops(ctx, free)
		more := false
		if err == nil && !isolated {
			more, err = s.others(ctx, free-begun)
		}
		switch {
		case err != nil:
			return 0, err
		case isolated:
			return pollInterval, nil
		case more:
		case s.next.IsZero():
			return pollInterval, nil
		default:
			return min(max(s.next.Sub(s.e.env.Store.Now()), time.Millisecond), pollInterval), nil
		}
	}
}

// others starts up to free due runs that are in no crash loop, and new runs. It reports whether there may be more.
func (s *serving) others(ctx context.Context, free int) (more bool, err error) {
	careful, since := s.isolations.careful(s.e.env.Store.Deaths(), time.Now()), s.e.env.Inbox.Mark()
	due, err := s.due(ctx, free, careful)
	for i := range due {
		s.begin(&NewRun{Due: due[i], taken: careful, since: since})
	}
	if err != nil || len(due) == free || s.server.source == nil {
		return len(due) == free, err
	}
	if careful {
		return s.createNext(ctx)
	}
	fresh, err := s.server.source(ctx, free-len(due))
	for i := range fresh {
		s.begin(&fresh[i])
	}
	return len(fresh) > 0, err
}

// due returns up to free due runs. It does not query the store if no run can have become due since the last query.
// With take it takes the runs over.
func (s *serving) due(ctx context.Context, free int, take bool) ([]backend.Due, error) {
	now, version, left := s.e.env.Store.Now(), s.e.env.Store.Version(), s.left.Swap(false)
	later := s.next.IsZero() || s.next.After(now)
	if later && !left && version == s.version && time.Since(s.asked) < pollInterval {
		return nil, nil
	}
	s.asked = time.Now()
	q := backend.DueQuery{
		By: now, Except: append(s.driven(), s.e.env.Memory.Shares.Crowded(s.e.env.Memory.Budget)...),
		Offers: s.server.offers, Limit: free, Take: take, Flows: s.server.flows,
	}
	due, next, err := s.e.env.Store.Due(ctx, q)
	s.version, s.next = version, next
	if len(due) == free { // more runs may be due
		s.next = now
	}
	return due, err
}

// close makes the serving drive no further run.
func (s *serving) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}

// driven returns the ids of the runs that are being driven.
func (s *serving) driven() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := make([]string, 0, len(s.busy))
	for id := range s.busy {
		ids = append(ids, id)
	}
	return ids
}

// pollSoon makes the server query for due runs soon.
func (s *serving) pollSoon() {
	select {
	case s.again <- struct{}{}:
	default:
	}
}

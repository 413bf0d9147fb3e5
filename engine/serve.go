package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ebbflow/ebb/engine/internal/driver"
	"github.com/ebbflow/ebb/storage"
)

// Serve drives due runs until ctx ends. A run is due when it was started, when one
// of its timers is due, when a message has arrived for it, or when its owner has
// died. Limits may make a due run wait (see [storage.Limiter]). Serve looks when the
// store reports a change, and once a second. It does not drive runs that are held. Read
// how runs end from the store, or use [WithObserver]. If a run cannot be driven, Serve
// logs the error and retries later. It takes up nothing while the memory of the process
// is used up, see [Limits].
//
// It returns when all that it drives has come to a stop: nil when ctx ended, the
// store's error when the store cannot say what is due. It may be called again then. Any
// number of processes may serve one store.
func (s *Server) Serve(ctx context.Context) error {
	return newServing(s).serve(ctx)
}

// A serving is one call of [Server.Serve]: runs that are driven side by side.
type serving struct {
	server *Server
	e      *Engine
	slots  chan struct{}
	again  chan struct{} // something may be due that was left out because it was being driven
	left   atomic.Bool   // likewise
	runs   sync.WaitGroup

	asked   time.Time // when the store was asked for what is due
	version int64     // [storage.Inbox.Version] before that
	next    time.Time // when more is due than it said, by the engine's clock; zero when nothing is

	trials *trials

	mu   sync.Mutex
	busy map[string]int64 // those being driven, with version from before they were found
}

func newServing(s *Server) *serving {
	return &serving{
		server: s, e: s.engine, busy: map[string]int64{}, slots: make(chan struct{}, s.slots), again: make(chan struct{}, 1),
		trials: newTrials(s.engine.now()),
	}
}

func (s *serving) serve(ctx context.Context) error {
	driving, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		patience := time.AfterFunc(s.server.drain, cut)
		s.runs.Wait()
		patience.Stop()
		cut()
	}()
	beside, stop := context.WithCancel(ctx)
	defer stop()
	if s.server.sender != nil {
		s.runs.Go(func() { s.send(beside) })
	}
	if s.e.env.Memory.Budget > 0 {
		s.runs.Go(func() { s.e.env.Memory.Attend(beside) })
	}
	for {
		changed := s.e.env.Store.Changed()
		wait, err := s.look(ctx, driving)
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

// send sends what runs leave in the outbox, also when the store cannot be read for
// a while.
func (s *serving) send(ctx context.Context) {
	for ctx.Err() == nil {
		if err := s.e.Dispatch(ctx, s.server.sender); err != nil {
			s.e.env.Log.Error("the outbox cannot be read", "error", err)
			t := time.NewTimer(pollInterval)
			select {
			case <-t.C:
			case <-ctx.Done():
			}
			t.Stop()
		}
	}
}

// lookForOthers is how long a run is left alone that cannot be driven here, as its flow
// is not known or has changed, or its tasks are not there.
const lookForOthers = time.Minute

// pollInterval is the pause between looks for due runs if the store reports no change.
const pollInterval = time.Second

// look drives what is due, and returns how long to wait before the next look.
func (s *serving) look(ctx, driving context.Context) (time.Duration, error) {
	for {
		if err := s.e.claims.releaseLeft(ctx, ""); err != nil {
			return 0, err
		}
		free := s.free(ctx)
		if free == 0 {
			return 0, nil
		}
		if s.e.env.Memory.Exhausted(s.e.now()) {
			s.releaseUndriven(free)
			return pollInterval, nil
		}
		begun, trial, err := s.suspects(ctx, driving, free)
		free -= begun
		more := false
		if err == nil && !trial {
			begun, more, err = s.others(ctx, driving, free)
			free -= begun
		}
		s.releaseUndriven(free)
		switch {
		case err != nil:
			return 0, err
		case trial:
			return pollInterval, nil
		case more:
		case s.next.IsZero():
			return pollInterval, nil
		default:
			return min(max(s.next.Sub(s.e.now()), time.Millisecond), pollInterval), nil
		}
	}
}

// others begins what is due beside suspects, and new runs, up to free of them. It returns how
// many, and whether there may be more.
func (s *serving) others(ctx, driving context.Context, free int) (begun int, more bool, err error) {
	careful := s.careful(s.e.now())
	due, err := s.due(ctx, free, careful)
	for i := range due {
		s.begin(ctx, driving, &NewRun{Due: due[i], taken: careful})
	}
	begun = len(due)
	if err != nil || begun == free || s.server.source == nil {
		return begun, begun == free, err
	}
	if careful {
		made, err := s.createNext(ctx)
		return begun, made, err
	}
	fresh, err := s.server.source(ctx, free-begun)
	for i := range fresh {
		s.begin(ctx, driving, &fresh[i])
	}
	return begun + len(fresh), len(fresh) > 0, err
}

// due returns runs that are due, up to free of them, if any may have become so since the
// store was asked last: while it says that nothing came, new runs are begun without. With
// runsOnly they are loaded when they are taken over.
func (s *serving) due(ctx context.Context, free int, runsOnly bool) ([]storage.Due, error) {
	now, version, left := s.e.now(), s.e.env.Store.Version(), s.left.Swap(false)
	later := s.next.IsZero() || s.next.After(now)
	if later && !left && version == s.version && time.Since(s.asked) < pollInterval {
		return nil, nil
	}
	s.asked = time.Now()
	q := storage.DueQuery{By: now, Except: s.driven(), Offers: s.server.offers, Limit: free, RunsOnly: runsOnly, Flow: s.server.flow}
	due, next, err := s.e.env.Store.Due(ctx, q)
	s.version, s.next = version, next
	if len(due) == free { // there may be more
		s.next = now
	}
	return due, err
}

// begin drives a run in a slot that was taken for it.
func (s *serving) begin(ctx, driving context.Context, one *NewRun) {
	s.take(one.Run)
	s.runs.Go(func() { s.drive(ctx, driving, one) })
}

// free takes the slots that are free, at least one unless ctx ends first, and
// returns how many. Runs that share a commit leave their slots together.
func (s *serving) free(ctx context.Context) (n int) {
	select {
	case s.slots <- struct{}{}:
	case <-ctx.Done():
		return 0
	}
	for range 3 {
		runtime.Gosched()
	}
	for n = 1; ; n++ {
		select {
		case s.slots <- struct{}{}:
		default:
			return n
		}
	}
}

// releaseUndriven gives back slots that were taken and are not needed.
func (s *serving) releaseUndriven(free int) {
	for range free {
		<-s.slots
	}
}

// driven returns the runs that are being driven.
func (s *serving) driven() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := make([]string, 0, len(s.busy))
	for id := range s.busy {
		ids = append(ids, id)
	}
	return ids
}

func (s *serving) take(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy[id] = s.version
}

// leave lets a run be found again. What may have come for it while it was left out is
// looked for.
func (s *serving) leave(one *NewRun) {
	s.mu.Lock()
	version := s.busy[one.Run]
	delete(s.busy, one.Run)
	s.mu.Unlock()
	if s.e.env.Store.Version() != version {
		s.left.Store(true)
		s.pollSoon()
	} else if one.tried > 0 {
		s.pollSoon()
	}
}

// pollSoon lets the server look for what is due.
func (s *serving) pollSoon() {
	select {
	case s.again <- struct{}{}:
	default:
	}
}

// drive drives a run under a context of its own: ctx is that of Serve.
func (s *serving) drive(ctx, driving context.Context, due *NewRun) {
	defer s.leave(due)
	begun, err := s.goOn(driving, ctx.Done(), due)
	if !begun && due.Refused != nil {
		err = due.Refused(driving, err)
	}
	<-s.slots
	if err == nil || isRest(err) || errors.Is(err, storage.ErrFenced) || errors.Is(err, storage.ErrLimited) {
		return // not an error: another process took the run, a message arrived, or a limit is reached
	}
	pause := lookForOthers
	if _, ok := errors.AsType[*StoreError](err); ok {
		pause = pollInterval
	}
	s.e.env.Log.Error("a run cannot be driven", "run", due.Run, "error", err)
	t := time.NewTimer(pause) // it is still due, and takes no slot meanwhile
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// isRest reports whether an error says how the driving of a run came to its end.
func isRest(err error) bool {
	var owned *storage.OwnedError
	var reverted *RevertedError
	var failed *FailedError
	return errors.As(err, &owned) || errors.As(err, &reverted) || errors.As(err, &failed) ||
		errors.Is(err, ErrStopped) || errors.Is(err, ErrWaiting) || errors.Is(err, ErrSuspended)
}

// goOn drives a run. A panic of an observer ends the driving of this run and of no other.
// The run was released.
func (s *serving) goOn(ctx context.Context, quiet <-chan struct{}, due *NewRun) (begun bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			begun, err = true, &StoreError{Run: due.Run, Err: fmt.Errorf("engine: panic: %v", p)}
		}
	}()
	switch {
	case due.tried > 0:
		return true, s.try(ctx, quiet, due.Run, due.tried)
	case due.taken && due.Err == nil && !due.Snapshot.Run.State.Ended():
		return true, s.takeOver(ctx, quiet, due.Run)
	default:
		return s.goOnWith(ctx, quiet, &due.Due)
	}
}

// goOnWith drives a run that is due, as it was loaded. It reports whether anything was
// committed.
func (s *serving) goOnWith(ctx context.Context, quiet <-chan struct{}, due *storage.Due) (begun bool, err error) {
	if due.Err != nil {
		return false, wrapStore(due.Run, due.Err)
	}
	run := &due.Snapshot.Run
	if run.State.Ended() { // a command waits in its inbox, or a message that came too late
		_, err := s.e.Run(ctx, run.ID, Unload())
		return false, err
	}
	plan, _, err := s.e.planFor(ctx, run, nil)
	if err != nil {
		return false, err
	}
	d, err := s.e.driver(ctx, plan, due.Claim, due.Snapshot)
	if err != nil {
		return false, err
	}
	err = s.finish(ctx, quiet, d, due.Snapshot)
	return d.Owns(), err
}

// finish drives a run until it rests or does nothing but wait.
func (s *serving) finish(ctx context.Context, quiet <-chan struct{}, d *driver.Driver, snap *storage.Snapshot) error {
	d.Mode.Unload, d.Mode.Quiet, d.Mode.Places = true, quiet, s.server.childSlots
	_, err := s.e.finish(ctx, d, snap, toGoOn, nil)
	return err
}

package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ebbflow/ebb/engine/internal/driver"
	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/storage"
)

// Serve drives due runs until ctx ends. A run is due when it was started, a timer of it is due, a message has
// arrived, or its owner has died. Limits may delay a due run (see [storage.Limiter]). Serve asks the store when the
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
	version int64     // [storage.Inbox.Version] before that
	next    time.Time // when the next run is due, by the engine's clock; zero if none is

	trials *trials

	mu     sync.Mutex
	busy   map[string]int64 // ids of driven runs, with the version before they were found
	closed bool             // no further run may be driven
}

func newServing(s *Server) *serving {
	return &serving{
		server: s, e: s.engine, busy: map[string]int64{}, slots: newSlots(s.slots), again: make(chan struct{}, 1),
		trials: newTrials(time.Now()),
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
			s.e.env.Log.Error(logevent.OutboxFailed, "error", err)
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
// flow or the tasks, or the flow has changed.
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
		begun, trial, err := s.suspects(ctx, free)
		more := false
		if err == nil && !trial {
			more, err = s.others(ctx, free-begun)
		}
		switch {
		case err != nil:
			return 0, err
		case trial:
			return pollInterval, nil
		case more:
		case s.next.IsZero():
			return pollInterval, nil
		default:
			return min(max(time.Until(s.next), time.Millisecond), pollInterval), nil
		}
	}
}

// others starts up to free due runs other than suspects, and new runs. It reports whether there may be more.
func (s *serving) others(ctx context.Context, free int) (more bool, err error) {
	careful, since := s.trials.careful(s.e.env.Store.Deaths(), time.Now()), s.e.env.Inbox.Mark()
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
func (s *serving) due(ctx context.Context, free int, take bool) ([]storage.Due, error) {
	now, version, left := time.Now(), s.e.env.Store.Version(), s.left.Swap(false)
	later := s.next.IsZero() || s.next.After(now)
	if later && !left && version == s.version && time.Since(s.asked) < pollInterval {
		return nil, nil
	}
	s.asked = time.Now()
	q := storage.DueQuery{
		By: now, Except: s.driven(), Offers: s.server.offers, Limit: free, Take: take,
		Flows: s.server.flows,
	}
	due, next, err := s.e.env.Store.Due(ctx, q)
	s.version, s.next = version, next
	if len(due) == free { // more runs may be due
		s.next = now
	}
	return due, err
}

// begin drives a run that was found.
func (s *serving) begin(one *NewRun) {
	turn := s.slots.take()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy[one.Run] = s.version
	s.runs.Go(func() { s.drive(one, turn) })
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

// leave makes a run available to the next query. If it may be due because of an event during its drive, leave
// requests a query.
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

// pollSoon makes the server query for due runs soon.
func (s *serving) pollSoon() {
	select {
	case s.again <- struct{}{}:
	default:
	}
}

// drive drives a run in a slot, which the run has when turn is closed; nil means now.
func (s *serving) drive(due *NewRun, turn <-chan struct{}) {
	defer s.leave(due)
	if turn != nil {
		<-turn
	}
	begun, err := s.goOn(due)
	if !begun && due.Refused != nil && due.first == nil {
		err = due.Refused(s.driving, err)
	}
	s.slots.leave()
	if due.first != nil && due.first.end(err) {
		return
	}
	if err == nil || isRest(err) || errors.Is(err, storage.ErrFenced) || errors.Is(err, storage.ErrLimited) ||
		errors.Is(err, storage.ErrKeyTaken) {
		return // not an error: another process took the run or a key, a message arrived, or a limit is reached
	}
	pause := lookForOthers
	if _, ok := errors.AsType[*StoreError](err); ok {
		pause = pollInterval
	}
	s.e.env.Log.Error(logevent.RunDriveFailed, "run", due.Run, "error", err)
	t := time.NewTimer(pause) // the run is still due, and takes no slot meanwhile
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.quiet:
	}
}

// isRest reports whether err is a normal end of driving a run.
func isRest(err error) bool {
	var owned *storage.OwnedError
	var reverted *RevertedError
	var failed *FailedError
	return errors.As(err, &owned) || errors.As(err, &reverted) || errors.As(err, &failed) ||
		errors.Is(err, ErrStopped) || errors.Is(err, ErrWaiting) || errors.Is(err, ErrSuspended)
}

// goOn drives a run. If an observer panics, only this run stops, and goOn releases it.
func (s *serving) goOn(due *NewRun) (begun bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			begun, err = true, &StoreError{Run: due.Run, Err: fmt.Errorf("engine: panic: %v", p)}
		}
	}()
	switch {
	case due.tried > 0:
		return true, s.try(s.driving, due.Run, due.tried)
	case due.taken && due.Err == nil && !due.isOwned() && !due.Snapshot.Run.State.Ended():
		return true, s.takeOver(s.driving, due.Run) // a limit counts the run, or it is a suspect that passed
	default:
		return s.goOnWith(s.driving, due)
	}
}

// goOnWith drives a due run from its snapshot. It reports whether it committed anything.
func (s *serving) goOnWith(ctx context.Context, due *NewRun) (begun bool, err error) {
	if due.Err != nil {
		return false, driver.WrapStore(due.Run, due.Err)
	}
	run := &due.Snapshot.Run
	if run.State.Ended() && !due.isOwned() { // a command, or a late message, waits in its inbox
		_, err := s.e.Run(ctx, run.ID, Unload(), Existing())
		if errors.Is(err, storage.ErrNotFound) { // the run was purged
			err = nil
		}
		return false, err
	}
	plan, _, err := s.e.planFor(ctx, run, nil)
	if err != nil {
		err = s.e.changed(ctx, s.e.env.Store, err, run, due.Snapshot.Atoms)
		return false, errors.Join(err, s.e.claims.releaseUndriven(ctx, due.Claim, due.Snapshot))
	}
	d, err := s.e.driver(ctx, plan, due.Claim, due.Snapshot)
	if err != nil {
		return false, errors.Join(err, s.e.claims.releaseUndriven(ctx, due.Claim, due.Snapshot))
	}
	if due.Claim.Begins == 0 {
		d.Mode.Since = due.since
	}
	if due.first != nil {
		d.Mode.Begun = due.first.durable
	}
	err = s.finish(ctx, d, due.Snapshot)
	return d.Owns(), err
}

// finish drives a run until it rests or only waits. Only a command lets it drive a suspended run.
func (s *serving) finish(ctx context.Context, d *driver.Driver, snap *storage.Snapshot) error {
	d.Mode.Unload, d.Mode.Quiet, d.Mode.Places = true, s.quiet, s.server.childSlots
	_, err := s.e.finish(ctx, d, snap, found(snap), nil)
	return err
}

package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ebbflow/ebb/storage"
)

// ErrWaiting is returned, with [Unload] and without a result, if a run only waits:
// for a time, a message, or the completion of a token. The engine has released the
// run, which then occupies only rows of the store until it is run again.
var ErrWaiting = errors.New("engine: the run waits")

// Unload lets Run return [ErrWaiting] as soon as the run only waits, instead of
// waiting with it.
func Unload() RunOption { return unload{} }

type unload struct{}

func (unload) begin(*beginning) error { return nil }

// Start creates a run but executes nothing. A process that serves the store, see
// [Engine.Serve], or runs the run drives it. If the flow needs inputs that are not
// given, Start returns [flow.Problems]. If there is a run of that id, it returns a
// *[StoreError] that wraps [storage.ErrExists].
func (e *Engine) Start(ctx context.Context, id string, opts ...RunOption) error {
	b, err := e.begin(id, opts)
	if err != nil {
		return err
	}
	b.run.Created = e.now()
	b.run.Due = b.run.Created
	b.run.Input = storage.Held{Data: b.whole}
	return wrapStore(id, e.store.Create(ctx, b.run))
}

// DefaultSlots is how many runs are driven at once unless [WithSlots] says
// otherwise.
const DefaultSlots = 100

// WithSlots limits how many runs [Engine.Serve] drives at once, and how many runs
// that others began are driven beside these. Runs that only wait take no slot.
func WithSlots(n int) Option {
	return option(func(e *Engine) error {
		if n < 1 {
			return fmt.Errorf("engine: %d slots; want at least 1", n)
		}
		e.slots = n
		return nil
	})
}

// WithOffers says what this process has to offer to runs that need it: those with
// the label "needs.gpu" = "a100" are driven by [Engine.Serve] only where "gpu" is
// "a100".
func WithOffers(offers map[string]string) Option {
	return option(func(e *Engine) error { e.offers = maps.Clone(offers); return nil })
}

// A NewRun is a run that does not exist yet. Create one with [Engine.NewRun]. [Engine.Serve]
// stores the run with its first commit, so a stored run has always begun. Only if
// limits leave no place for the run, Serve stores it as due without beginning it.
type NewRun struct {
	storage.Due
	// Refused is called with the reason if the run was not created, or not begun. It may
	// return an error to be logged. It may be nil. The store's errors are *[StoreError].
	Refused func(ctx context.Context, why error) error

	tried time.Duration // how long it is on trial; 0 is not
	taken bool          // it is to be taken over first
}

// NewRun returns a new run of the engine's flow, for a [Source]. It returns the errors
// of [Engine.Start], except those that only the store can detect.
func (e *Engine) NewRun(id string, opts ...RunOption) (NewRun, error) {
	b, err := e.begin(id, opts)
	if err != nil {
		return NewRun{}, err
	}
	b.run.Created = e.now()
	b.run.Due = b.run.Created
	b.run.Input = storage.Held{Data: b.whole}
	claim, snap, err := storage.ClaimNew(b.run)
	return NewRun{Due: storage.Due{Run: id, Claim: claim, Snapshot: snap}}, err
}

// A Source finds new runs, up to free of them.
type Source func(ctx context.Context, free int) ([]NewRun, error)

// WithSource lets [Engine.Serve] ask for new runs when it has slots that no existing
// run needs. Serve asks when the store reports a change, and once a second. An error
// ends Serve.
func WithSource(in Source) Option {
	return option(func(e *Engine) error { e.source = in; return nil })
}

// WithDrain sets how long what executes may still take when [Engine.Serve] is to
// stop. Nothing more is begun meanwhile; what ends is recorded, and its run is then
// anybody's. What has not ended by then is told to, see [WithGrace]. The default is
// 0: it is told at once.
func WithDrain(d time.Duration) Option {
	return option(func(e *Engine) error {
		if d < 0 {
			return fmt.Errorf("engine: drain for %v; want 0 or more", d)
		}
		e.drain = d
		return nil
	})
}

// Serve drives due runs until ctx ends. A run is due when it was started, when one
// of its timers is due, when a message has arrived for it, or when its owner has
// died. Limits may make a due run wait (see [storage.Limiter]). With a [Catalog],
// Serve drives runs of any flow, otherwise only those of the engine's own flow. It
// looks when the store reports a change, and once a second. It does not drive runs
// that are held. Read how runs end from the store, or use [WithObserver]. If a run
// cannot be driven, Serve logs the error and retries later.
//
// It returns when all that it drives has come to a stop: nil when ctx ended, the
// store's error when the store cannot say what is due. Any number of processes
// may serve one store. It takes up nothing while the process's memory is used up, see
// [WithMemoryBudget].
func (e *Engine) Serve(ctx context.Context) error {
	s := &server{e: e, busy: map[string]int64{}, slots: make(chan struct{}, e.slots), again: make(chan struct{}, 1), trials: newTrials(e.now())}
	driving, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		patience := time.AfterFunc(e.drain, cut)
		s.runs.Wait()
		patience.Stop()
		cut()
	}()
	beside, stop := context.WithCancel(ctx)
	defer stop()
	if e.sender != nil {
		s.runs.Go(func() { s.send(beside) })
	}
	if e.memory.watch.Budget > 0 {
		s.runs.Go(func() { e.memory.attend(beside) })
	}
	for {
		changed := e.store.Changed()
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
func (s *server) send(ctx context.Context) {
	for ctx.Err() == nil {
		if err := s.e.Dispatch(ctx, s.e.sender); err != nil {
			s.e.log.Error("the outbox cannot be read", "error", err)
			t := time.NewTimer(pollInterval)
			select {
			case <-t.C:
			case <-ctx.Done():
			}
			t.Stop()
		}
	}
}

// A server drives runs side by side.
type server struct {
	e     *Engine
	slots chan struct{}
	again chan struct{} // something may be due that was left out because it was being driven
	left  atomic.Bool   // likewise
	runs  sync.WaitGroup

	asked   time.Time // when the store was asked for what is due
	version int64     // [storage.Inbox.Version] before that
	next    time.Time // when more is due than it said, by the engine's clock; zero when nothing is

	trials *trials

	mu   sync.Mutex
	busy map[string]int64 // those being driven, with version from before they were found
}

// lookForOthers is how long a run is left alone that cannot be driven here, as its flow
// is not known or has changed, or its tasks are not there.
const lookForOthers = time.Minute

// pollInterval is the pause between looks for due runs if the store reports no change.
const pollInterval = time.Second

// look drives what is due, and returns how long to wait before the next look.
func (s *server) look(ctx, driving context.Context) (time.Duration, error) {
	for {
		if err := s.e.releaseLeftClaims(ctx, ""); err != nil {
			return 0, err
		}
		free := s.free(ctx)
		if free == 0 {
			return 0, nil
		}
		if s.e.memory.exhausted(s.e.now()) {
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
func (s *server) others(ctx, driving context.Context, free int) (begun int, more bool, err error) {
	careful := s.careful(s.e.now())
	due, err := s.due(ctx, free, careful)
	for i := range due {
		s.begin(ctx, driving, &NewRun{Due: due[i], taken: careful})
	}
	begun = len(due)
	if err != nil || begun == free || s.e.source == nil {
		return begun, begun == free, err
	}
	if careful {
		made, err := s.createNext(ctx)
		return begun, made, err
	}
	fresh, err := s.e.source(ctx, free-begun)
	for i := range fresh {
		s.begin(ctx, driving, &fresh[i])
	}
	return begun + len(fresh), len(fresh) > 0, err
}

// due returns runs that are due, up to free of them, if any may have become so since the
// store was asked last: while it says that nothing came, new runs are begun without. With
// runsOnly they are loaded when they are taken over.
func (s *server) due(ctx context.Context, free int, runsOnly bool) ([]storage.Due, error) {
	now, version, left := s.e.now(), s.e.store.Version(), s.left.Swap(false)
	later := s.next.IsZero() || s.next.After(now)
	if later && !left && version == s.version && time.Since(s.asked) < pollInterval {
		return nil, nil
	}
	s.asked = time.Now()
	q := storage.DueQuery{By: now, Except: s.driven(), Offers: s.e.offers, Limit: free, RunsOnly: runsOnly}
	if s.e.catalog == nil {
		q.Flow = s.e.plan.Flow
	}
	due, next, err := s.e.store.Due(ctx, q)
	s.version, s.next = version, next
	if len(due) == free { // there may be more
		s.next = now
	}
	return due, err
}

// begin drives a run in a slot that was taken for it.
func (s *server) begin(ctx, driving context.Context, one *NewRun) {
	s.take(one.Run)
	s.runs.Go(func() { s.drive(ctx, driving, one) })
}

// free takes the slots that are free, at least one unless ctx ends first, and
// returns how many. Runs that share a commit leave their slots together.
func (s *server) free(ctx context.Context) (n int) {
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
func (s *server) releaseUndriven(free int) {
	for range free {
		<-s.slots
	}
}

// driven returns the runs that are being driven.
func (s *server) driven() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := make([]string, 0, len(s.busy))
	for id := range s.busy {
		ids = append(ids, id)
	}
	return ids
}

func (s *server) take(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy[id] = s.version
}

// leave lets a run be found again. What may have come for it while it was left out is
// looked for.
func (s *server) leave(one *NewRun) {
	s.mu.Lock()
	version := s.busy[one.Run]
	delete(s.busy, one.Run)
	s.mu.Unlock()
	if s.e.store.Version() != version {
		s.left.Store(true)
		s.pollSoon()
	} else if one.tried > 0 {
		s.pollSoon()
	}
}

// pollSoon lets the server look for what is due.
func (s *server) pollSoon() {
	select {
	case s.again <- struct{}{}:
	default:
	}
}

// drive drives a run under a context of its own: ctx is that of Serve.
func (s *server) drive(ctx, driving context.Context, due *NewRun) {
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
	s.e.log.Error("a run cannot be driven", "run", due.Run, "error", err)
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

// goOn is the engine's, but for a panic of an observer, which ends the driving of
// this run and of no other. The run was released.
func (s *server) goOn(ctx context.Context, quiet <-chan struct{}, due *NewRun) (begun bool, err error) {
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
		return s.e.goOn(ctx, quiet, &due.Due)
	}
}

// goOn drives a run that is due until it rests or does nothing but wait. It reports
// whether anything was committed.
func (e *Engine) goOn(ctx context.Context, quiet <-chan struct{}, due *storage.Due) (begun bool, err error) {
	if due.Err != nil {
		return false, wrapStore(due.Run, due.Err)
	}
	run := &due.Snapshot.Run
	if run.State.Ended() { // a command waits in its inbox, or a message that came too late
		_, err := e.Run(ctx, run.ID, Unload())
		return false, err
	}
	plan, _, err := e.planFor(ctx, run, nil)
	if err != nil {
		return false, err
	}
	d, err := e.driver(ctx, plan, due.Claim, due.Snapshot)
	if err != nil {
		return false, err
	}
	d.unload, d.quiet = true, quiet
	_, err = e.finish(ctx, d, due.Snapshot, toGoOn, nil)
	return d.owns(), err
}

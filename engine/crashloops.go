package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/storage"
)

// A run that kills the processes that drive it also stops their other runs. The store counts the deaths, see
// [storage.CrashLoop]. From the second death within an hour, the runs that these processes drove count as crash loops.
// Serve finds the cause by isolated starts:
//
//   - Serve starts such runs before any other, and starts no other run meanwhile. A run passes when it was driven for
//     long enough, or has ended. Each death makes isolated starts longer, so Serve also finds a run that kills slowly.
//   - Serve first starts many of them at a time. If the process dies, the isolated runs are blamed, and the others are
//     not. Serve starts blamed runs one at a time, and where possible in a process that drives nothing else.
//   - When enough is proved about a run, the run pauses. If a process survives without it for the duration of an
//     isolated start, Serve sets the run aside. If a process dies meanwhile, the run was not the cause, and the proof
//     is dropped.

const (
	// firstIsolation is the duration of an isolated start without deaths; each death doubles it.
	firstIsolation = time.Second
	// longestIsolation bounds the duration: a run that needs longer to kill a process is not found.
	//
	//limit:scheduling isolated start of a run in a crash loop (`Server.Serve`) | {} | the run has passed
	longestIsolation = time.Minute
	// besideOthers is how long a blamed run waits for a process that drives nothing else.
	besideOthers = time.Minute
	// cautious is how long after a death Serve takes runs over before it computes anything of them. So the store
	// counts the next death, even if a run kills at once.
	cautious = 10 * time.Second
	// triedAtOnce is the part of the slots that runs which are not blamed may take: one in so many.
	triedAtOnce = 4
	// maxIsolations bounds the number of isolations that a server remembers.
	maxIsolations = 10_000
)

// isolationTime returns the duration of the isolated start of a run after that many deaths.
func isolationTime(lost int64) time.Duration {
	return min(firstIsolation<<min(lost, 16), longestIsolation) //nolint:mnd // beyond the longest
}

// isolations contains what a server knows about runs in a crash loop.
type isolations struct {
	began time.Time // when the server started
	asked time.Time // when the store was last asked for crash loops
	// most is the highest number of deaths of any such run. All are isolated for as long as that run.
	// Otherwise a run that kills slowly would pass, and kill while others are isolated.
	most int64

	mu     sync.Mutex
	deaths int64                    // number of dead owners that the store had found at the last look
	death  time.Time                // when the server noticed the last one
	open   map[string]bool          // ids of isolated runs
	ended  bool                     // an isolated start has ended since the store was last asked
	driven map[string]time.Duration // how long runs that now wait were isolated
	passed map[string]int64         // number of deaths of a run when it passed
}

func newIsolations(now time.Time) *isolations {
	return &isolations{
		began: now, open: map[string]bool{}, driven: map[string]time.Duration{}, passed: map[string]int64{},
	}
}

// crashLoops starts due runs in a crash loop, as far as slots are free. It returns how many it started. The second
// result is true if no other run may start, because some are isolated.
func (s *serving) crashLoops(ctx context.Context, free int) (begun int, isolated bool, err error) {
	if open, ask := s.isolations.look(time.Now()); open || !ask {
		return 0, open, nil
	}
	now := s.e.env.Store.Now()
	q := backend.DueQuery{
		By: now, Except: s.driven(), Offers: s.server.offers, Limit: s.server.slots, CrashLoops: true,
		RunsOnly: true, Flows: s.server.flows,
	}
	due, _, err := s.e.env.Store.Due(ctx, q)
	if err != nil || len(due) == 0 {
		return 0, false, err
	}
	var blamed, others []*backend.Due
	rests := false
	for i := range due {
		if due[i].Err == nil && backend.MayKillProcesses(&due[i].Snapshot.Run, now) {
			s.isolations.most = max(s.isolations.most, due[i].Snapshot.Run.Lost)
		}
	}
	for i := range due {
		d := &due[i]
		switch {
		case d.Err != nil || !backend.MayKillProcesses(&d.Snapshot.Run, now) || s.isolations.has(&d.Snapshot.Run):
			if begun < free {
				s.begin(&NewRun{Due: *d, taken: true})
				begun++
			}
		case d.Snapshot.Run.CrashLoop.Proof >= s.server.maxLost*backend.ProofAlone:
			if !s.lived(&d.Snapshot.Run, now) {
				rests = true
			} else if err := s.setAside(ctx, &d.Snapshot.Run); err != nil {
				return begun, false, err
			}
		case d.Snapshot.Run.CrashLoop.Isolation&storage.Blamed != 0:
			blamed = append(blamed, d)
		default:
			others = append(others, d)
		}
	}
	if rests {
		return begun, false, nil
	}
	tried := others[:min(len(others), free-begun, max(s.server.slots/triedAtOnce, 1))]
	if len(blamed) > 0 && begun < free &&
		(begun == 0 && free == s.server.slots || now.Sub(blamed[0].Snapshot.Run.Due) >= besideOthers) {
		tried = blamed[:1]
	}
	for _, d := range tried {
		s.isolations.begin(d.Run)
		s.begin(&NewRun{Due: backend.Due{Run: d.Run}, tried: isolationTime(s.isolations.most)})
	}
	return begun + len(tried), len(tried) > 0, nil
}

// lived reports whether this process has survived for the duration of the run's isolated start since the last death
// that the run may have caused.
func (s *serving) lived(run *storage.Run, now time.Time) bool {
	since := s.isolations.began
	if died := run.CrashLoop.Died; died.After(since) {
		since = died
	}
	return now.Sub(since) >= isolationTime(run.Lost)
}

// try drives a run isolated.
func (s *serving) try(ctx context.Context, id string, duration time.Duration) error {
	defer s.isolations.end(id)
	d, snap, err := s.e.begun(ctx, id, s.e.env.Store.BeginIsolated, nil)
	if err != nil {
		return err
	}
	lost, began := snap.Run.Lost, time.Now()
	s.e.env.Log.Warn(logevent.RunIsolated, "run", id, "flow", snap.Run.Flow, "deaths", lost)
	passes := time.AfterFunc(duration-s.isolations.before(id), func() {
		if err := s.e.env.Store.EndIsolation(context.WithoutCancel(ctx), d.Claim); err != nil {
			s.e.env.Log.Debug(logevent.RunIsolationEnded, "run", id, "error", err)
		}
		s.isolations.pass(id, lost)
		s.pollSoon()
	})
	defer func() {
		if passes.Stop() {
			s.isolations.waits(id, time.Since(began))
		}
	}()
	return s.finish(ctx, d, snap)
}

// takeOver takes a run over before anything of it is computed, and drives it.
func (s *serving) takeOver(ctx context.Context, id string) error {
	d, snap, err := s.e.begun(ctx, id, s.e.env.Store.Begin, nil)
	if err != nil {
		return err
	}
	return s.finish(ctx, d, snap)
}

// createNext creates one new run, which is then due, and reports whether it created a run. The death of the process
// is therefore not counted against jobs that it has just claimed.
func (s *serving) createNext(ctx context.Context) (bool, error) {
	fresh, err := s.server.source(ctx, 1)
	for i := range fresh {
		one := &fresh[i]
		why := one.create(ctx, s.e.env.Store)
		if why != nil && one.Refused != nil {
			why = one.Refused(ctx, why)
		}
		if why != nil {
			s.e.env.Log.Error(logevent.RunCreateFailed, "run", one.Run, "error", why)
		}
	}
	return len(fresh) > 0, err
}

// careful reports whether a process died recently, as far as the store noticed. deaths is [backend.CrashLoops.Deaths].
func (t *isolations) careful(deaths int64, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if deaths != t.deaths {
		t.deaths, t.death = deaths, now
	}
	return !t.death.IsZero() && now.Sub(t.death) < cautious
}

// restrains reports whether the server must not start a run before it has stored the run.
func (t *isolations) restrains(deaths int64, now time.Time) bool {
	careful := t.careful(deaths, now)
	t.mu.Lock()
	defer t.mu.Unlock()
	return careful || len(t.open) > 0
}

// look reports whether a run is isolated, and if not, whether it is time to ask for crash loops.
func (t *isolations) look(now time.Time) (open, ask bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.open) > 0 {
		return true, false
	}
	if !t.ended && now.Sub(t.asked) < pollCrashLoops {
		return false, false
	}
	t.asked, t.ended = now, false
	return false, true
}

// pollCrashLoops is the pause between queries for crash loops.
const pollCrashLoops = pollInterval

func (t *isolations) isOpen() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.open) > 0
}

func (t *isolations) begin(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open[id] = true
}

func (t *isolations) end(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.open, id)
	t.ended = true
}

// before returns how long this server has already tried a run.
func (t *isolations) before(id string) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.driven[id]
}

func (t *isolations) waits(id string, after time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.driven) >= maxIsolations {
		clear(t.driven)
	}
	t.driven[id] += after
}

func (t *isolations) pass(id string, lost int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.open, id)
	delete(t.driven, id)
	if len(t.passed) >= maxIsolations { // at worst they are tried again
		clear(t.passed)
	}
	t.passed[id] = lost
	t.ended = true
}

// has reports whether a run has passed its isolated start on this server.
func (t *isolations) has(run *storage.Run) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	lost, is := t.passed[run.ID]
	return is && lost == run.Lost
}

// setAside suspends a run that kills the processes that drive it.
func (s *serving) setAside(ctx context.Context, run *storage.Run) error {
	by := &run.CrashLoop
	why := &atom.Failure{
		Code: atom.CodeLost,
		Message: fmt.Sprintf("the run kills the processes that drive it: %d died, the last of them (%v) before %s; "+
			"processes without it live on",
			run.Lost, by.By, by.Died.UTC().Format(time.RFC3339)),
	}
	s.e.env.Log.Error(logevent.RunSetAside, "run", run.ID, "flow", run.Flow,
		"code", why.Code, "message", why.Message)
	_, err := holdUnowned(ctx, s.e.env.Store, run.ID, why, nil, false)
	if _, owned := errors.AsType[*storage.OwnedError](err); owned || errors.Is(err, ErrRefused) {
		return nil // the run continues, or has ended
	}
	return err
}

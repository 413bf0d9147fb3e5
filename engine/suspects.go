package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/storage"
)

// A run that kills the processes that drive it takes their other runs down with it. The
// store counts the deaths, see [storage.Suspicion]. From the second death within an hour on,
// the runs that were lost are suspects. Serve finds the cause among them by trials:
//
//   - It tries suspects before it begins anything else, and begins nothing meanwhile. A run
//     passes its trial when it was driven for long enough, or has ended. Each death makes the
//     trials longer, so that a run that kills slowly is found too.
//   - Suspects are tried many at a time. If the process dies, those on trial are accused, and
//     the others are not blamed. Accused runs are tried one at a time, and where possible in a
//     process that drives nothing else.
//   - When enough is proved about a run, it rests. If a process lives without it for as long
//     as a trial takes, the run is set aside. If a process dies meanwhile, the run was not
//     the cause, and what was proved is forgotten.

const (
	// firstTrial is how long the trial of a run takes that was never lost; each death doubles it.
	firstTrial = time.Second
	// longestTrial bounds that: a run that needs longer to kill a process is not found.
	longestTrial = time.Minute
	// besideOthers is how long an accused run waits for a process that drives nothing else.
	besideOthers = time.Minute
	// cautious is how long after a death a run is taken over before anything of it is
	// computed, so that one that kills at once is counted, too.
	cautious = 10 * time.Second
	// triedAtOnce is which part of the slots suspects may take that are not accused yet.
	triedAtOnce = 4
	// maxTrials bounds how many trials a server remembers.
	maxTrials = 10_000
)

// trialTime is how long a run is on trial that was lost so often.
func trialTime(lost int64) time.Duration {
	return min(firstTrial<<min(lost, 16), longestTrial) //nolint:mnd // beyond the longest
}

// trials are what a server knows about suspects.
type trials struct {
	began  time.Time // when the server did
	asked  time.Time // when the store was asked for suspects
	deaths int64     // owners that the store had found dead then
	death  time.Time // when it found one
	// most is how often any suspect was lost: all are tried for as long as that one, or a run
	// that kills slowly would pass, and kill while others are on trial.
	most int64

	mu     sync.Mutex
	open   map[string]bool          // on trial
	ended  bool                     // one was since it was asked
	driven map[string]time.Duration // how long suspects were on trial that came to wait
	passed map[string]int64         // how often a run was lost that has passed
}

func newTrials(now time.Time) *trials {
	return &trials{began: now, open: map[string]bool{}, driven: map[string]time.Duration{}, passed: map[string]int64{}}
}

// careful reports whether a process has died lately, as far as the store noticed.
func (s *serving) careful(now time.Time) bool {
	if n := s.e.env.Store.Deaths(); n != s.trials.deaths {
		s.trials.deaths, s.trials.death = n, now
	}
	return !s.trials.death.IsZero() && now.Sub(s.trials.death) < cautious
}

// suspects begins suspects that are due, as far as slots are free. It returns how many, and
// whether nothing else is to be begun, as some are on trial.
func (s *serving) suspects(ctx, driving context.Context, free int) (begun int, trial bool, err error) {
	now := s.e.now()
	if open, ask := s.trials.look(now); open || !ask {
		return 0, open, nil
	}
	q := storage.DueQuery{By: now, Except: s.driven(), Offers: s.server.offers, Limit: s.server.slots, Suspects: true, RunsOnly: true, Flow: s.server.flow}
	due, _, err := s.e.env.Store.Due(ctx, q)
	if err != nil || len(due) == 0 {
		return 0, false, err
	}
	var accused, others []*storage.Due
	rests := false
	for i := range due {
		if due[i].Err == nil && due[i].Snapshot.Run.Suspect(now) {
			s.trials.most = max(s.trials.most, due[i].Snapshot.Run.Lost)
		}
	}
	for i := range due {
		d := &due[i]
		switch {
		case d.Err != nil || !d.Snapshot.Run.Suspect(now) || s.trials.has(&d.Snapshot.Run):
			if begun < free {
				s.begin(ctx, driving, &NewRun{Due: *d, taken: true})
				begun++
			}
		case d.Snapshot.Run.Suspicion.Proof >= s.server.maxLost*storage.ProofAlone:
			if !s.lived(&d.Snapshot.Run, now) {
				rests = true
			} else if err := s.setAside(ctx, &d.Snapshot.Run); err != nil {
				return begun, false, err
			}
		case d.Snapshot.Run.Suspicion.Trial&storage.Accused != 0:
			accused = append(accused, d)
		default:
			others = append(others, d)
		}
	}
	if rests {
		return begun, false, nil
	}
	tried := others[:min(len(others), free-begun, max(s.server.slots/triedAtOnce, 1))]
	if len(accused) > 0 && begun < free &&
		(begun == 0 && free == s.server.slots || now.Sub(accused[0].Snapshot.Run.Due) >= besideOthers) {
		tried = accused[:1]
	}
	for _, d := range tried {
		s.trials.begin(d.Run)
		s.begin(ctx, driving, &NewRun{Due: storage.Due{Run: d.Run}, tried: trialTime(s.trials.most)})
	}
	return begun + len(tried), len(tried) > 0, nil
}

// lived reports whether this process has lived for as long as the trial of a run takes since
// that killed the last one.
func (s *serving) lived(run *storage.Run, now time.Time) bool {
	since := s.trials.began
	if died := run.Suspicion.Died; died.After(since) {
		since = died
	}
	return now.Sub(since) >= trialTime(run.Lost)
}

// try drives a suspect that is on trial.
func (s *serving) try(ctx context.Context, quiet <-chan struct{}, id string, trial time.Duration) error {
	defer s.trials.end(id)
	d, snap, err := s.e.begun(ctx, id, s.e.env.Store.Try, nil)
	if err != nil {
		return err
	}
	lost, began := snap.Run.Lost, time.Now()
	s.e.env.Log.Warn("a run is on trial: processes died while they drove it", "run", id, "deaths", lost, "proof", snap.Run.Suspicion.Proof)
	passes := time.AfterFunc(trial-s.trials.before(id), func() {
		if err := s.e.env.Store.Acquit(context.WithoutCancel(ctx), d.Claim()); err != nil {
			s.e.env.Log.Debug("the trial of a run ends", "run", id, "error", err)
		}
		s.trials.pass(id, lost)
		s.pollSoon()
	})
	defer func() {
		if passes.Stop() {
			s.trials.waits(id, time.Since(began))
		}
	}()
	return s.finish(ctx, quiet, d, snap)
}

// takeOver drives a run that was taken over before anything of it is computed.
func (s *serving) takeOver(ctx context.Context, quiet <-chan struct{}, id string) error {
	d, snap, err := s.e.begun(ctx, id, s.e.env.Store.Begin, nil)
	if err != nil {
		return err
	}
	return s.finish(ctx, quiet, d, snap)
}

// createNext creates one new run, which is due then, and reports whether there was one: so
// the death of the process is not counted against jobs that it has just claimed.
func (s *serving) createNext(ctx context.Context) (bool, error) {
	fresh, err := s.server.source(ctx, 1)
	for i := range fresh {
		one := &fresh[i]
		why := wrapStore(one.Run, s.e.env.Store.Create(ctx, *one.Claim.New))
		if why != nil && one.Refused != nil {
			why = one.Refused(ctx, why)
		}
		if why != nil {
			s.e.env.Log.Error("a run cannot be created", "run", one.Run, "error", why)
		}
	}
	return len(fresh) > 0, err
}

// look reports whether a run is on trial, and if not, whether it is time to ask for suspects.
func (t *trials) look(now time.Time) (open, ask bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.open) > 0 {
		return true, false
	}
	if !t.ended && now.Sub(t.asked) < pollSuspects {
		return false, false
	}
	t.asked, t.ended = now, false
	return false, true
}

// pollSuspects is the pause between looks for suspects.
const pollSuspects = pollInterval

func (t *trials) begin(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open[id] = true
}

func (t *trials) end(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.open, id)
	t.ended = true
}

// before returns how long a run was on trial here already.
func (t *trials) before(id string) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.driven[id]
}

func (t *trials) waits(id string, after time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.driven) >= maxTrials {
		clear(t.driven)
	}
	t.driven[id] += after
}

func (t *trials) pass(id string, lost int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.open, id)
	delete(t.driven, id)
	if len(t.passed) >= maxTrials { // at worst they are tried again
		clear(t.passed)
	}
	t.passed[id] = lost
	t.ended = true
}

// has reports whether a run has passed its trial here.
func (t *trials) has(run *storage.Run) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	lost, is := t.passed[run.ID]
	return is && lost == run.Lost
}

// setAside suspends a run that kills the processes that drive it.
func (s *serving) setAside(ctx context.Context, run *storage.Run) error {
	by := &run.Suspicion
	why := &atom.Failure{
		Code: atom.CodeLost,
		Message: fmt.Sprintf("the run kills the processes that drive it: %d died, the last of them (%v) before %s; processes without it live on",
			run.Lost, by.By, by.Died.UTC().Format(time.RFC3339)),
	}
	s.e.env.Log.Error("a run is set aside", "run", run.ID, "reason", why.Message)
	err := holdUnowned(ctx, s.e.env.Store, run.ID, why)
	if _, owned := errors.AsType[*storage.OwnedError](err); owned || errors.Is(err, ErrRefused) {
		return nil // it goes on, or has ended, after all
	}
	return err
}

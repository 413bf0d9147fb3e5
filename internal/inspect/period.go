package inspect

import (
	"slices"
	"time"

	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A Period is a part of the time of a step: an attempt, or the time before one.
type Period struct {
	Kind   PeriodKind
	Began  time.Time
	Ended  time.Time      // zero while it continues
	Number int            // of the attempt, counted from 1 in each execution; of a pause: of the attempt after it
	Taken  bool           // of an attempt: the part after a worker took the work
	Status storage.Status // of an attempt: its result, such as FAILURE; "" while it continues

	retried bool
}

// A PeriodKind is the kind of a [Period].
type PeriodKind string

// The kinds of periods.
const (
	PeriodAttempt PeriodKind = "attempt" // the task executed, or waited as [Step.Wait] says
	PeriodPause   PeriodKind = "pause"   // the pause before the next attempt
	PeriodSlot    PeriodKind = "slot"    // the attempt waited until the process had a free slot
	PeriodQueue   PeriodKind = "queue"   // the attempt waited until a worker took its work
)

// keptPeriods is the number of attempts that a step keeps, the latest ones.
const keptPeriods = 30

// spanned begins an attempt.
func (t *Times) spanned(at time.Time) {
	number := 1
	if n := len(t.periods); n > 0 {
		last := &t.periods[n-1]
		if last.Ended.IsZero() { // of a revert: no line says when an attempt ended
			last.Ended, last.Status, last.retried = at, storage.Status(states.TaskRevertFailure.String()), true
		}
		if last.retried {
			number = last.Number + 1
		}
	}
	t.periods = append(t.periods, Period{Kind: PeriodAttempt, Began: at, Number: number})
	if len(t.periods) > keptPeriods {
		t.periods = slices.Delete(t.periods, 0, 1)
	}
}

// taken starts the part of the attempt after a worker took its work. An attempt that began at once did not wait.
func (t *Times) taken(at time.Time) {
	n := len(t.periods)
	if n == 0 || !t.periods[n-1].Ended.IsZero() || t.periods[n-1].Taken || !at.After(t.periods[n-1].Began) {
		return
	}
	last := &t.periods[n-1]
	last.Kind, last.Ended = PeriodQueue, at
	t.periods = append(t.periods, Period{Kind: PeriodAttempt, Began: at, Number: last.Number, Taken: true})
}

// closed ends the current attempt. If it has ended, it may be retried.
func (t *Times) closed(c *Change) {
	n := len(t.periods)
	if n == 0 {
		return
	}
	last, to := &t.periods[n-1], storage.Status(c.To)
	if to == storage.Status(states.TaskRetrying.String()) {
		last.retried, to = true, storage.Status(states.TaskFailure.String())
	}
	if !last.Ended.IsZero() {
		return
	}
	last.Ended, last.Status = c.ended(), to
	if c.From != states.TaskReverting.String() { // this is the attempt that is reverted
		last.Number = max(last.Number, c.Attempt)
	}
	if slot := min(c.Waited, last.Ended.Sub(last.Began)); slot >= time.Millisecond {
		wait := Period{Kind: PeriodSlot, Began: last.Began, Ended: last.Began.Add(slot), Number: last.Number}
		last.Began = wait.Ended
		t.periods = slices.Insert(t.periods, n-1, wait)
	}
}

// Periods returns the latest attempts of all executions, the waits for slots, and the pauses before further attempts,
// in order. Only the last one may continue.
func (t *Times) Periods() []Period {
	var all []Period
	for i := range t.periods {
		s := t.periods[i]
		if n := len(all); n > 0 && all[n-1].retried && s.Began.After(all[n-1].Ended) {
			all = append(all, Period{Kind: PeriodPause, Began: all[n-1].Ended, Ended: s.Began, Number: all[n-1].Number + 1})
		}
		all = append(all, s)
	}
	if n := len(all); n > 0 && all[n-1].retried {
		all = append(all, Period{Kind: PeriodPause, Began: all[n-1].Ended, Number: all[n-1].Number + 1})
	}
	return all
}

// spanWait returns what an atom waits for, or "" if it executes. The record of a Go flow's atom does not say this once
// its token was used.
func spanWait(a *storage.Atom) WaitKind {
	var spec grow.Spec
	if a.Spec.Decode(&spec) != nil {
		spec = grow.Spec{} // of a newer Ebb
	}
	switch {
	case a.Kind == storage.KindTimer:
		return WaitsForTime
	case a.Kind == storage.KindRun:
		return WaitsForRun
	case a.Signal != "":
		return WaitsForSignal
	case spec.Queue != "":
		return WaitsForWorker
	case spec.Token != "" && !spec.Ends, a.Ended == grow.EndDeferred:
		return WaitsForToken
	default:
		return ""
	}
}

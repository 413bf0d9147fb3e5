package driver

import (
	"context"

	"github.com/ebbflow/ebb/engine/internal/checkpoint"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
)

// A run is the state of the driven run that all parts of a driver share.
type run struct {
	env  *Env
	plan *flow.Plan
	s    *scheduler.Scheduler
	ctx  context.Context // context of Live; when it ends, the process wants to stop
	// storing is the context of calls to the store. It does not end with ctx, so a stop of the process does not
	// interrupt such a call.
	storing context.Context
	tasks   Tasks
	claim   storage.Claim
	about   flow.RunInfo
	secrets storage.Secrets
	trace   string // traceparent of the caller that started the run
	job     string // id of the job that the run was created for
	inTime  int64  // number of the last command that is not late, though it is applied after other messages; 0 if none
	rests   bool   // the run was at rest when it was loaded, and has accepted no command since

	next    checkpoint.Draft // the pending checkpoint, with the current time
	stale   bool             // time has passed since then, in a wait or a call
	stack   undoStack
	notices notices
	ends    ends
}

// ends are the ends of attempts that the scheduler has not received.
type ends struct {
	list  []scheduler.Event
	spare []scheduler.Event // buffer for the next ends
	held  []scheduler.Event // failures of calls, see holdFailure
}

// Grows reports whether the flow is a growing one, which is then the whole plan.
func (r *run) Grows() bool { return Grows(r.plan) }

// Grows reports whether the flow of a plan is a growing one.
func Grows(p *flow.Plan) bool { return len(p.Atoms) == 1 && p.Atoms[0].Language != nil }

// Owns reports whether the process has taken the run over: a claim of [storage.Store.Due] or [storage.ClaimNew]
// begins with the first commit.
func (r *run) Owns() bool { return r.claim.Begins <= r.next.Head.Seq }

// Claim returns the claim under which the run is driven.
func (r *run) Claim() storage.Claim { return r.claim }

// Scheduler returns the scheduler of the run.
func (r *run) Scheduler() *scheduler.Scheduler { return r.s }

// tick updates the current time, if time may have passed. Decisions that share a commit have the same time.
func (r *run) tick() {
	if r.stale {
		r.next.Now, r.stale = r.env.Store.Now(), false
	}
}

package driver

import (
	"context"
	"time"

	"github.com/ebbflow/ebb/engine/internal/checkpoint"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
)

// A run is what all parts of a driver know about the run that is driven.
type run struct {
	env  *Env
	plan *flow.Plan
	s    *scheduler.Scheduler
	ctx  context.Context // of Live: when it ends, the process wants to stop
	// storing is the context of the store's own work: that is not given up half
	// way because the process is to stop.
	storing context.Context
	tasks   Tasks
	claim   storage.Claim
	about   flow.Run
	secrets storage.Secrets
	trace   string // traceparent of the caller that began it
	job     string // id of the job that the run was created for

	next    checkpoint.Draft // what is committed next, at the time that is now
	stale   bool             // time has passed since then: something was waited for, or called
	stack   undoStack
	notices notices
	ends    ends
}

// Ends are ends of attempts that the scheduler is still to be given.
type ends struct {
	list  []scheduler.Event
	spare []scheduler.Event // buffer for the next of them
}

// Grows reports whether the flow is a growing one, which is then the whole plan.
func (r *run) Grows() bool { return Grows(r.plan) }

// Grows reports whether the flow of a plan is a growing one.
func Grows(p *flow.Plan) bool { return len(p.Atoms) == 1 && p.Atoms[0].Language != nil }

// Owns reports whether the run was taken over: a claim by [storage.Store.Due] or
// [storage.ClaimNew] begins with the first commit.
func (r *run) Owns() bool { return r.claim.Begins <= r.next.Head.Seq }

// Claim returns the claim under which the run is driven.
func (r *run) Claim() storage.Claim { return r.claim }

// Scheduler returns the scheduler of the run.
func (r *run) Scheduler() *scheduler.Scheduler { return r.s }

// tick brings now up to date, if time may have passed. What is decided on in one
// go happens at one time.
func (r *run) tick() {
	if r.stale {
		r.next.Now, r.stale = time.Now(), false
	}
}

package driver

import (
	"context"

	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/engine/internal/session"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/storage"
)

// A run is the state of the driven run that all parts of a driver share.
type run struct {
	session.Session

	env  *Env
	plan *flow.Plan
	s    *scheduler.Scheduler
	ctx  context.Context // context of Live; when it ends, the process wants to stop
	// storing is the context of calls to the store. It does not end with ctx, so a stop of the process does not
	// interrupt such a call.
	storing context.Context
	tasks   Tasks
	about   grow.RunInfo
	secrets storage.Secrets
	trace   string // traceparent of the caller that started the run
	job     string // id of the job that the run was created for
	rests   bool   // the run was at rest when it was loaded, and has accepted no command since

	stack   undoStack
	notices notices
	ends    ends
}

// ends are the ends of attempts that the scheduler has not received.
type ends struct {
	list  []scheduler.Event
	spare []scheduler.Event // buffer for the next ends
}

// Grows reports whether the flow is a growing one, which is then the whole plan.
func (r *run) Grows() bool { return r.plan.Grows() }

// Scheduler returns the scheduler of the run.
func (r *run) Scheduler() *scheduler.Scheduler { return r.s }

package engine

import (
	"errors"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/engine/internal/driver"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// logBegin logs that a run started, once it is stored, or that this process resumes it.
func logBegin(d *driver.Driver, run *storage.Run) {
	if !run.Started.IsZero() {
		d.Log().Debug(logevent.RunResumed, "run", run.ID, "flow", run.Flow, "state", run.State.String())
		return
	}
	id, name, begun := run.ID, run.Flow, d.Mode.Begun
	d.Mode.Begun = func() {
		d.Log().Info(logevent.RunStarted, "run", id, "flow", name)
		if begun != nil {
			begun()
		}
	}
}

// notBegun reports whether the first commit of a run was refused, so that there is no run. Its caller gets the error.
func notBegun(err error) bool {
	return errors.Is(err, storage.ErrExists) || errors.Is(err, storage.ErrKeyTaken) ||
		errors.Is(err, storage.ErrLimited) || errors.Is(err, storage.ErrConflict)
}

// logRest logs how a run ended, or that it is suspended.
func logRest(log hclog.Logger, run *storage.Run) {
	var code, message, path string
	if run.Failure != nil {
		code, message, path = run.Failure.Code, run.Failure.Message, run.Failure.Atom
	}
	needsPerson := run.NeedsPerson()
	switch {
	case run.State == states.FlowSuccess:
		log.Info(logevent.RunEnded, "run", run.ID, "flow", run.Flow, "state", run.State.String(),
			"duration", logevent.Duration(run.Ended.Sub(run.Started)))
	case run.State.Ended():
		log.Warn(logevent.RunEnded, logevent.Attributes("run", run.ID, "flow", run.Flow, "state", run.State.String(),
			"duration", run.Ended.Sub(run.Started), "code", code, "message", message, "path", path,
			"needs_person", needsPerson)...)
	case run.Failure != nil:
		log.Warn(logevent.RunSuspended, logevent.Attributes("run", run.ID, "flow", run.Flow,
			"code", code, "message", message, "path", path, "needs_person", needsPerson)...)
	default:
		log.Info(logevent.RunSuspended, "run", run.ID, "flow", run.Flow)
	}
}

// logStop logs that this process stopped driving a run before the run came to rest. If another owner drives the run
// now, nothing is wrong: a child run, for example, is due at once, also for others than the process of its parent.
func logStop(log hclog.Logger, run *storage.Run, why error) {
	switch {
	case errors.Is(why, driver.ErrStopped):
		log.Info(logevent.RunStopped, "run", run.ID, "flow", run.Flow)
		return
	case errors.Is(why, storage.ErrFenced):
		log.Debug(logevent.RunStopped, "run", run.ID, "flow", run.Flow, "error", why)
		return
	}
	log.Log(backend.LevelOf(why, hclog.Error), logevent.RunStopped, "run", run.ID, "flow", run.Flow, "error", why)
}

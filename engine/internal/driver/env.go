package driver

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/checkpoint"
	"github.com/ebbflow/ebb/engine/internal/executor"
	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/guard"
	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/internal/memorybudget"
	"github.com/ebbflow/ebb/storage"
)

// Env contains what the drivers of all runs of an engine share.
type Env struct {
	Store     backend.Store
	Log       hclog.Logger
	Calls     executor.Settings
	Inbox     inbox.Watcher
	Requests  Requests
	Buffers   checkpoint.Buffers
	Memory    memorybudget.Gauge
	Limits    Limits
	Each      bool    // commit every change of state separately
	Quiet     bool    // store no history
	CutWaits  float64 // share of each wait that is left out; limits of time hold
	Observers []func(Event)
	Tasks     Tasks // tasks of growing flows; may be nil
	Runs      Runs
	Suspend   <-chan struct{} // closed when all runs must come to rest
	logs      sync.Map        // the *lines of runs that are driven, or wait, by their ids
	bounded   atomic.Int32    // number of these
	GivenUp   atomic.Int64    // calls and answers that ignored a request to stop
}

// Tell passes events to the observers. If an observer panics or ends its goroutine, Tell logs that and goes on: a run
// does not depend on those who watch it.
func (e *Env) Tell(events ...Event) {
	if len(e.Observers) == 0 { // allocates nothing
		return
	}
	for i, next := 0, 0; i < len(events); {
		err := guard.Call(func() {
			for ; i < len(events); i, next = i+1, 0 {
				for next < len(e.Observers) {
					f := e.Observers[next]
					next++ // before the call, which may not return
					f(events[i])
				}
			}
		})
		if err != nil {
			e.Log.Error(logevent.ObserverFailed, "run", events[i].Run, "path", events[i].Path, "error", err)
		}
	}
}

// Tasks provides the tasks that languages name.
type Tasks interface {
	// Task returns the body of the task with that name. An error becomes the failure of the atom that names the
	// task. Its code is [atom.CodeNoTask] unless the error has a code.
	Task(name string) (atom.Body, error)
}

// A Chooser is the Chooser of package engine.
type Chooser interface {
	Instead(task, path string) bool
}

// Runs is the part of the engine through which one run affects another. Several goroutines may call its methods at
// once.
type Runs interface {
	// Prepare adds to a run that a driver is about to create what its flow says of all its runs. It returns an error
	// if the engine has no flow for the run.
	Prepare(ctx context.Context, run *storage.Run) error
	// Queue returns an error that wraps [storage.ErrNotFound] if a run names a queue for workers that does not exist.
	Queue(ctx context.Context, run *grow.RunInfo, queue string) error
	// Drives reports whether the engine can drive runs of a flow.
	Drives(flow string) bool
	// TasksOf returns the tasks of a run; nil means the engine's tasks.
	TasksOf(ctx context.Context, run *storage.Run) (Tasks, error)
	// DriveChild drives a child run in the slot of a mode, beside its parent. made is the run as the last commit
	// created it; nil if the run existed before.
	DriveChild(ctx context.Context, id string, made *storage.Run, m Mode) error
	// Release releases a claim. If the store does not answer, the process releases the run later. Otherwise the
	// process would own the run until the process dies.
	Release(ctx context.Context, claim backend.Claim)
}

// The errors with which driving a run ends.
var (
	ErrStopped = executor.ErrStopped
	ErrWaiting = errors.New("engine: the run waits")
	ErrRefused = errors.New("engine: the run does not allow the command")
	ErrChanged = errors.New("engine: the flow has changed since the run was begun")
	// ErrAnswerGivenUp is the error if the driver gave up an answer that blocked the run.
	ErrAnswerGivenUp = errors.New("engine: an answer was given up")
)

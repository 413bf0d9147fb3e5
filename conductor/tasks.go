package conductor

import (
	"context"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/storage"
)

// Call asks a run, and returns the answer of its language, see [engine.Server.Call].
func (c *Conductor) Call(ctx context.Context, run, name string, body atom.Value) (atom.Value, error) {
	return c.server.Call(ctx, run, name, body)
}

// TakeTask waits for a task and takes it, see [engine.Server.TakeTask].
func (c *Conductor) TakeTask(ctx context.Context, t storage.WorkRequest, wait time.Duration, enough <-chan struct{}) (
	*engine.Task, error,
) {
	return c.server.TakeTask(ctx, t, wait, enough)
}

// CompleteTask ends a task with a result, see [engine.Server.CompleteTask].
func (c *Conductor) CompleteTask(ctx context.Context, token string, delivery int64, result atom.Value) (
	atom.Value, error,
) {
	return c.server.CompleteTask(ctx, token, delivery, result)
}

// FailTask ends a task with a failure, see [engine.Server.FailTask].
func (c *Conductor) FailTask(ctx context.Context, token string, delivery int64, failure *atom.Failure) (
	atom.Value, error,
) {
	return c.server.FailTask(ctx, token, delivery, failure)
}

// Heartbeat keeps a task alive, see [engine.Server.Heartbeat].
func (c *Conductor) Heartbeat(ctx context.Context, token string, delivery int64, details atom.Value) (
	giveUp bool, err error,
) {
	return c.server.Heartbeat(ctx, token, delivery, details)
}

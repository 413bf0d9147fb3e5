package sfn

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/storage"
)

const (
	redrivable         = "REDRIVABLE"
	notRedrivable      = "NOT_REDRIVABLE"
	redrivableByMapRun = "REDRIVABLE_BY_MAP_RUN"

	// redrivePeriod is how long after its end an execution can be redriven.
	redrivePeriod = 14 * 24 * time.Hour
	longest       = 365 * 24 * time.Hour
)

// redrivable reports whether an execution can be redriven, and why not.
func (s *Server) redrivable(ctx context.Context, x *execution) (status, reason string, err error) {
	now := s.config.Now()
	switch status := statusOf(x.run); {
	case status == statusRunning, status == statusSucceeded:
		return notRedrivable, "Execution is " + status + " and cannot be redriven", nil
	case x.run.Undo != storage.UndoNone:
		reason, err := s.undone(ctx, x.run)
		return notRedrivable, reason, err
	case x.run.Events >= asl.MaxEvents-1:
		return notRedrivable, "Execution history event limit exceeded", nil
	case now.Sub(x.run.Created) >= longest:
		return notRedrivable, "Execution has exceeded the max execution time", nil
	case now.Sub(x.run.Ended) > redrivePeriod:
		return notRedrivable, "Execution redrivable period exceeded", nil
	case x.MapRun != "":
		return redrivableByMapRun, "", nil
	}
	a, err := s.machineAddress(x.StateMachineID)
	if err != nil {
		return "", "", err
	}
	m, err := s.machineNamed(ctx, a.name)
	switch {
	case errors.Is(err, storage.ErrNotFound), err == nil && m.Deleting:
		return notRedrivable, "State machine is in DELETING status", nil
	case err != nil:
		return "", "", err
	}
	return redrivable, "", nil
}

// redrives returns how often the execution was redriven.
func (x *execution) redrives() int64 {
	n, _ := strconv.ParseInt(x.run.Labels[asl.RedriveLabel], 10, 64) // the engine wrote it; without it, it is 0
	return n
}

// redriven returns when the execution was redriven last; nil if it was not.
func (x *execution) redriven() *aws.Time {
	at, err := time.Parse(time.RFC3339Nano, x.run.Labels[asl.RedriveDateLabel])
	if err != nil {
		return nil // the engine wrote the label, so there is none
	}
	return aws.At(at)
}

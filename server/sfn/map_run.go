package sfn

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/nodepath"
	"github.com/ebbflow/ebb/storage"
)

const mapRunType = "mapRun"

// A mapRun is a map run of an execution. Its event and its two atoms tell everything, so the cost of reading it does
// not depend on the execution's history.
type mapRun struct {
	asl.MapRun

	arn       string
	execution *execution
	flow      string // path of the map run, which is a flow
	started   time.Time
	stopped   time.Time // zero while it runs
	status    string
}

// mapRunAddress parses the ARN of a map run, and returns the execution that started it.
func (s *Server) mapRunAddress(ctx context.Context, arn string) (*address, *execution, error) {
	a, err := s.address(arn, mapRunType)
	if err != nil {
		return nil, nil, err
	}
	if !a.ours || a.label == "" || len(a.rest) != 1 {
		return nil, nil, noResource(arn)
	}
	if err := backend.CheckLabel(asl.MapRunEvent+a.rest[0], asl.MapRunStarted); err != nil {
		return nil, nil, noResource(arn)
	}
	runs, err := s.store.Runs(ctx, storage.RunQuery{
		Labels: map[string]string{asl.MapRunLabel + a.rest[0]: asl.MapRunStarted}, Limit: 1,
	})
	if err != nil {
		return nil, nil, err
	}
	if len(runs) == 0 {
		return nil, nil, noResource(arn)
	}
	x, ok := executionOf(&runs[0])
	if !ok || !strings.HasPrefix(a.end(), x.StateMachineName+"/") {
		return nil, nil, noResource(arn)
	}
	return a, x, nil
}

// mapRunAt returns the map run with an ARN.
func (s *Server) mapRunAt(ctx context.Context, arn string) (*mapRun, error) {
	a, x, err := s.mapRunAddress(ctx, arn)
	if err != nil {
		return nil, err
	}
	event, err := strconv.ParseInt(x.run.Labels[asl.MapRunEvent+a.rest[0]], 10, 64)
	if err != nil {
		return nil, noResource(arn) // the map run begins with the next commit
	}
	m, err := s.mapRun(ctx, x, event)
	if err == nil && m.arn != arn {
		err = noResource(arn)
	}
	return m, err
}

// mapRun returns the map run of an execution whose start an event reports.
func (s *Server) mapRun(ctx context.Context, x *execution, event int64) (*mapRun, error) {
	events, err := s.store.Events(ctx, x.run.ID, storage.EventQuery{After: event - 1, Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(events) == 0 || events[0].Number != event {
		return nil, errors.New("sfn: the history of the execution " + x.ExecutionID + " has no event " +
			strconv.FormatInt(event, 10))
	}
	m := &mapRun{execution: x, flow: events[0].Flow, started: events[0].Time, status: statusRunning}
	arn, _ := events[0].Details.Field("mapRunArn")
	if err := arn.Decode(&m.arn); err != nil {
		return nil, err
	}
	atoms, err := s.store.AtomsAt(ctx, x.run.ID, m.fork(), m.flow)
	if err != nil {
		return nil, err
	}
	var fork, of storage.Atom
	for i := range atoms {
		switch atoms[i].Path {
		case m.flow:
			of = atoms[i]
		default:
			fork = atoms[i]
		}
	}
	m.MapRun, _ = asl.MapRunOf(fork.Input.Data, of.Note.Data) // a purged run has neither
	m.ID = m.arn[strings.LastIndexByte(m.arn, ':')+1:]
	switch {
	case !m.Ended.IsZero() && m.Failed:
		m.status, m.stopped = statusFailed, m.Ended
	case !m.Ended.IsZero():
		m.status, m.stopped = statusSucceeded, m.Ended
	case x.run.State.Ended():
		m.status, m.stopped = statusAborted, x.run.Ended
	case !of.Live:
		m.status, m.stopped = statusAborted, of.EndedAt
	}
	return m, nil
}

// redriving returns the map run with an ARN, which an execution started, if it was redriven and runs; nil otherwise.
func (s *Server) redriving(ctx context.Context, by *execution, arn string) (*mapRun, error) {
	if by.redrives() == 0 || by.run.State.Ended() {
		return nil, nil //nolint:nilnil // none of its executions waits
	}
	m, err := s.mapRunAt(ctx, arn)
	if err != nil || m.status != statusRunning || m.Redriven.IsZero() {
		return nil, err
	}
	return m, nil
}

// statusOf returns the status of an execution of the map run. One that did not succeed before the redrive waits until
// the map run continues it. Express executions are not continued: others are started in their place.
func (m *mapRun) statusOf(x *execution) string {
	status := statusOf(x.run)
	if m == nil || x.Express || status == statusRunning || status == statusSucceeded || x.run.Ended.After(m.Redriven) {
		return status
	}
	return statusPendingRedrive
}

// statusInMapRun returns the status of an execution that a map run started.
func (s *Server) statusInMapRun(ctx context.Context, x *execution) (string, error) {
	run, err := s.store.Run(ctx, x.run.Parent)
	if errors.Is(err, storage.ErrNotFound) {
		return statusOf(x.run), nil
	}
	if err != nil {
		return "", err
	}
	var m *mapRun
	if by, ok := executionOf(&run); ok {
		if m, err = s.redriving(ctx, by, x.MapRun); err != nil {
			return "", err
		}
	}
	return m.statusOf(x), nil
}

// fork returns the path of the fork of the Map state. A flow of a further attempt is Ship@2[0].
func (m *mapRun) fork() string {
	fork, _, _ := nodepath.CutIndex(m.flow)
	if at := strings.LastIndexByte(nodepath.Last(fork), '@'); at > 0 {
		return fork[:len(fork)-len(nodepath.Last(fork))+at]
	}
	return fork
}

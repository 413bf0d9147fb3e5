package sfn

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/internal/nodepath"
	"github.com/ebbflow/ebb/storage"
)

const mapRunType = "mapRun"

// A mapRun is a map run of an execution, as the execution's history and its atoms show it.
type mapRun struct {
	asl.MapRun

	arn              string
	execution        *execution
	flow             string // path of the map run, which is a flow
	started, stopped time.Time
	status           string
	redrives         int64
	redriven         time.Time // zero if it was not redriven
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
	if err := storage.CheckLabel(asl.MapRunLabel+a.rest[0], asl.MapRunStarted); err != nil {
		return nil, nil, noResource(arn)
	}
	runs, err := s.config.Store.Runs(ctx, storage.RunQuery{
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

// mapRuns returns the map runs of an execution, in the order of their starts, as the history shows them.
func (s *Server) mapRuns(ctx context.Context, x *execution) ([]*mapRun, error) {
	var all []*mapRun
	for e, err := range storage.EachEntry(ctx, s.config.Store, x.run.ID, 0) {
		if err != nil {
			return nil, err
		}
		switch e.Type {
		case "MapRunStarted":
			m := &mapRun{execution: x, flow: e.Flow, started: e.Time, status: statusRunning}
			arn, _ := e.Details.Field("mapRunArn")
			if err := arn.Decode(&m.arn); err != nil {
				return nil, err
			}
			all = append(all, m)
		case "MapRunRedriven":
			endMapRuns(all, &e, statusRunning)
		case "MapRunSucceeded":
			endMapRuns(all, &e, statusSucceeded)
		case "MapRunFailed":
			endMapRuns(all, &e, statusFailed)
		case "MapRunAborted", "ExecutionAborted", "ExecutionFailed", "ExecutionTimedOut":
			endMapRuns(all, &e, statusAborted)
		}
	}
	return all, nil
}

// endMapRuns gives map runs the status that an event reports: the one that the event is about, or, if it is about the
// execution, all that run.
func endMapRuns(all []*mapRun, e *storage.Entry, status string) {
	for _, m := range slices.Backward(all) {
		about := m.flow == e.Flow && e.Type != "MapRunAborted" || e.Type == "MapRunAborted" && m.state() == e.Path
		switch {
		case strings.HasPrefix(e.Type, "Execution") && m.status == statusRunning:
			m.status, m.stopped = status, e.Time
		case about && (m.status == statusRunning) != (status == statusRunning):
			if m.status, m.stopped = status, e.Time; status == statusRunning {
				m.redrives, m.redriven, m.stopped = m.redrives+1, e.Time, time.Time{}
			}
			return
		}
	}
}

// state returns the name of the Map state.
func (m *mapRun) state() string { return nodepath.State(nodepath.Last(m.fork())) }

// fork returns the path of the fork of the Map state. A flow of a further attempt is Ship@2[0].
func (m *mapRun) fork() string {
	fork, _, _ := nodepath.CutIndex(m.flow)
	if at := strings.LastIndexByte(nodepath.Last(fork), '@'); at > 0 {
		return fork[:len(fork)-len(nodepath.Last(fork))+at]
	}
	return fork
}

// mapRunAt returns the map run with an ARN, with its settings.
func (s *Server) mapRunAt(ctx context.Context, arn string) (*mapRun, error) {
	a, x, err := s.mapRunAddress(ctx, arn)
	if err != nil {
		return nil, err
	}
	all, err := s.mapRuns(ctx, x)
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		if m.arn != arn {
			continue
		}
		fork, err := s.config.Store.Atom(ctx, x.run.ID, m.fork())
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return nil, err
		}
		if settings, ok := asl.MapRunOf(fork.Input.Data); ok && settings.ID == a.rest[0] {
			m.MapRun = settings
		}
		m.ID = a.rest[0]
		return m, nil
	}
	return nil, noResource(arn)
}

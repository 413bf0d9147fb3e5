package sfn

import (
	"context"

	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/storage"
)

type describeMapRunInput struct {
	MapRunARN string `json:"mapRunArn"`
}

type describeMapRunOutput struct {
	MapRunARN           string       `json:"mapRunArn"`
	ExecutionARN        string       `json:"executionArn"`
	Status              string       `json:"status"`
	Started             *aws.Time    `json:"startDate"`
	Stopped             *aws.Time    `json:"stopDate,omitempty"`
	MaxConcurrency      int          `json:"maxConcurrency"`
	ToleratedPercentage float64      `json:"toleratedFailurePercentage"`
	ToleratedCount      int64        `json:"toleratedFailureCount"`
	Items               mapRunCounts `json:"itemCounts"`
	Executions          mapRunCounts `json:"executionCounts"`
	Redrives            int          `json:"redriveCount"`
	Redriven            *aws.Time    `json:"redriveDate,omitempty"`
}

// A mapRunCounts counts the executions of a map run, or their items.
type mapRunCounts struct {
	Pending             int64 `json:"pending"`
	Running             int64 `json:"running"`
	Succeeded           int64 `json:"succeeded"`
	Failed              int64 `json:"failed"`
	TimedOut            int64 `json:"timedOut"`
	Aborted             int64 `json:"aborted"`
	Total               int64 `json:"total"`
	ResultsWritten      int64 `json:"resultsWritten"`
	FailuresUnredriable int64 `json:"failuresNotRedrivable"`
	PendingRedrive      int64 `json:"pendingRedrive"`
}

func (s *Server) describeMapRun(ctx context.Context, _ *aws.Caller, in *describeMapRunInput) (
	*describeMapRunOutput, error,
) {
	m, err := s.mapRunAt(ctx, in.MapRunARN)
	if err != nil {
		return nil, err
	}
	out := &describeMapRunOutput{
		MapRunARN: m.arn, ExecutionARN: m.execution.ExecutionID, Status: m.status, Started: aws.At(m.started),
		Stopped: aws.At(m.stopped), MaxConcurrency: m.MaxConcurrency, ToleratedPercentage: m.ToleratedPercentage,
		ToleratedCount: m.ToleratedCount, Redrives: m.Redrives, Redriven: aws.At(m.Redriven),
	}
	ends, items, err := s.mapRunEnds(ctx, m)
	out.Executions, out.Items = m.counted(&m.Executions, ends), m.counted(&m.Items, items)
	return out, err
}

// counted returns counts as AWS has them. The map run counts the executions that did not succeed; ends says how they
// ended, and so did those that a stopped map run left open: those that did not end by themselves were aborted.
func (m *mapRun) counted(c *asl.MapRunCounts, ends map[string]int64) mapRunCounts {
	n := mapRunCounts{
		Pending: c.Pending, Running: c.Open, Succeeded: c.Succeeded, FailuresUnredriable: c.NotRedrivable,
		PendingRedrive: c.PendingRedrive,
	}
	left := c.Unsuccessful
	if m.status != statusRunning { // executions that were not started stay pending
		open := c.Open + c.PendingRedrive
		n.Running, n.PendingRedrive = 0, 0
		late := min(open, max(0, ends[statusSucceeded]-c.Succeeded))
		n.Succeeded, left = n.Succeeded+late, left+open-late
	}
	n.TimedOut = min(left, ends[statusTimedOut])
	n.Failed = min(left-n.TimedOut, max(0, ends[statusFailed], c.Unsuccessful-n.TimedOut-ends[statusAborted]))
	n.Aborted = left - n.TimedOut - n.Failed
	n.Total = n.Pending + n.Running + n.PendingRedrive + n.Succeeded + left
	if m.status == statusSucceeded && m.Writes {
		n.ResultsWritten = n.Total
	}
	return n
}

// mapRunEnds counts the executions of a map run and their items by how they ended: those that were aborted or timed
// out, which are few unless the map run was aborted with them, and all of a map run that left some open.
func (s *Server) mapRunEnds(ctx context.Context, m *mapRun) (executions, items map[string]int64, err error) {
	executions, items = map[string]int64{}, map[string]int64{}
	var statuses []string
	if m.Executions.Unsuccessful > 0 {
		statuses = []string{statusAborted, statusTimedOut}
	}
	if m.status != statusRunning && m.Executions.Open+m.Executions.PendingRedrive > 0 {
		statuses = []string{statusAborted, statusTimedOut, statusFailed, statusSucceeded}
	}
	for _, status := range statuses {
		q := storage.RunQuery{Labels: map[string]string{mapRunLabel: m.ID}, Brief: true}
		byStatus(&q, status)
		if !m.Batches {
			n, err := s.store.CountRuns(ctx, q)
			if err != nil {
				return nil, nil, err
			}
			executions[status], items[status] = int64(n), int64(n)
			continue
		}
		for run, err := range storage.EachRun(ctx, s.store, q) {
			if err != nil {
				return nil, nil, err
			}
			if x, ok := executionOf(&run); ok {
				executions[status]++
				items[status] += int64(x.Items)
			}
		}
	}
	return executions, items, nil
}

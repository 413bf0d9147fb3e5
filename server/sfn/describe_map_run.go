package sfn

import (
	"context"

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
	Redrives            int64        `json:"redriveCount"`
	Redriven            *aws.Time    `json:"redriveDate,omitempty"`
}

// A mapRunCounts counts the executions of a map run, or their items.
type mapRunCounts struct {
	Pending             int `json:"pending"`
	Running             int `json:"running"`
	Succeeded           int `json:"succeeded"`
	Failed              int `json:"failed"`
	TimedOut            int `json:"timedOut"`
	Aborted             int `json:"aborted"`
	Total               int `json:"total"`
	ResultsWritten      int `json:"resultsWritten"`
	FailuresUnredriable int `json:"failuresNotRedrivable"`
	PendingRedrive      int `json:"pendingRedrive"`
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
		ToleratedCount: m.ToleratedCount, Redrives: m.redrives, Redriven: aws.At(m.redriven),
	}
	count := s.countExecutions
	if m.Batches {
		count = s.countItems
	}
	if out.Executions, err = s.countExecutions(ctx, m); err != nil {
		return nil, err
	}
	out.Items, err = count(ctx, m)
	return out, err
}

// countExecutions counts the executions of a map run by their status.
func (s *Server) countExecutions(ctx context.Context, m *mapRun) (c mapRunCounts, err error) {
	for status, n := range c.byStatus() {
		q := storage.RunQuery{Labels: map[string]string{mapRunLabel: m.ID}}
		if byStatus(&q, status); err == nil {
			*n, err = s.config.Store.CountRuns(ctx, q)
		}
		c.Total += *n
	}
	c.written(m)
	return c, err
}

// countItems counts the items of a map run whose executions process several. It reads all of the executions.
func (s *Server) countItems(ctx context.Context, m *mapRun) (c mapRunCounts, err error) {
	counts := c.byStatus()
	q := storage.RunQuery{Labels: map[string]string{mapRunLabel: m.ID}, Brief: true}
	for run, err := range storage.EachRun(ctx, s.config.Store, q) {
		if err != nil {
			return c, err
		}
		if x, ok := executionOf(&run); ok {
			*counts[statusOf(&run)] += x.Items
			c.Total += x.Items
		}
	}
	c.written(m)
	return c, nil
}

func (c *mapRunCounts) byStatus() map[string]*int {
	return map[string]*int{
		statusRunning: &c.Running, statusSucceeded: &c.Succeeded, statusFailed: &c.Failed, statusTimedOut: &c.TimedOut,
		statusAborted: &c.Aborted,
	}
}

// written counts the results: a map run that has succeeded has collected or written those of all executions.
func (c *mapRunCounts) written(m *mapRun) {
	if m.status == statusSucceeded && m.Writes {
		c.ResultsWritten = c.Total
	}
}

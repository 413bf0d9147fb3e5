package sfn

import (
	"context"
	"strings"
	"time"

	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/internal/records"
	"github.com/ebbflow/ebb/storage"
)

type listExecutionsInput struct {
	MachineARN string  `json:"stateMachineArn"`
	MapRunARN  string  `json:"mapRunArn"`
	Status     string  `json:"statusFilter"`
	Redrive    string  `json:"redriveFilter"`
	MaxResults int     `json:"maxResults"`
	NextToken  *string `json:"nextToken"`
}

type listExecutionsOutput struct {
	Executions []listedExecution `json:"executions"`
	NextToken  string            `json:"nextToken,omitempty"`
}

type listedExecution struct {
	describedExecution

	Items *int `json:"itemCount,omitempty"` // items of a distributed Map that the execution processes; nil for others
}

func (s *Server) listExecutions(ctx context.Context, caller *aws.Caller, in *listExecutionsInput) (
	*listExecutionsOutput, error,
) {
	of, err := s.executionsOf(ctx, in)
	if err != nil {
		return nil, err
	}
	p := &records.Page{
		Operation: "ListExecutions", Caller: caller, Token: in.NextToken, Size: in.MaxResults, Usual: defaultPage,
		Arguments: []string{in.MachineARN, in.MapRunARN, in.Status, in.Redrive},
	}
	var created, number int64
	if err := s.records.Numbers(ctx, p, &created, &number); err != nil {
		return nil, err
	}
	if in.NextToken != nil {
		of.After = &storage.Run{Created: time.UnixMicro(created), Number: number}
	}
	out := &listExecutionsOutput{Executions: []listedExecution{}}
	if !byStatus(&of.RunQuery, in.Status) || in.Status == statusPendingRedrive && of.redriving == nil {
		return out, nil
	}
	of.Limit = p.Most() + 1
	for {
		runs, err := s.store.Runs(ctx, of.RunQuery)
		if err != nil {
			return nil, err
		}
		for i := range runs {
			x, ok := of.has(&runs[i])
			if !ok {
				continue
			}
			if len(out.Executions) == p.Most() {
				out.NextToken, err = s.records.NextNumbers(ctx, p, of.After.Created.UnixMicro(), of.After.Number)
				return out, err
			}
			out.Executions = append(out.Executions, x)
			of.After = &storage.Run{Created: runs[i].Created, Number: runs[i].Number}
		}
		if len(runs) == 0 {
			return out, nil
		}
		of.After = &runs[len(runs)-1]
	}
}

// An executionQuery selects the executions of a machine, a version, an alias or a map run.
type executionQuery struct {
	storage.RunQuery

	prefix    string  // of the executions' ARNs
	status    string  // of the executions; "" for all
	redrive   string  // REDRIVEN, NOT_REDRIVEN or ""
	redriving *mapRun // of the executions, if it was redriven and runs
}

// has returns the execution of a run; false if the query does not select it. The query of the store also selects the
// runs that other clients of Ebb started of a flow with the name of the machine.
func (q *executionQuery) has(run *storage.Run) (x listedExecution, ok bool) {
	e, ok := executionOf(run)
	if !ok || !strings.HasPrefix(e.ExecutionID, q.prefix) {
		return x, false
	}
	x.describedExecution = e.describe()
	if x.Status = q.redriving.statusOf(e); q.status != "" && q.status != x.Status {
		return x, false
	}
	if redriven := x.Redrives != nil && *x.Redrives > 0; q.redrive == "REDRIVEN" && !redriven ||
		q.redrive == "NOT_REDRIVEN" && redriven {
		return x, false
	}
	if e.MapRun == "" {
		return x, true
	}
	x.Items = &e.Items
	return x, true
}

// executionsOf returns the query for the executions that a client asks for.
func (s *Server) executionsOf(ctx context.Context, in *listExecutionsInput) (*executionQuery, error) {
	switch {
	case in.MachineARN == "" && in.MapRunARN == "":
		return nil, invalid("", "Must provide a StateMachine ARN or MapRun ARN")
	case in.MachineARN != "" && in.MapRunARN != "":
		return nil, invalid("", "Must specify exactly one of stateMachineArn and mapRunArn")
	}
	q := &executionQuery{status: in.Status, redrive: in.Redrive, RunQuery: storage.RunQuery{Brief: true}}
	if in.MapRunARN != "" {
		a, by, err := s.mapRunAddress(ctx, in.MapRunARN)
		if err != nil {
			return nil, err
		}
		q.Labels = map[string]string{mapRunLabel: a.rest[0]}
		q.redriving, err = s.redriving(ctx, by, in.MapRunARN)
		return q, err
	}
	a, err := s.machineAddress(in.MachineARN)
	if err != nil {
		return nil, err
	}
	m, err := s.machine(ctx, a)
	if err != nil {
		return nil, err
	}
	if m.Type == typeExpress {
		return nil, errTypeNotSupported
	}
	q.Flow, q.prefix = a.name, s.arn(executionType, a.name)+":"
	switch {
	case a.version() > 0:
		q.Labels = map[string]string{versionLabel: a.text}
	case a.alias() != "":
		q.Labels = map[string]string{aliasLabel: a.text}
	}
	return q, nil
}

var errTypeNotSupported = aws.Errorf("StateMachineTypeNotSupported",
	"This operation is not supported by this type of state machine")

// Labels of the runs of executions, by which lists find them.
const (
	versionLabel = "sfn.version" // ARN of the version that the execution was started with
	aliasLabel   = "sfn.alias"   // ARN of the alias that the execution was started with
	mapRunLabel  = "sfn.map-run" // ID of the map run that started the execution
)

package sfn

import (
	"context"
	"strings"

	"github.com/ebbflow/ebb/server/aws"
)

type listMapRunsInput struct {
	ExecutionARN string  `json:"executionArn"`
	MaxResults   int     `json:"maxResults"`
	NextToken    *string `json:"nextToken"`
}

type listMapRunsOutput struct {
	MapRuns   []listedMapRun `json:"mapRuns"`
	NextToken string         `json:"nextToken,omitempty"`
}

type listedMapRun struct {
	ExecutionARN string    `json:"executionArn"`
	MapRunARN    string    `json:"mapRunArn"`
	MachineARN   string    `json:"stateMachineArn"`
	Started      *aws.Time `json:"startDate"`
	Stopped      *aws.Time `json:"stopDate,omitempty"`
}

// listMapRuns lists the map runs of an execution, the latest first.
func (s *Server) listMapRuns(ctx context.Context, caller *aws.Caller, in *listMapRunsInput) (
	*listMapRunsOutput, error,
) {
	x, err := s.execution(ctx, in.ExecutionARN, executionType)
	if err != nil {
		return nil, err
	}
	p := &page{
		operation: "ListMapRuns", caller: caller, token: in.NextToken, size: in.MaxResults,
		arguments: []string{in.ExecutionARN},
	}
	all, err := s.mapRuns(ctx, x)
	if err != nil {
		return nil, err
	}
	before := int64(len(all))
	if err := s.numbers(ctx, p, &before); err != nil {
		return nil, err
	}
	out := &listMapRunsOutput{MapRuns: []listedMapRun{}}
	for i := min(before, int64(len(all))) - 1; i >= 0; i-- {
		if len(out.MapRuns) == p.most() {
			out.NextToken, err = s.nextNumbers(ctx, p, i+1)
			break
		}
		m := all[i]
		label, _, _ := strings.Cut(strings.TrimPrefix(m.arn, s.arn(mapRunType, x.StateMachineName)+"/"), ":")
		out.MapRuns = append(out.MapRuns, listedMapRun{
			ExecutionARN: x.ExecutionID, MapRunARN: m.arn, MachineARN: x.StateMachineID + "/" + label,
			Started: aws.At(m.started), Stopped: aws.At(m.stopped),
		})
	}
	return out, err
}

package sfn

import (
	"context"
	"strings"

	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/internal/records"
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
	p := &records.Page{
		Operation: "ListMapRuns", Caller: caller, Token: in.NextToken, Size: in.MaxResults, Usual: defaultPage,
		Arguments: []string{in.ExecutionARN},
	}
	all, err := s.mapRuns(ctx, x)
	if err != nil {
		return nil, err
	}
	before := int64(len(all))
	if err := s.records.Numbers(ctx, p, &before); err != nil {
		return nil, err
	}
	out := &listMapRunsOutput{MapRuns: []listedMapRun{}}
	for i := min(before, int64(len(all))) - 1; i >= 0; i-- {
		if len(out.MapRuns) == p.Most() {
			out.NextToken, err = s.records.NextNumbers(ctx, p, i+1)
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

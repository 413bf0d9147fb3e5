package sfn

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/flow/asl"
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
	before := int64(math.MaxInt64)
	if err := s.records.Numbers(ctx, p, &before); err != nil {
		return nil, err
	}
	out := &listMapRunsOutput{MapRuns: []listedMapRun{}}
	for _, event := range x.mapRuns() {
		if event >= before {
			continue
		}
		if len(out.MapRuns) == p.Most() {
			out.NextToken, err = s.records.NextNumbers(ctx, p, before)
			break
		}
		m, err := s.mapRun(ctx, x, event)
		if err != nil {
			return nil, err
		}
		label, _, _ := strings.Cut(strings.TrimPrefix(m.arn, s.arn(mapRunType, x.StateMachineName)+"/"), ":")
		out.MapRuns = append(out.MapRuns, listedMapRun{
			ExecutionARN: x.ExecutionID, MapRunARN: m.arn, MachineARN: x.StateMachineID + "/" + label,
			Started: aws.At(m.started), Stopped: aws.At(m.stopped),
		})
		before = event
	}
	return out, err
}

// mapRuns returns the numbers of the events that report the starts of the execution's map runs, the latest first.
func (x *execution) mapRuns() []int64 {
	var events []int64
	for key, value := range x.run.Labels {
		if strings.HasPrefix(key, asl.MapRunEvent) {
			if event, err := strconv.ParseInt(value, 10, 64); err == nil {
				events = append(events, event)
			}
		}
	}
	slices.Sort(events)
	slices.Reverse(events)
	return events
}

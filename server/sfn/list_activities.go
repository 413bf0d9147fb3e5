package sfn

import (
	"context"

	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/internal/records"
	"github.com/ebbflow/ebb/storage"
)

type listActivitiesOutput struct {
	Activities []activityItem `json:"activities"`
	NextToken  string         `json:"nextToken,omitempty"`
}

type activityItem struct {
	ARN          string    `json:"activityArn"`
	Name         string    `json:"name"`
	CreationDate *aws.Time `json:"creationDate"`
}

// listActivities lists the activities by name.
func (s *Server) listActivities(ctx context.Context, caller *aws.Caller, in *listInput) (
	*listActivitiesOutput, error,
) {
	out := &listActivitiesOutput{Activities: []activityItem{}}
	p := records.Page{
		Operation: "ListActivities", Caller: caller, Token: in.NextToken, Size: in.MaxResults, Usual: defaultPage,
	}
	q := storage.RecordQuery{Kind: activityKind}
	var err error
	out.NextToken, err = s.records.Each(ctx, &p, q, func(r *storage.NamedRecord) error {
		out.Activities = append(out.Activities, activityItem{s.arn(activityType, r.Key), r.Key, aws.At(r.Created)})
		return nil
	})
	return out, err
}

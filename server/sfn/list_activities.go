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
	p.Wanted = func(r *storage.NamedRecord) (bool, error) { return s.lists(r.Key), nil }
	q := storage.RecordQuery{Kind: activityKind, Prefix: s.ownKey("")}
	var err error
	out.NextToken, err = s.records.Each(ctx, &p, q, func(r *storage.NamedRecord) error {
		_, name := s.home.Named(r.Key)
		out.Activities = append(out.Activities, activityItem{s.arn(activityType, name), name, aws.At(r.Created)})
		return nil
	})
	return out, err
}

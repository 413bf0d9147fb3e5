package sfn

import (
	"context"

	"github.com/ebbflow/ebb/server/aws"
)

type listTagsForResourceInput struct {
	ARN string `json:"resourceArn"`
}

type listTagsForResourceOutput struct {
	Tags []tag `json:"tags"`
}

// listTagsForResource lists the tags of a machine or an activity, in the order in which they were added.
func (s *Server) listTagsForResource(ctx context.Context, _ *aws.Caller, in *listTagsForResourceInput) (
	*listTagsForResourceOutput, error,
) {
	out := &listTagsForResourceOutput{Tags: []tag{}}
	err := s.changeTags(ctx, in.ARN, func(tags []tag) ([]tag, error) {
		out.Tags = append(out.Tags, tags...)
		return tags, nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

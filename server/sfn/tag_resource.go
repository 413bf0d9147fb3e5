package sfn

import (
	"context"

	"github.com/ebbflow/ebb/server/aws"
)

type tagResourceInput struct {
	ARN  string `json:"resourceArn"`
	Tags []tag  `json:"tags"`
}

// tagResource adds tags to a machine or an activity.
func (s *Server) tagResource(ctx context.Context, _ *aws.Caller, in *tagResourceInput) (*empty, error) {
	err := s.changeTags(ctx, in.ARN, func(tags []tag) ([]tag, error) { return s.tagged(tags, in.Tags, in.ARN) })
	if err != nil {
		return nil, err
	}
	return &empty{}, nil
}

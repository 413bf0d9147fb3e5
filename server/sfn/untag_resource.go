package sfn

import (
	"context"
	"slices"

	"github.com/ebbflow/ebb/server/aws"
)

type untagResourceInput struct {
	ARN  string   `json:"resourceArn"`
	Keys []string `json:"tagKeys"`
}

// untagResource removes tags from a machine or an activity.
func (s *Server) untagResource(ctx context.Context, _ *aws.Caller, in *untagResourceInput) (*empty, error) {
	err := s.changeTags(ctx, in.ARN, func(tags []tag) ([]tag, error) {
		return slices.DeleteFunc(slices.Clone(tags), func(t tag) bool { return slices.Contains(in.Keys, t.Key) }), nil
	})
	if err != nil {
		return nil, err
	}
	return &empty{}, nil
}

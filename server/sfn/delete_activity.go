package sfn

import (
	"context"

	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/storage"
)

// deleteActivity deletes an activity. If there is no such activity, nothing is left to do.
func (s *Server) deleteActivity(ctx context.Context, _ *aws.Caller, in *activityInput) (*empty, error) {
	a, err := s.activityAddress(in.ARN)
	if err != nil || !a.ours {
		return &empty{}, err
	}
	_, err = s.store.WriteRecords(ctx, storage.RecordWrite{
		Kind: activityKind, Key: s.ownKey(a.name), Was: storage.AnyRevision, Delete: true,
	})
	return &empty{}, err
}

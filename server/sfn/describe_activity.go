package sfn

import (
	"context"

	"github.com/ebbflow/ebb/server/aws"
)

type activityInput struct {
	ARN string `json:"activityArn"`
}

type describeActivityOutput struct {
	ARN          string      `json:"activityArn"`
	Name         string      `json:"name"`
	CreationDate *aws.Time   `json:"creationDate"`
	Encryption   *encryption `json:"encryptionConfiguration"`
}

// describeActivity describes an activity.
func (s *Server) describeActivity(ctx context.Context, _ *aws.Caller, in *activityInput) (
	*describeActivityOutput, error,
) {
	v, err := s.activityAt(ctx, in.ARN)
	if err != nil {
		return nil, err
	}
	return &describeActivityOutput{in.ARN, v.Name, aws.At(v.record.Created), v.Encryption}, nil
}

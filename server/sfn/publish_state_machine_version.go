package sfn

import (
	"cmp"
	"context"

	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/internal/records"
	"github.com/ebbflow/ebb/storage"
)

type publishInput struct {
	ARN         string  `json:"stateMachineArn"`
	RevisionID  *string `json:"revisionId"`
	Description string  `json:"description"`
}

type publishOutput struct {
	CreationDate *aws.Time `json:"creationDate"`
	VersionARN   string    `json:"stateMachineVersionArn"`
}

// publishStateMachineVersion publishes the current revision of a machine. If it was published before, the answer is
// that of the first call.
func (s *Server) publishStateMachineVersion(ctx context.Context, _ *aws.Caller, in *publishInput) (
	*publishOutput, error,
) {
	a, err := s.machineAddress(in.ARN)
	if err != nil {
		return nil, err
	}
	if len(a.rest) > 0 {
		return nil, noMachine(in.ARN)
	}
	number := 0
	written, err := s.change(ctx, a, func(m *machine) (writes []storage.RecordWrite, err error) {
		if current := cmp.Or(m.ID, initialRevision); in.RevisionID != nil && *in.RevisionID != current {
			return nil, aws.Errorf("ConflictException", "Failed to publish the State Machine version for revision %s. The "+
				"current State Machine revision is %s.", *in.RevisionID, current)
		}
		number, writes, err = s.publish(ctx, m, in.Description)
		if err == nil && len(writes) == 0 {
			err = records.ErrUnchanged
		}
		return writes, err
	})
	if err != nil {
		return nil, err
	}
	out := &publishOutput{VersionARN: s.versionARN(a.name, number)}
	if written == nil {
		v, err := s.version(ctx, a.name, number)
		out.CreationDate = aws.At(v.record.Created)
		return out, err
	}
	out.CreationDate = aws.At(written[0].Created)
	return out, nil
}

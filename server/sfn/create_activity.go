package sfn

import (
	"context"
	"errors"
	"reflect"

	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/internal/records"
	"github.com/ebbflow/ebb/storage"
)

type createActivityInput struct {
	Name       string      `json:"name"`
	Tags       []tag       `json:"tags"`
	Encryption *encryption `json:"encryptionConfiguration"`
}

type createActivityOutput struct {
	ARN          string    `json:"activityArn"`
	CreationDate *aws.Time `json:"creationDate"`
}

// createActivity creates an activity. If the activity exists and nothing differs except its tags, the answer is that of
// the call that created it.
func (s *Server) createActivity(ctx context.Context, _ *aws.Caller, in *createActivityInput) (
	*createActivityOutput, error,
) {
	if err := checkName(in.Name); err != nil {
		return nil, err
	}
	if err := checkEncryption(in.Encryption); err != nil {
		return nil, err
	}
	arn := s.arn(activityType, in.Name)
	labels, err := s.tagged(nil, in.Tags, arn)
	if err != nil {
		return nil, err
	}
	v := &activity{key: s.ownKey(in.Name), Name: in.Name, Tags: labels, Encryption: completedEncryption(in.Encryption)}
	err = records.Retried(ctx, func() error {
		old, err := s.activity(ctx, in.Name)
		switch {
		case err == nil && !reflect.DeepEqual(old.Encryption, v.Encryption):
			return aws.Errorf("ActivityAlreadyExists", "Activity Already Exists: '%s'", arn)
		case err == nil:
			v = old
			return nil
		case !errors.Is(err, storage.ErrNotFound):
			return err
		}
		count, err := s.store.CountRecords(ctx, activityKind, s.ownKey(""))
		if err != nil {
			return err
		}
		if err := s.quotas.Within(QuotaActivities, int64(count)+1, "ActivityLimitExceeded"); err != nil {
			return err
		}
		written, err := s.store.WriteRecords(ctx, v.write())
		if err == nil {
			v.record = written[0]
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return &createActivityOutput{arn, aws.At(v.record.Created)}, nil
}

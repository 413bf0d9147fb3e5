package sfn

import (
	"context"
	"errors"

	"github.com/ebbflow/ebb/server/internal/records"
	"github.com/ebbflow/ebb/storage"
)

// An activity is the record of an activity.
type activity struct {
	Name       string      `json:"name"`
	Tags       []tag       `json:"tags,omitempty"`
	Encryption *encryption `json:"encryptionConfiguration"`

	key    string
	record storage.NamedRecord
}

// write returns the write of the activity as it is now.
func (v *activity) write() storage.RecordWrite {
	return records.Put(activityKind, v.key, v.record.Revision, v)
}

// activity returns the activity with a name, or [storage.ErrNotFound].
func (s *Server) activity(ctx context.Context, name string) (*activity, error) {
	v := &activity{key: s.ownKey(name)}
	var err error
	v.record, err = s.records.Read(ctx, activityKind, v.key, v)
	return v, err
}

// activityAddress parses the ARN of an activity.
func (s *Server) activityAddress(arn string) (*address, error) {
	a, err := s.address(arn, activityType)
	if err == nil && (a.label != "" || len(a.rest) > 0) {
		err = invalidARN(arn)
	}
	return a, err
}

// activityAt returns the activity of an ARN, or AWS's error.
func (s *Server) activityAt(ctx context.Context, arn string) (*activity, error) {
	a, err := s.activityAddress(arn)
	if err != nil {
		return nil, err
	}
	if !a.ours {
		return nil, s.elsewhere(a, noActivity(arn))
	}
	v, err := s.activity(ctx, a.name)
	if errors.Is(err, storage.ErrNotFound) {
		err = noActivity(arn)
	}
	return v, err
}

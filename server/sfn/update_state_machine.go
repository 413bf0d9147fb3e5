package sfn

import (
	"context"
	"errors"
	"reflect"

	"github.com/google/uuid"

	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/internal/records"
	"github.com/ebbflow/ebb/storage"
)

type updateStateMachineInput struct {
	ARN                string      `json:"stateMachineArn"`
	Definition         *string     `json:"definition"`
	RoleARN            *string     `json:"roleArn"`
	Logging            *logging    `json:"loggingConfiguration"`
	Tracing            *tracing    `json:"tracingConfiguration"`
	Publish            bool        `json:"publish"`
	VersionDescription string      `json:"versionDescription"`
	Encryption         *encryption `json:"encryptionConfiguration"`
}

type updateStateMachineOutput struct {
	UpdateDate *aws.Time `json:"updateDate"`
	RevisionID string    `json:"revisionId,omitempty"`
	VersionARN string    `json:"stateMachineVersionArn,omitempty"`
}

// updateStateMachine gives a machine a new revision, for the executions that start from then on. If nothing differs,
// the machine keeps its revision.
func (s *Server) updateStateMachine(ctx context.Context, _ *aws.Caller, in *updateStateMachineInput) (
	*updateStateMachineOutput, error,
) {
	a, err := s.machineAddress(in.ARN)
	if err != nil {
		return nil, err
	}
	switch {
	case len(a.rest) > 0:
		return nil, noMachine(in.ARN)
	case in.Definition == nil && in.RoleARN == nil && in.Logging == nil && in.Tracing == nil && in.Encryption == nil:
		return nil, aws.Errorf("MissingRequiredParameter", "Either the definition, the role ARN, the LoggingConfiguration, "+
			"or the TracingConfiguration must be specified")
	case !in.Publish && in.VersionDescription != "":
		return nil, errDescription
	}
	out := &updateStateMachineOutput{}
	_, err = s.change(ctx, a, func(m *machine) ([]storage.RecordWrite, error) {
		next, err := s.revised(ctx, m, in)
		if err != nil {
			return nil, err
		}
		unchanged := reflect.DeepEqual(next, m.revision)
		out.UpdateDate = aws.At(m.Updated)
		if !unchanged {
			next.ID, next.Updated = uuid.NewString(), s.config.Now()
			m.revision, m.Published = next, 0
			out.UpdateDate = aws.At(next.Updated)
		}
		out.RevisionID = m.ID
		if m.Published != 0 && in.VersionDescription != "" { // a version keeps its description, so another needs a version
			old, err := s.version(ctx, m.Name, m.Published)
			if err != nil && !errors.Is(err, storage.ErrNotFound) {
				return nil, err
			}
			if old.Description != in.VersionDescription {
				m.Published = 0
			}
		}
		if !in.Publish {
			if unchanged {
				err = records.ErrUnchanged
			}
			return nil, err
		}
		number, writes, err := s.publish(ctx, m, in.VersionDescription)
		out.VersionARN = s.versionARN(m.Name, number)
		if err == nil && unchanged && len(writes) == 0 {
			err = records.ErrUnchanged
		}
		return writes, err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// revised returns the revision of a machine with the parameters that a call sets.
func (s *Server) revised(ctx context.Context, m *machine, in *updateStateMachineInput) (revision, error) {
	next := m.revision
	given := next.settings
	if in.RoleARN != nil {
		given.RoleARN = *in.RoleARN
	}
	if in.Logging != nil {
		given.Logging = in.Logging
	}
	if in.Tracing != nil {
		given.Tracing = in.Tracing
	}
	if in.Encryption != nil {
		given.Encryption = in.Encryption
	}
	var err error
	if next.settings, err = s.completed(given); err != nil {
		return next, err
	}
	if in.Definition != nil {
		if err := s.check(*in.Definition, m.Type); err != nil {
			return next, err
		}
		if next.Definition, err = s.keepDefinition(ctx, m.Name, *in.Definition); err != nil {
			return next, err
		}
	}
	return next, nil
}

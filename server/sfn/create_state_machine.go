package sfn

import (
	"context"
	"errors"
	"reflect"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/internal/records"
	"github.com/ebbflow/ebb/storage"
)

type createStateMachineInput struct {
	Name               string      `json:"name"`
	Definition         string      `json:"definition"`
	RoleARN            string      `json:"roleArn"`
	Type               string      `json:"type"`
	Logging            *logging    `json:"loggingConfiguration"`
	Tags               []tag       `json:"tags"`
	Tracing            *tracing    `json:"tracingConfiguration"`
	Publish            bool        `json:"publish"`
	VersionDescription string      `json:"versionDescription"`
	Encryption         *encryption `json:"encryptionConfiguration"`
}

type createStateMachineOutput struct {
	ARN          string    `json:"stateMachineArn"`
	CreationDate *aws.Time `json:"creationDate"`
	VersionARN   string    `json:"stateMachineVersionArn,omitempty"`
}

// errDescription refuses the description of a version that is not published.
var errDescription = invalid("", "Version description can only be set when publish is true")

// createStateMachine creates a machine. If the machine exists and nothing differs except its role and tags, it keeps
// them, and the answer is the same as that of the call that created the machine.
func (s *Server) createStateMachine(ctx context.Context, _ *aws.Caller, in *createStateMachineInput) (
	*createStateMachineOutput, error,
) {
	if err := checkName(in.Name); err != nil {
		return nil, err
	}
	if !in.Publish && in.VersionDescription != "" {
		return nil, errDescription
	}
	if in.Type == "" {
		in.Type = typeStandard
	}
	given, err := s.completed(settings{in.RoleARN, in.Logging, in.Tracing, in.Encryption})
	if err != nil {
		return nil, err
	}
	labels, err := s.tagged(nil, in.Tags, s.machineARN(in.Name))
	if err != nil {
		return nil, err
	}
	if err := s.check(in.Definition, in.Type); err != nil {
		return nil, err
	}
	m := &machine{
		revision: revision{settings: given, Definition: backend.DefinitionHash(in.Name, language, []byte(in.Definition))},
		key:      s.key(in.Name), Name: in.Name, Type: in.Type,
		Creation: creation{in.Publish, in.VersionDescription}, Tags: labels,
	}
	var out *createStateMachineOutput
	err = records.Retried(ctx, func() error {
		old, err := s.machineNamed(ctx, in.Name)
		switch {
		case err == nil:
			out, err = s.repeated(old, m)
			return err
		case !errors.Is(err, storage.ErrNotFound):
			return err
		}
		out, err = s.create(ctx, m, in.Definition)
		return err
	})
	return out, err
}

// repeated answers a call that creates a machine which exists.
func (s *Server) repeated(old, m *machine) (*createStateMachineOutput, error) {
	out, given := s.created(old, old.record), m.settings
	given.RoleARN = old.RoleARN
	switch {
	case old.Deleting:
		return nil, machineDeleting(out.ARN)
	case old.Definition != m.Definition || old.Type != m.Type || old.Creation != m.Creation ||
		!reflect.DeepEqual(old.settings, given):
		return nil, aws.Errorf("StateMachineAlreadyExists", "State Machine Already Exists: '%s'", out.ARN)
	}
	return out, nil
}

// created returns the answer for a machine and its record.
func (s *Server) created(m *machine, record storage.NamedRecord) *createStateMachineOutput {
	out := &createStateMachineOutput{ARN: s.machineARN(m.Name), CreationDate: aws.At(record.Created)}
	if m.Creation.Publish {
		out.VersionARN = s.versionARN(m.Name, 1)
	}
	return out
}

// create writes a new machine.
func (s *Server) create(ctx context.Context, m *machine, text string) (*createStateMachineOutput, error) {
	count, err := s.store.CountRecords(ctx, machineKind, s.ownKey(""))
	if err != nil {
		return nil, err
	}
	if err := s.quotas.Within(QuotaMachines, int64(count)+1, "StateMachineLimitExceeded"); err != nil {
		return nil, err
	}
	if _, err := s.keepDefinition(ctx, m.Name, text); err != nil {
		return nil, err
	}
	created := *m // a conflict must not leave a version number behind
	created.Updated = s.config.Now()
	var writes []storage.RecordWrite
	if m.Creation.Publish {
		if _, writes, err = s.publish(ctx, &created, m.Creation.Description); err != nil {
			return nil, err
		}
	}
	written, err := s.store.WriteRecords(ctx, append([]storage.RecordWrite{created.write()}, writes...)...)
	if err != nil {
		return nil, err
	}
	return s.created(&created, written[0]), nil
}

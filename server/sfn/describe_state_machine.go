package sfn

import (
	"context"
	"errors"
	"fmt"

	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/storage"
)

type describeStateMachineInput struct {
	ARN      string `json:"stateMachineArn"`
	Included string `json:"includedData"`
}

type describeStateMachineOutput struct {
	described

	ARN          string    `json:"stateMachineArn"`
	Status       string    `json:"status"`
	Type         string    `json:"type"`
	CreationDate *aws.Time `json:"creationDate"`
	Description  string    `json:"description,omitempty"`
}

// described is what the descriptions of a machine, and of the machine of an execution, have in common.
type described struct {
	settings

	Name       string              `json:"name"`
	Definition string              `json:"definition"`
	RevisionID string              `json:"revisionId,omitempty"`
	Variables  map[string][]string `json:"variableReferences,omitempty"`
}

// metadataOnly is the includedData of a description without texts that a client may have encrypted.
const metadataOnly = "METADATA_ONLY"

// describeStateMachine describes a machine, or a version of it.
func (s *Server) describeStateMachine(ctx context.Context, _ *aws.Caller, in *describeStateMachineInput) (
	*describeStateMachineOutput, error,
) {
	a, err := s.machineAddress(in.ARN)
	if err != nil {
		return nil, err
	}
	m, err := s.machine(ctx, a)
	if err != nil {
		return nil, err
	}
	out := &describeStateMachineOutput{
		ARN: a.text, Status: "ACTIVE", Type: m.Type, CreationDate: aws.At(m.record.Created),
	}
	if m.Deleting {
		out.Status = "DELETING"
	}
	current := &m.revision
	if len(a.rest) > 0 {
		v, err := s.version(ctx, m.Name, a.version())
		if errors.Is(err, storage.ErrNotFound) {
			return nil, noMachine(in.ARN)
		}
		if err != nil {
			return nil, err
		}
		current, out.Description, out.CreationDate = &v.revision, v.Description, aws.At(v.record.Created)
	}
	out.described, err = s.describe(ctx, m.Name, current, in.Included)
	return out, err
}

// describe describes a revision of a machine.
func (s *Server) describe(ctx context.Context, machine string, r *revision, included string) (described, error) {
	out := described{settings: r.settings, Name: machine, Definition: "{}", RevisionID: r.ID}
	if included == metadataOnly {
		return out, nil
	}
	def, err := s.store.Definition(ctx, r.Definition)
	if err != nil {
		return out, fmt.Errorf("sfn: the definition of the machine %q: %w", machine, err)
	}
	out.Definition = string(def.Text)
	if m, err := asl.Parse(machine, def.Text, asl.Accepted(), asl.Placeholders()); err == nil {
		out.Variables = m.VariableReferences()
	}
	return out, nil
}

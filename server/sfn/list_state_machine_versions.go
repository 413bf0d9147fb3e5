package sfn

import (
	"context"

	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/internal/records"
	"github.com/ebbflow/ebb/storage"
)

type listOfMachineInput struct {
	ARN        string  `json:"stateMachineArn"`
	NextToken  *string `json:"nextToken"`
	MaxResults int     `json:"maxResults"`
}

type listStateMachineVersionsOutput struct {
	Versions  []versionItem `json:"stateMachineVersions"`
	NextToken string        `json:"nextToken,omitempty"`
}

type versionItem struct {
	ARN          string    `json:"stateMachineVersionArn"`
	CreationDate *aws.Time `json:"creationDate"`
}

// listStateMachineVersions lists the versions of a machine, the newest first. A machine that does not exist has none:
// AWS's model has no error for it.
func (s *Server) listStateMachineVersions(ctx context.Context, caller *aws.Caller, in *listOfMachineInput) (
	*listStateMachineVersionsOutput, error,
) {
	a, err := s.machineAddress(in.ARN)
	if err != nil {
		return nil, err
	}
	if len(a.rest) > 0 {
		return nil, invalidARN(in.ARN)
	}
	if _, err := s.machine(ctx, a); err != nil && !isCode(err, "StateMachineDoesNotExist") {
		return nil, err
	}
	out := &listStateMachineVersionsOutput{Versions: []versionItem{}}
	if !a.ours {
		return out, nil
	}
	p := records.Page{
		Operation: "ListStateMachineVersions", Caller: caller, Arguments: []string{a.text},
		Token: in.NextToken, Size: in.MaxResults, Usual: defaultPage,
	}
	query := storage.RecordQuery{Kind: versionKind, Prefix: s.key(a.name) + ":", Reverse: true}
	out.NextToken, err = s.records.Each(ctx, &p, query, func(r *storage.NamedRecord) error {
		v := &version{}
		if err := records.Decode(r, v); err != nil {
			return err
		}
		out.Versions = append(out.Versions, versionItem{s.versionARN(a.name, v.Number), aws.At(r.Created)})
		return nil
	})
	return out, err
}

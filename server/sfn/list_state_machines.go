package sfn

import (
	"context"

	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/internal/records"
	"github.com/ebbflow/ebb/storage"
)

type listInput struct {
	MaxResults int     `json:"maxResults"`
	NextToken  *string `json:"nextToken"`
}

type listStateMachinesOutput struct {
	Machines  []machineItem `json:"stateMachines"`
	NextToken string        `json:"nextToken,omitempty"`
}

type machineItem struct {
	ARN          string    `json:"stateMachineArn"`
	Name         string    `json:"name"`
	Type         string    `json:"type"`
	CreationDate *aws.Time `json:"creationDate"`
}

// listStateMachines lists the machines by name.
func (s *Server) listStateMachines(ctx context.Context, caller *aws.Caller, in *listInput) (
	*listStateMachinesOutput, error,
) {
	out := &listStateMachinesOutput{Machines: []machineItem{}}
	p := records.Page{
		Operation: "ListStateMachines", Caller: caller, Token: in.NextToken, Size: in.MaxResults, Usual: defaultPage,
	}
	p.Wanted = func(r *storage.NamedRecord) (bool, error) {
		_, name := s.home.Named(r.Key)
		return s.key(name) == r.Key && (s.lists(r.Key) || s.shares(name)), nil
	}
	q := storage.RecordQuery{Kind: machineKind}
	var err error
	out.NextToken, err = s.records.Each(ctx, &p, q, func(r *storage.NamedRecord) error {
		m := &machine{record: *r}
		if err := records.Decode(r, m); err != nil {
			return err
		}
		out.Machines = append(out.Machines, machineItem{s.machineARN(m.Name), m.Name, m.Type, aws.At(r.Created)})
		return nil
	})
	return out, err
}

package sfn

import (
	"context"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/server/aws"
)

type validateInput struct {
	Definition string `json:"definition"`
	Type       string `json:"type"`
	Severity   string `json:"severity"`
	MaxResults int    `json:"maxResults"`
}

type validateOutput struct {
	Result      string        `json:"result"`
	Diagnostics []asl.Finding `json:"diagnostics"`
	Truncated   bool          `json:"truncated"`
}

// validateStateMachineDefinition judges a definition as CreateStateMachine does.
func (s *Server) validateStateMachineDefinition(_ context.Context, _ *aws.Caller, in *validateInput) (
	*validateOutput, error,
) {
	const most = 100 // diagnostics
	out := &validateOutput{Result: "OK", Diagnostics: []asl.Finding{}}
	size := in.MaxResults
	if size == 0 {
		size = most
	}
	for _, f := range s.findings(in.Definition, in.Type) {
		if f.Severity == string(flow.SeverityError) {
			out.Result = "FAIL"
		} else if in.Severity != string(flow.SeverityWarning) {
			continue
		}
		if len(out.Diagnostics) == size {
			out.Truncated = true
			continue
		}
		out.Diagnostics = append(out.Diagnostics, f)
	}
	return out, nil
}

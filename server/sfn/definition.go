package sfn

import (
	"fmt"
	"strings"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/internal/jsontext"
	"github.com/ebbflow/ebb/server/aws"
)

// options returns how definitions of a type of machine are read.
func options(machineType string) []asl.Option {
	opts := []asl.Option{asl.ForAWS()}
	if machineType == typeExpress {
		opts = append(opts, asl.Express())
	}
	return opts
}

// largeDefinition is the size from which a definition waits for others: judging takes fourteen times its size.
//
//limit:sfn definitions of more than {largeDefinition B} that are judged at the same time | one per processor | wait
const largeDefinition = 64 << 10

// findings returns the problems of a definition that a client sent, in AWS's form.
func (s *Server) findings(text, machineType string) []asl.Finding {
	if len(text) > largeDefinition {
		s.judges <- struct{}{}
		defer func() { <-s.judges }()
	}
	problems := asl.Validate("", []byte(text), options(machineType)...)
	findings := asl.Findings([]byte(text), problems)
	if len(problems.Of(flow.SeverityError, flow.SeverityUnsupported)) > 0 {
		return findings
	}
	m, err := asl.Parse("", []byte(text), options(machineType)...)
	if err != nil { // Validate found nothing that Parse refuses
		return findings
	}
	return append(findings, s.unnamed([]byte(text), m)...)
}

// mayName reports whether a definition of a client may name a resource: one that AWS has, or one that the operator's
// settings name. Others are programs, URLs and queues of workers.
func (s *Server) mayName(resource string) bool {
	return strings.HasPrefix(resource, "arn:") || s.config.Named != nil && s.config.Named(resource)
}

// unnamed returns a finding for each resource that the definition must not name.
func (s *Server) unnamed(text []byte, m *asl.Machine) []asl.Finding {
	var findings []asl.Finding
	for _, state := range m.States() {
		if state.Task != "" && !s.mayName(state.Task) {
			findings = append(findings, asl.Unrecognized(state.Task, location(text, state.TaskAt)))
		}
		if state.Revert != "" && !s.mayName(state.Revert) {
			findings = append(findings, asl.Unrecognized(state.Revert, location(text, state.RevertAt)))
		}
	}
	return findings
}

// check returns AWS's error for a definition that is not valid for a type of machine.
func (s *Server) check(text, machineType string) error {
	findings := s.findings(text, machineType)
	for _, f := range findings {
		if f.Severity == string(flow.SeverityError) {
			return aws.Errorf("InvalidDefinition", "%s", asl.Refusal(findings))
		}
	}
	return nil
}

// location returns AWS's location of the value at an offset of a definition; "" if there is none.
func location(text []byte, offset int) string {
	const nesting = 200 // as deep as a definition is read
	n, err := jsontext.Parse(text, nesting)
	if err != nil {
		return ""
	}
	path := ""
	for n.At != offset {
		inner, step := within(n, offset)
		if inner == nil {
			return ""
		}
		n, path = inner, path+step
	}
	return path
}

// within returns the value in n that contains an offset, and the step to it; nil if there is none.
func within(n *jsontext.Node, offset int) (inner *jsontext.Node, step string) {
	for _, m := range n.Members {
		if m.Value.At <= offset && offset < m.Value.End {
			inner, step = m.Value, "/"+m.Name
		}
	}
	for i, item := range n.Items {
		if item.At <= offset && offset < item.End {
			inner, step = item, fmt.Sprintf("[%d]", i)
		}
	}
	return inner, step
}

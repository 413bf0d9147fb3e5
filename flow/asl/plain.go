package asl

import (
	"fmt"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl/internal/check"
	"github.com/ebbflow/ebb/flow/asl/internal/saga"
	"github.com/ebbflow/ebb/flow/internal/definition"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// Plain returns a definition in plain States Language, which AWS runs. The machine undoes with Catch, Choice and Task
// states what Ebb undoes by Revert, with the same inputs. notes say what it does otherwise.
//
// Placeholders, such as ${PayArn}, stay. If the definition is not legal, or a part of it has no plain form, the error
// is [flow.Diagnostics].
func Plain(name string, text []byte, opts ...Option) (written []byte, notes flow.Diagnostics, err error) {
	machine, problems := check.Definition(name, text, chosen(opts))
	if illegal := problems.Of(flow.SeverityError); len(illegal) > 0 {
		return nil, nil, illegal
	}
	m := &Machine{machine: machine}
	root, err := jsontext.Parse(text, definition.MaxNesting)
	if err != nil {
		return nil, nil, fmt.Errorf("asl: %s: %w", name, err)
	}
	written, said, refused := saga.Write(root)
	if len(refused) > 0 {
		return nil, nil, m.placed(text, refused, flow.SeverityError)
	}
	return written, m.placed(text, said, flow.SeverityWarning), nil
}

// placed returns notes with the places of their states.
func (m *Machine) placed(text []byte, notes []saga.Note, severity flow.Severity) flow.Diagnostics {
	var all flow.Diagnostics
	for _, n := range notes {
		d := flow.Diagnostic{Rule: "plain", Severity: severity, File: m.Name(), Line: 1, Column: 1, Message: n.Text}
		if s := m.machine.States[n.State]; s != nil {
			d.Line, d.Column = Position(text, s.At)
			d.Message = fmt.Sprintf("state %q: %s", n.State, n.Text)
		}
		all = append(all, d)
	}
	return all
}

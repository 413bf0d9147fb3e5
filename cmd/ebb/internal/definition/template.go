package definition

import (
	"fmt"
	"strings"

	"github.com/ebbflow/ebb/cmd/ebb/internal/document"
)

// machineResources are the resource types for state machines, and the properties that contain the definitions.
var machineResources = map[string]struct{ object, text, file, kind string }{
	"AWS::StepFunctions::StateMachine": {object: "Definition", text: "DefinitionString", kind: "StateMachineType"},
	"AWS::Serverless::StateMachine":    {object: "Definition", file: "DefinitionUri", kind: "Type"},
}

// maxTemplate is the maximum total size of the definitions of a template in bytes. A file counts for each machine
// that names it.
//
//limit:command definitions of a template, a file counted for each machine that names it | {B}
const maxTemplate = 64 << 20

// isTemplate reports whether a document is a template of CloudFormation or SAM.
func isTemplate(d *document.Document) bool {
	return d.Kind == document.Object && d.Get("Resources") != nil && d.Get("States") == nil
}

// machinesIn returns the definitions of the state machines in a template.
func machinesIn(d *document.Document, file string) []*Source {
	var out []*Source
	left := maxTemplate
	for _, m := range d.Get("Resources").Members {
		kind, ok := machineResources[m.Value.Get("Type").Says()]
		if !ok {
			continue
		}
		properties := m.Value.Get("Properties")
		s := &Source{File: file, Machine: m.Name, template: true}
		if properties.Get(kind.kind).Says() == "EXPRESS" {
			s.express = true
		}
		switch object, text, elsewhere := properties.Get(kind.object), properties.Get(kind.text), properties.Get(kind.file); {
		case object != nil:
			s.take(object)
		case text != nil:
			s.takeText(text, left)
		case elsewhere.Says() != "":
			s.takeFile(elsewhere.Text, elsewhere.Place)
		default:
			s.fail(m.Place, "the definition of "+m.Name+" is not in the template")
		}
		if left -= len(s.text); left < 0 {
			s.text, s.Lines = nil, nil
			s.fail(m.Place, tooLarge)
			return append(out, s)
		}
		out = append(out, s)
	}
	return out
}

var tooLarge = fmt.Sprintf("the definitions of the template have more than %d bytes together", maxTemplate)

// takeText uses a text in a template as the definition, unless it has more than most bytes.
func (s *Source) takeText(d *document.Document, most int) {
	text, at, ok := joined(d, most)
	if ok && len(text) > most {
		s.fail(d.Place, tooLarge)
		return
	}
	if !ok {
		s.fail(d.Place, "the definition is made by a function that only a deployment can call")
		return
	}
	s.text = []byte(text)
	s.fill()
	s.at = func(int, int) document.Place { return at.Place }
	if at.Block != nil {
		s.at = func(line, column int) document.Place {
			return document.Place{Line: at.Block.Line + line - 1, Column: at.Block.Column + column - 1}
		}
	}
}

// joined returns the text of a value of a template, with its placeholders, and its position. If the text has more
// than most bytes, joined returns a text just over the limit.
func joined(d *document.Document, most int) (text string, at *document.Document, ok bool) {
	if d.Kind == document.Text {
		return d.Text, d, true
	}
	if sub := d.Get("Fn::Sub"); sub != nil {
		if sub.Kind == document.List && len(sub.Items) > 0 {
			sub = sub.Items[0]
		}
		return sub.Text, sub, sub.Kind == document.Text
	}
	join := d.Get("Fn::Join")
	if join == nil || len(join.Items) != 2 || join.Items[1].Kind != document.List {
		return "", d, false
	}
	var b strings.Builder
	for i, item := range join.Items[1].Items {
		if i > 0 {
			b.WriteString(join.Items[0].Text)
		}
		part, _, ok := joined(item, most)
		if !ok {
			part = "${Value}" // a Ref or a similar function
		}
		if b.WriteString(part); b.Len() > most {
			break
		}
	}
	return b.String(), &document.Document{Place: d.Place}, true
}

package main

import (
	"fmt"
	"strings"
)

// machineResources are the types of resources that are state machines, and the
// properties that hold what they are.
var machineResources = map[string]struct{ object, text, file, kind string }{
	"AWS::StepFunctions::StateMachine": {object: "Definition", text: "DefinitionString", kind: "StateMachineType"},
	"AWS::Serverless::StateMachine":    {object: "Definition", file: "DefinitionUri", kind: "Type"},
}

// maxTemplate is how many bytes the definitions of a template may have together. A file counts for each machine that names it.
const maxTemplate = 64 << 20

// isTemplate reports whether a document is a template of CloudFormation or SAM.
func (d *document) isTemplate() bool {
	return d.kind == objectDocument && d.get("Resources") != nil && d.get("States") == nil
}

// machines returns the definitions of the state machines in a template.
func (d *document) machines(file string) []*source {
	var out []*source
	left := maxTemplate
	for _, m := range d.get("Resources").members {
		kind, ok := machineResources[m.value.get("Type").says()]
		if !ok {
			continue
		}
		properties := m.value.get("Properties")
		s := &source{file: file, machine: m.name, template: true}
		if properties.get(kind.kind).says() == "EXPRESS" {
			s.express = true
		}
		switch object, text, elsewhere := properties.get(kind.object), properties.get(kind.text), properties.get(kind.file); {
		case object != nil:
			s.take(object)
		case text != nil:
			s.takeText(text, left)
		case elsewhere.says() != "":
			s.takeFile(elsewhere.text, elsewhere.place)
		default:
			s.fail(m.place, "the definition of "+m.name+" is not in the template")
		}
		if left -= len(s.text); left < 0 {
			s.text, s.lines = nil, nil
			s.fail(m.place, tooLarge)
			return append(out, s)
		}
		out = append(out, s)
	}
	return out
}

var tooLarge = fmt.Sprintf("the definitions of the template have more than %d bytes together", maxTemplate)

// takeText makes a text in a template the definition, if it has at most so many bytes.
func (s *source) takeText(d *document, most int) {
	text, at, ok := joined(d, most)
	if ok && len(text) > most {
		s.fail(d.place, tooLarge)
		return
	}
	if !ok {
		s.fail(d.place, "the definition is made by a function that only a deployment can call")
		return
	}
	s.text = []byte(text)
	s.fill()
	s.at = func(int, int) place { return at.place }
	if at.block != nil {
		s.at = func(line, column int) place { return place{at.block.line + line - 1, at.block.column + column - 1} }
	}
}

// joined returns the text that a value of a template stands for, with the
// placeholders left in it, and where it is written. Of one that has more than
// most bytes it returns as much as shows that.
func joined(d *document, most int) (text string, at *document, ok bool) {
	if d.kind == textDocument {
		return d.text, d, true
	}
	if sub := d.get("Fn::Sub"); sub != nil {
		if sub.kind == listDocument && len(sub.items) > 0 {
			sub = sub.items[0]
		}
		return sub.text, sub, sub.kind == textDocument
	}
	join := d.get("Fn::Join")
	if join == nil || len(join.items) != 2 || join.items[1].kind != listDocument {
		return "", d, false
	}
	var b strings.Builder
	for i, item := range join.items[1].items {
		if i > 0 {
			b.WriteString(join.items[0].text)
		}
		part, _, ok := joined(item, most)
		if !ok {
			part = "${Value}" // a Ref or the like
		}
		if b.WriteString(part); b.Len() > most {
			break
		}
	}
	return b.String(), &document{place: d.place}, true
}

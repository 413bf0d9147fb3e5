package template

import (
	"path"
	"regexp"

	"github.com/ebbflow/ebb/cmd/ebb/internal/document"
)

// A Machine is a state machine of a template. Its definition is in one of Object, Text and File.
type Machine struct {
	document.Place

	In      string // file of the template that has it, as messages name it
	ID      string // of the resource
	Name    string // of the machine
	ARN     string
	Express bool

	Object *document.Document // an object in the template, with all functions called and placeholders filled
	Text   *Text
	File   *File

	substitutions map[string]string
	evaluator     *evaluator
}

// A Text is the text of a definition, and where it comes from.
type Text struct {
	Text  string
	Edits Edits              // from the text of Source
	From  *document.Document // where the text is written; if it is no text, it is what made it
}

// A File is the file of a definition, which the machine's placeholders must be filled in.
type File struct {
	document.Place

	Names []string // of which the first that can be read is meant
	Key   string   // of the object in a bucket; "" if it is none
}

// addMachine adds a state machine.
func (e *evaluator) addMachine(r *resource) {
	m := &Machine{
		Place: r.Place, In: e.options.File, ID: r.id, Name: e.nameOf(r), ARN: e.arnOf(r), evaluator: e,
		substitutions: e.texts(r.properties.Get("DefinitionSubstitutions")),
	}
	kind := "StateMachineType"
	if r.kind == "AWS::Serverless::StateMachine" {
		kind = "Type"
	}
	m.Express = e.says(r, kind) == "EXPRESS"
	e.template.Machines = append(e.template.Machines, m)
	e.define(m, r)
	e.addEvents(r, m)
	if alias := e.says(r, "AutoPublishAlias"); alias != "" {
		e.template.Aliases = append(e.template.Aliases, Alias{Place: r.Place, Name: alias, Machine: m.Name})
	}
}

// define sets the definition of a machine.
func (e *evaluator) define(m *Machine, r *resource) {
	uri := e.property(r, "DefinitionUri")
	if uri != nil && uri.Kind == document.Object {
		uri = &document.Document{Place: uri.Place, Members: []document.Member{
			{Name: "Bucket", Value: uri.Get("Bucket")}, {Name: "Key", Value: uri.Get("Key")},
		}}
	}
	bucket := e.property(r, "DefinitionS3Location")
	if bucket == nil && uri != nil && uri.Kind != document.Text {
		bucket, uri = uri, nil
	}
	switch object, written := e.property(r, "Definition"), r.properties.Get("DefinitionString"); {
	case object != nil && object.Kind == document.Object:
		m.Object = m.filled(object)
	case written != nil:
		m.Text = e.definitionText(written)
	case uri.Says() != "":
		m.File = &File{Place: uri.Place, Names: []string{e.path(uri.Text)}}
	case bucket != nil:
		m.File = e.stored(bucket)
	}
}

// stored returns the file of an object in a bucket: its key in the folder of the template, where CDK has the files that
// it uploads.
func (e *evaluator) stored(bucket *document.Document) *File {
	key := e.say(bucket.Get("Key"))
	if key == "" {
		return nil
	}
	return &File{bucket.Place, []string{
		e.path(key), e.path(path.Base(key)), e.path("asset." + path.Base(key)),
	}, key}
}

// definitionText returns the text of a property, with the place where it is written if that can be told.
func (e *evaluator) definitionText(d *document.Document) *Text {
	if d.Kind == document.Text {
		return &Text{Text: d.Text, From: d}
	}
	if of, names := subArguments(or(d.Get("Fn::Sub"), d)); onlyName(d) == "Fn::Sub" && of != nil {
		s, edits := substitute(of.Text, e.lookup(of, e.texts(names)), e.left())
		return &Text{Text: e.makes(of, s).Text, Edits: edits, From: of}
	}
	return &Text{Text: e.say(d), From: &document.Document{Place: d.Place}}
}

func or(d, other *document.Document) *document.Document {
	if d == nil {
		return other
	}
	return d
}

// property returns the value of a property; nil if there is none.
func (e *evaluator) property(r *resource, name string) *document.Document {
	value := e.value(r.properties.Get(name))
	if value == noValue {
		return nil
	}
	return value
}

// Fill replaces the placeholders in the text of a definition, as DefinitionSubstitutions say, or else the values that
// the caller has given.
func (m *Machine) Fill(text string, most int) (string, Edits) {
	return substitute(text, func(name string) (string, bool) {
		if value, is := m.substitutions[name]; is {
			return value, true
		}
		e := m.evaluator
		e.template.names = append(e.template.names, name)
		value, is := e.given(name)
		// In the text of Fn::Sub, a placeholder that is left was meant to be left.
		if key := m.ID + " " + name; !is && m.Text == nil && isName.MatchString(name) && !e.missing[name] && !e.missing[key] {
			e.missing[key] = true
			e.warnf(m.Place, "the placeholder ${%s} in the definition of %s has no value (--parameter '%s=VALUE' gives one)",
				name, m.Name, name)
		}
		return value, is
	}, most)
}

// isName matches the names that DefinitionSubstitutions may have. Other placeholders are probably part of a text.
var isName = regexp.MustCompile(`^[A-Za-z0-9_]+$`)

// Fill replaces the placeholders in the text of a definition that is in no template by the given values. It returns an
// error that names a value without a placeholder.
func Fill(text string, values map[string]string, most int) (string, Edits, error) {
	t := &Template{unused: map[string]bool{}}
	for name := range values {
		t.unused[name] = true
	}
	text, edits := substitute(text, func(name string) (string, bool) {
		t.names = append(t.names, name)
		value, is := values[name]
		delete(t.unused, name)
		return value, is
	}, most)
	return text, edits, t.Unused()
}

// filled returns an object with the placeholders in its texts replaced. As on AWS, they stay texts.
func (m *Machine) filled(d *document.Document) *document.Document {
	out := *d
	switch d.Kind {
	case document.Text:
		filled, _ := m.Fill(d.Text, m.evaluator.left())
		if filled != d.Text {
			return m.evaluator.makes(d, filled)
		}
		return d
	case document.List:
		out.Items = make([]*document.Document, len(d.Items))
		for i, item := range d.Items {
			out.Items[i] = m.filled(item)
		}
	case document.Literal:
	case document.Object:
		out.Members = make([]document.Member, len(d.Members))
		for i, member := range d.Members {
			member.Value = m.filled(member.Value)
			out.Members[i] = member
		}
	}
	return &out
}

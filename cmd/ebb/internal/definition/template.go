package definition

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/cmd/ebb/internal/document"
	"github.com/ebbflow/ebb/cmd/ebb/internal/template"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
)

// maxTemplate is the maximum total size of the definitions of a template in bytes. A file counts for each machine
// that names it.
//
//limit:command definitions of a template, a file counted for each machine that names it | {B}
const maxTemplate = 64 << 20

// addTemplate adds what a template describes. Paths in it are looked up in its folder.
func (p *Project) addTemplate(file string, d *document.Document, lines []string, how *Reading) error {
	loader, err := p.loaderOf(file, how)
	if err != nil {
		return err
	}
	options := how.Template
	options.File, options.Folder, options.Read = file, loader.dir, loader.read
	t := template.Read(d, options)
	p.Templates = append(p.Templates, &Template{File: file, Template: t})
	left := maxTemplate
	for _, m := range t.Machines {
		s := &Source{File: m.In, Machine: m.Name, template: true, express: m.Express, beside: p}
		if m.In == file {
			s.Lines = lines
		}
		s.takeMachine(m, loader, left)
		if left -= len(s.text); left < 0 {
			s.text, s.Lines = nil, nil
			s.fail(m.Place, tooLarge)
		}
		p.Sources = append(p.Sources, s)
		if left < 0 {
			break
		}
	}
	about := &Source{File: file, Lines: lines}
	about.told(flow.SeverityError, t.Problems)
	about.told(flow.SeverityWarning, t.Warnings)
	if len(about.problems) > 0 {
		p.About = append(p.About, about)
	}
	return nil
}

// Unbuilt returns problems with the functions whose code must be built before they can run.
func (p *Project) Unbuilt() (problems flow.Diagnostics) {
	for _, t := range p.Templates {
		s := &Source{File: t.File}
		s.told(flow.SeverityWarning, unbuilt(t.Template))
		problems = append(problems, s.problems...)
	}
	return problems
}

// templateCode is the code of problems of templates.
const templateCode = "TEMPLATE"

// told adds problems of a template.
func (s *Source) told(severity flow.Severity, problems []template.Problem) {
	for _, problem := range problems {
		s.problems = append(s.problems, flow.Diagnostic{
			Code: templateCode, Rule: "template", Severity: severity, File: problem.File, Line: problem.Line,
			Column: problem.Column, Message: problem.Text,
		})
	}
}

var tooLarge = fmt.Sprintf("the definitions of the template have more than %d bytes together", maxTemplate)

// takeMachine uses the definition of a machine of a template, unless it has more than most bytes.
func (s *Source) takeMachine(m *template.Machine, loader *Loader, most int) {
	switch {
	case m.Object != nil:
		s.take(m.Object)
	case m.Text != nil:
		s.takeText(m, most)
	case m.File != nil:
		s.takeFile(m, loader, most)
	default:
		s.fail(m.Place, "the definition of "+m.Name+" is not in the template")
	}
}

// takeText uses a text in a template as the definition, unless it has more than most bytes.
func (s *Source) takeText(m *template.Machine, most int) {
	text, edits := m.Fill(m.Text.Text, most)
	if len(text) > most || len(m.Text.Text) > most {
		s.fail(m.Text.From.Place, tooLarge)
		return
	}
	from := m.Text.From
	s.at = func(line, column int) document.Place {
		if from.Kind != document.Text {
			return from.Place
		}
		written := m.Text.Edits.Back(edits.Back(offsetOf(s.text, line, column)))
		return from.Behind(from.Text[:min(written, len(from.Text))])
	}
	s.text = []byte(text)
	s.fill()
}

// takeFile uses another file as the definition, which a template names. It is read like all files that definitions
// name.
func (s *Source) takeFile(m *template.Machine, loader *Loader, most int) {
	names, hint := m.File.Names, ""
	if m.File.Key != "" {
		hint = " (name a folder with the files of the bucket: --allow file:///FOLDER/)"
		for _, folder := range loader.folders {
			names = append(names, filepath.Join(folder, filepath.FromSlash(m.File.Key)),
				filepath.Join(folder, path.Base(m.File.Key)))
		}
	}
	name, text, err := readFirst(loader, names)
	if err != nil {
		s.fail(m.File.Place, "the file "+strconv.Quote(filepath.ToSlash(name))+" of the definition cannot be read: "+
			err.Error()+hint)
		return
	}
	s.File = name
	filled, edits := m.Fill(string(text), most)
	if err := s.takeFilled(text, filled, edits); err != nil {
		broken, _ := errors.AsType[*document.Error](err)
		s.text, s.Lines = nil, nil
		s.fail(broken.Place, "it is not valid YAML") // do not quote its content
	} else if !isMachine(s.text) {
		// The file may be any file: do not show its lines or words.
		s.text, s.Lines, s.problems, s.at = nil, nil, nil, nil
		s.fail(document.Place{Line: 1, Column: 1}, "it is not a definition in JSON or YAML")
	}
}

// takeFilled uses the text of a file in which placeholders were filled as the definition.
func (s *Source) takeFilled(written []byte, filled string, edits template.Edits) error {
	s.text, s.Lines = []byte(filled), splitLines(written)
	d, err := parse(s.File, s.text)
	switch {
	case err != nil:
		return err
	case d != nil:
		s.take(d)
	default:
		if s.language = languageIn(s.text); s.language == ASL {
			s.fill()
		}
	}
	if at := s.at; len(edits) > 0 {
		s.at = func(line, column int) document.Place {
			if at != nil {
				place := at(line, column)
				line, column = place.Line, place.Column
			}
			line, column = asl.Position(written, edits.Back(offsetOf([]byte(filled), line, column)))
			return document.Place{Line: line, Column: column}
		}
	}
	return nil
}

// readFirst reads the first of some files that can be read. It returns its name as messages have it.
func readFirst(loader *Loader, names []string) (name string, text []byte, err error) {
	for _, file := range names {
		read, failed := loader.read(file, maxFile)
		if failed != nil {
			err = cmp.Or(err, failed)
			continue
		}
		return loader.shown(file), read, nil
	}
	return loader.shown(names[0]), nil, err
}

// loaderOf returns the loader of the files that a template names: those in its project, which is the Git repository
// that has it, or else its folder. It remembers what was read.
func (p *Project) loaderOf(file string, how *Reading) (*Loader, error) {
	l, err := loaderBeside(file)
	if err != nil {
		return nil, err
	}
	if how.Loader != nil {
		l.folders = append(l.folders, how.Loader.folders...)
	}
	l.folders = append(l.folders, repositoryOf(l.dir))
	l.beside = filepath.Dir(file)
	l.loaded = func(name string) { p.Files = append(p.Files, name) }
	return l, nil
}

func unbuilt(t *template.Template) []template.Problem {
	names, first := map[string][]string{}, map[string]string{} // by command
	var commands []string
	var places []template.Problem
	for i := range t.Functions {
		f := &t.Functions[i]
		if f.Code == "" {
			continue
		}
		command, why := buildCommand(f)
		if command == "" {
			continue
		}
		if names[command] == nil {
			commands, places = append(commands, command), append(places, t.Places[f.Name])
			first[command] = why
		}
		names[command] = append(names[command], f.Name)
	}
	for i, command := range commands {
		places[i].Text = fmt.Sprintf("build the code of %s first: `%s` (%s)", strings.Join(names[command], ", "), command,
			first[command])
	}
	return places
}

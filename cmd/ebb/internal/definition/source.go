package definition

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ebbflow/ebb/cmd/ebb/internal/document"
	"github.com/ebbflow/ebb/cmd/ebb/internal/template"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/sm4c"
)

// A Source is a definition and its position: a file of JSON or YAML, or a part of a template.
type Source struct {
	File     string
	Machine  string // in a template: the name of the machine
	text     []byte // JSON
	language string
	express  bool // the template sets the type EXPRESS

	// Maps a position in the text to a position in the file; nil: the same.
	at func(line, column int) document.Place
	// The definition is in a template, whose placeholders a deployment replaces.
	template bool
	beside   *Project         // that has it; nil if there is none
	problems flow.Diagnostics // why it could not be read, and other problems
	Lines    []string         // of the file
}

// addFile adds the definitions in the text of a file: one, or those of a template.
func (p *Project) addFile(file string, text []byte, how *Reading) error {
	s := &Source{File: file, Lines: splitLines(text), beside: p}
	p.Files = append(p.Files, file)
	d, err := parse(file, text)
	if err == nil && d != nil && template.IsTemplate(d) {
		return p.addTemplate(file, d, s.Lines, how)
	}
	if err == nil && d != nil && d.Get("AWSTemplateFormatVersion") != nil {
		return fmt.Errorf("%s: the template has no Resources", file)
	}
	if filled, edits, unused := template.Fill(string(text), how.Template.Values, maxFile); err == nil {
		if unused != nil {
			return fmt.Errorf("%s: %w", file, unused)
		}
		err = s.takeFilled(text, filled, edits)
	}
	if broken, is := errors.AsType[*document.Error](err); is {
		s.text = nil
		s.fail(broken.Place, broken.Problem)
	}
	p.Sources = append(p.Sources, s)
	return nil
}

// parse reads a file as a document. It returns nil for a definition in JSON,
// which needs no translation.
func parse(file string, text []byte) (*document.Document, error) {
	ext := strings.ToLower(filepath.Ext(file))
	if ext == ".yaml" || ext == ".yml" || ext == ".template" && !bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		return document.ParseYAML(text)
	}
	if !bytes.Contains(text, []byte(`"Resources"`)) {
		return nil, nil //nolint:nilnil // a definition in JSON is read by its language
	}
	d, err := document.ParseJSON(text)
	if err != nil || !template.IsTemplate(d) {
		return nil, nil //nolint:nilnil,nilerr // the parser of the definition reports what is wrong with it
	}
	return d, nil
}

// languageIn recognizes the language of a definition by its JSON or, if it is not valid JSON, by its words.
func languageIn(text []byte) string {
	var members map[string]json.RawMessage
	has := func(name string) bool { return members[name] != nil }
	if json.Unmarshal(text, &members) != nil {
		has = func(name string) bool { return bytes.Contains(text, []byte(strconv.Quote(name))) }
	}
	if has("states") && !has("States") && !has("StartAt") {
		return SM4C
	}
	return ASL
}

// take uses a document as the definition.
func (s *Source) take(d *document.Document) {
	var tokens []*document.Document
	s.text, tokens = d.Print()
	if s.language = ASL; d.Get("States") == nil && d.Get("StartAt") == nil && d.Get("states") != nil {
		s.language = SM4C
	}
	lines := splitLines(s.text)
	s.at = func(line, column int) document.Place {
		if line > len(tokens) {
			return d.Place
		}
		if column == 1 {
			return tokens[line-1].Place
		}
		return tokens[line-1].Behind(unquoted(lines[line-1], column-1))
	}
}

// unquoted decodes the first characters of a JSON string.
func unquoted(quoted string, characters int) (text string) {
	for i := range quoted {
		if characters--; characters < 0 {
			quoted = quoted[:i]
			break
		}
	}
	if json.Unmarshal([]byte(quoted+`"`), &text) != nil {
		return ""
	}
	return text
}

// isMachine reports whether a text is JSON with the states of a machine.
func isMachine(text []byte) bool {
	var machine struct {
		States json.RawMessage `json:"States"`
	}
	return json.Unmarshal(text, &machine) == nil && machine.States != nil
}

// fail records why there is no definition.
func (s *Source) fail(at document.Place, problem string) {
	s.problems = append(s.problems, flow.Diagnostic{
		Code: asl.InvalidJSON, Rule: "json", Severity: flow.SeverityError, File: s.File, Line: at.Line, Column: at.Column,
		Message: problem,
	})
}

// fill replaces placeholders outside of strings by numbers, because "TimeoutSeconds": ${Timeout} is not valid JSON.
// All other positions stay the same.
func (s *Source) fill() {
	text := slices.Clone(s.text)
	quoted := false
	for i := 0; i < len(text); i++ {
		switch {
		case quoted && text[i] == '\\':
			i++
		case text[i] == '"':
			quoted = !quoted
		case !quoted && text[i] == '$' && bytes.HasPrefix(text[i:], []byte("${")):
			end := bytes.IndexByte(text[i:], '}')
			if end < 0 {
				return
			}
			name := string(text[i : i+end+1])
			if strings.ContainsAny(name, "\n\"") {
				return
			}
			line, column := asl.Position(text, i)
			s.problems = append(s.problems, flow.Diagnostic{
				Code: asl.NotSupported, Rule: "placeholder", Severity: flow.SeverityUnsupported, File: s.File, Line: line,
				Column:  column,
				Message: "the placeholder " + name + " is filled in by a deployment",
			})
			copy(text[i:], "1"+strings.Repeat(" ", end))
			i += end
		}
	}
	s.text = text
}

// Validate returns all problems of the definition, with positions in the file.
func (s *Source) Validate(how Reading) flow.Diagnostics {
	problems := slices.Clone(s.problems)
	switch {
	case s.text == nil:
	case s.language == SM4C:
		problems = append(problems, s.Placed(sm4c.Validate(s.File, s.text, how.sm4c()...))...)
	default:
		problems = append(problems, s.Placed(asl.Validate(s.File, s.text, how.asl(s.express)...))...)
	}
	if s.template {
		problems = slices.DeleteFunc(problems, func(p flow.Diagnostic) bool { return p.Rule == "placeholder" })
	}
	return problems
}

// compile returns the definition as a machine that can be run.
func (s *Source) compile(how Reading) (Machine, error) {
	if s.text == nil || len(s.problems) > 0 {
		return nil, s.problems
	}
	if s.language == SM4C {
		m, err := sm4c.Parse(s.File, s.text, how.sm4c()...)
		if problems, ok := errors.AsType[flow.Diagnostics](err); ok {
			return nil, s.Placed(problems)
		}
		return &sm4cMachine{m}, err
	}
	m, err := asl.Parse(s.File, s.text, append(how.asl(s.express), asl.Placeholders())...)
	if problems, ok := errors.AsType[flow.Diagnostics](err); ok {
		return nil, s.Placed(problems)
	}
	return &aslMachine{m, how.Profile, s.text}, err
}

func (r *Reading) asl(express bool) []asl.Option {
	opts := []asl.Option{asl.Under(r.Profile)}
	if r.Strict {
		opts = append(opts, asl.Strict())
	}
	if r.Express || express {
		opts = append(opts, asl.Express())
	}
	return opts
}

func (r *Reading) sm4c() []sm4c.Option {
	var opts []sm4c.Option
	if r.Strict {
		opts = append(opts, sm4c.Strict())
	}
	if r.Loader != nil {
		opts = append(opts, sm4c.Load(r.Loader.load), sm4c.LoadAPIs(r.Loader.load))
	}
	return opts
}

// position returns the place in the file of an offset in the text.
func (s *Source) position(offset int) document.Place {
	line, column := asl.Position(s.text, offset)
	if s.at == nil {
		return document.Place{Line: line, Column: column}
	}
	return s.at(line, column)
}

// offsetOf returns the offset in a text of a line and a column.
func offsetOf(text []byte, line, column int) int {
	at := 0
	for ; line > 1; line-- {
		end := bytes.IndexByte(text[at:], '\n')
		if end < 0 {
			return len(text)
		}
		at += end + 1
	}
	for ; column > 1 && at < len(text); column-- {
		_, size := utf8.DecodeRune(text[at:])
		at += size
	}
	return at
}

// Placed returns problems with the text as problems with the file.
func (s *Source) Placed(problems flow.Diagnostics) flow.Diagnostics {
	if s.at == nil {
		return problems
	}
	out := slices.Clone(problems)
	for i := range out {
		if out[i].File != s.File {
			continue // in a document that it has loaded
		}
		at := s.at(out[i].Line, out[i].Column)
		out[i].Line, out[i].Column = at.Line, at.Column
	}
	return out
}

func splitLines(text []byte) []string { return strings.Split(string(text), "\n") }

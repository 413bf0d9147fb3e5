package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/sm4c"
	"github.com/ebbflow/ebb/internal/limitedfile"
)

// A source is a definition and where it stands: a file of JSON or YAML, or a
// place in a template.
type source struct {
	file     string
	machine  string // in a template: the name of the resource
	text     []byte // JSON
	language languageName
	express  bool // the template says so

	at       func(line, column int) place // where in the file a place in the text is; nil: the same
	template bool                         // a deployment fills in placeholders
	problems asl.Problems                 // why it could not be read, and what was found on the way
	lines    []string                     // of the file
}

// readSources reads the definitions in a file: one, or those of a template.
func readSources(file string) ([]*source, error) {
	text, err := limitedfile.Read(file, maxFile)
	if err != nil {
		return nil, err
	}
	return sourcesIn(file, text)
}

// sourcesIn reads the definitions in the text of a file.
func sourcesIn(file string, text []byte) ([]*source, error) {
	s := &source{file: file, text: text, lines: splitLines(text)}
	d, err := parse(file, text)
	if broken, ok := errors.AsType[*documentError](err); ok {
		s.text = nil
		s.fail(broken.place, broken.problem)
		return []*source{s}, nil
	}
	switch {
	case d == nil:
		if s.language = languageIn(text); s.language == languageASL {
			s.fill()
		}
	case d.isTemplate():
		machines := d.machines(file)
		for _, m := range machines {
			if m.lines == nil {
				m.lines = s.lines
			}
		}
		if len(machines) == 0 {
			return nil, usagef("%s: the template has no state machine", file)
		}
		return machines, nil
	default:
		s.take(d)
	}
	return []*source{s}, nil
}

// parse reads a file as a document. It returns nil for a definition in JSON,
// which needs no translation.
func parse(file string, text []byte) (*document, error) {
	ext := strings.ToLower(filepath.Ext(file))
	if ext == ".yaml" || ext == ".yml" || ext == ".template" && !bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		return parseYAML(text)
	}
	if !bytes.Contains(text, []byte(`"Resources"`)) {
		return nil, nil //nolint:nilnil // a definition in JSON is read by its language
	}
	d, err := parseJSON(text)
	if err != nil || !d.isTemplate() {
		return nil, nil //nolint:nilnil,nilerr // the parser of the definition reports what is wrong with it
	}
	return d, nil
}

// languageIn tells from its content in which language a definition in JSON is; of
// one that is broken, by the words in it.
func languageIn(text []byte) languageName {
	var members map[string]json.RawMessage
	has := func(name string) bool { return members[name] != nil }
	if json.Unmarshal(text, &members) != nil {
		has = func(name string) bool { return bytes.Contains(text, []byte(strconv.Quote(name))) }
	}
	if has("states") && !has("States") && !has("StartAt") {
		return languageSM4C
	}
	return languageASL
}

// take makes a document the definition.
func (s *source) take(d *document) {
	var tokens []*document
	s.text, tokens = d.print()
	if s.language = languageASL; d.get("States") == nil && d.get("StartAt") == nil && d.get("states") != nil {
		s.language = languageSM4C
	}
	lines := splitLines(s.text)
	s.at = func(line, column int) place {
		if line > len(tokens) {
			return d.place
		}
		if column == 1 {
			return tokens[line-1].place
		}
		return tokens[line-1].behind(unquoted(lines[line-1], column-1))
	}
}

// unquoted returns what the first so many characters of a text in quotes, as JSON
// has it, stand for.
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

// takeFile makes another file the definition, which a template at a place names. It is read like all that definitions name.
func (s *source) takeFile(name string, at place) {
	beside, err := loaderBeside(s.file)
	if err != nil {
		s.fail(at, err.Error())
		return
	}
	text, err := beside.read(filepath.FromSlash(name), maxFile)
	if err != nil {
		s.fail(at, "the file "+strconv.Quote(name)+" of the definition cannot be read: "+err.Error())
		return
	}
	file := filepath.Join(filepath.Dir(s.file), filepath.FromSlash(name))
	s.file, s.text, s.lines = file, text, splitLines(text)
	d, err := parse(file, text)
	if broken, ok := errors.AsType[*documentError](err); ok {
		s.text, s.lines = nil, nil
		s.fail(broken.place, "it is not valid YAML") // its content stays unsaid
		return
	}
	if d != nil {
		s.take(d)
	} else {
		s.fill()
	}
	var machine struct {
		States json.RawMessage `json:"States"`
	}
	if json.Unmarshal(s.text, &machine) != nil || machine.States == nil { // it may be any file: neither its lines nor its words are shown
		s.text, s.lines, s.problems, s.at = nil, nil, nil, nil
		s.fail(place{1, 1}, "it is not a definition in JSON or YAML")
	}
}

// fail notes why there is no definition.
func (s *source) fail(at place, problem string) {
	s.problems = append(s.problems, asl.Problem{
		Code: asl.InvalidJSON, Rule: "json", Severity: asl.Error, File: s.file, Line: at.line, Column: at.column, Message: problem,
	})
}

// fill puts numbers in the place of placeholders that stand where no text is,
// which is no JSON: "TimeoutSeconds": ${Timeout}. Nothing else moves.
func (s *source) fill() {
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
			s.problems = append(s.problems, asl.Problem{
				Code: asl.NotSupported, Rule: "placeholder", Severity: asl.Unsupported, File: s.file, Line: line, Column: column,
				Message: "the placeholder " + name + " is filled in by a deployment",
			})
			copy(text[i:], "1"+strings.Repeat(" ", end))
			i += end
		}
	}
	s.text = text
}

// validate returns all that is wrong with the definition, with places in the
// file.
func (s *source) validate(how reading) asl.Problems {
	problems := slices.Clone(s.problems)
	switch {
	case s.text == nil:
	case s.language == languageSM4C:
		problems = append(problems, s.placed(sm4c.Validate(s.file, s.text, how.sm4c()...))...)
	default:
		problems = append(problems, s.placed(asl.Validate(s.file, s.text, how.asl(s.express)...))...)
	}
	if s.template {
		problems = slices.DeleteFunc(problems, func(p asl.Problem) bool { return p.Rule == "placeholder" })
	}
	return problems
}

// compile returns the definition as a machine that can be run.
func (s *source) compile(how reading) (machine, error) {
	if s.text == nil || len(s.problems) > 0 {
		return nil, s.problems
	}
	if s.language == languageSM4C {
		m, err := sm4c.Parse(s.file, s.text, how.sm4c()...)
		if problems, ok := errors.AsType[sm4c.Problems](err); ok {
			return nil, s.placed(problems)
		}
		return &sm4cMachine{m}, err
	}
	m, err := asl.Parse(s.file, s.text, how.asl(s.express)...)
	if problems, ok := errors.AsType[asl.Problems](err); ok {
		return nil, s.placed(problems)
	}
	return &aslMachine{m, how.profile, s.text}, err
}

func (r *reading) asl(express bool) []asl.Option {
	opts := []asl.Option{asl.Under(r.profile)}
	if r.strict {
		opts = append(opts, asl.Strict())
	}
	if r.express || express {
		opts = append(opts, asl.Express())
	}
	return opts
}

func (r *reading) sm4c() []sm4c.Option {
	var opts []sm4c.Option
	if r.strict {
		opts = append(opts, sm4c.Strict())
	}
	if r.loader != nil {
		opts = append(opts, sm4c.Load(r.loader.load), sm4c.LoadAPIs(r.loader.load))
	}
	return opts
}

// position returns the place in the file of an offset in the text.
func (s *source) position(offset int) place {
	line, column := asl.Position(s.text, offset)
	if s.at == nil {
		return place{line, column}
	}
	return s.at(line, column)
}

// placed returns problems with the text as problems with the file.
func (s *source) placed(problems asl.Problems) asl.Problems {
	if s.at == nil {
		return problems
	}
	out := slices.Clone(problems)
	for i := range out {
		if out[i].File != s.file {
			continue // in a document that it has loaded
		}
		at := s.at(out[i].Line, out[i].Column)
		out[i].Line, out[i].Column = at.line, at.column
	}
	return out
}

func splitLines(text []byte) []string { return strings.Split(string(text), "\n") }

package definition

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/cmd/ebb/internal/document"
	"github.com/ebbflow/ebb/cmd/ebb/internal/template"
	"github.com/ebbflow/ebb/internal/limitedfile"
	"github.com/ebbflow/ebb/internal/spelling"
)

// A Project is what a path names: the definitions in a file, those of a template, or those of the templates in a
// folder.
type Project struct {
	Sources   []*Source
	Templates []*Template
	About     []*Source // problems of templates that are no problems of a definition
	Files     []string  // that were read
	Notices   []string  // what was chosen, for the user
}

// A Template is a template, and its file.
type Template struct {
	*template.Template

	File string
}

// ReadProject reads the definitions that a path names: a file, a folder, or one machine of a template, FILE#MACHINE.
func ReadProject(path string, how Reading) (*Project, error) {
	p := &Project{}
	files, machine, err := p.filesOf(path)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := limitedfile.Read(file, maxFile)
		if err != nil {
			return nil, err
		}
		if err := p.addFile(file, text, &how); err != nil {
			return nil, err
		}
	}
	if len(p.Sources) == 0 && len(p.About) == 0 {
		return nil, fmt.Errorf("%s: the template has no state machine", path)
	}
	p.unique()
	if err := p.unused(); err != nil {
		return nil, err
	}
	if machine != "" {
		return p, p.choose(path, machine)
	}
	return p, nil
}

// unique removes definitions whose name another one has: a nested stack is also in the template above it.
func (p *Project) unique() {
	best := map[string]*Source{} // the first that can be read
	for _, s := range p.Sources {
		if best[s.Machine] == nil || best[s.Machine].text == nil {
			best[s.Machine] = s
		}
	}
	p.Sources = slices.DeleteFunc(p.Sources, func(s *Source) bool {
		if s.Machine == "" || best[s.Machine] == s {
			return false
		}
		p.Notices = append(p.Notices, fmt.Sprintf("warning: %s: there is another machine %s, in %s", s.File, s.Machine,
			best[s.Machine].File))
		return true
	})
}

// choose leaves only the machine with a name among the sources; the project of it stays whole.
func (p *Project) choose(path, machine string) error {
	var names []string
	for _, s := range p.Sources {
		if s.Machine == machine {
			whole := *p
			for _, other := range whole.Sources {
				other.beside = &whole
			}
			p.Sources = []*Source{s}
			return nil
		}
		names = append(names, s.Machine)
	}
	fix := "it has " + strings.Join(names, ", ")
	if near := spelling.Nearest(machine, names); near != "" {
		fix = "did you mean " + near + "?"
	}
	return fmt.Errorf("%s: there is no such machine: %s", path, fix)
}

// unused returns an error for a value that is given for a name that is in no template.
func (p *Project) unused() error {
	if len(p.Templates) != 1 { // a value may be for one of several
		return nil
	}
	if err := p.Templates[0].Unused(); err != nil {
		return fmt.Errorf("%s: %w", p.Templates[0].File, err)
	}
	return nil
}

// Err returns the errors of the templates.
func (p *Project) Err() error {
	for _, s := range p.About {
		if !s.problems.Legal() {
			return fmt.Errorf("%s cannot be used:\n%w", s.File, s.problems)
		}
	}
	return nil
}

// Project returns the project that has the source.
func (s *Source) Project() *Project { return s.beside }

// source returns the definition of a machine with a name; nil if there is none.
func (p *Project) source(machine string) *Source {
	if p != nil {
		for _, s := range p.Sources {
			if s.Machine == machine {
				return s
			}
		}
	}
	return nil
}

// filesOf returns the files that a path names, and the name of the machine in them that is meant; "" if all are.
func (p *Project) filesOf(path string) (files []string, machine string, err error) {
	file := path
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		if before, name, is := cutLast(path, "#"); is {
			file, machine = before, name
			info, err = os.Stat(file)
		}
	}
	if err == nil && info.IsDir() {
		files, err = p.templatesIn(file)
		return files, machine, err
	}
	return []string{p.built(file)}, machine, nil // reading it says what is wrong
}

func cutLast(s, separator string) (before, after string, found bool) {
	i := strings.LastIndex(s, separator)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(separator):], true
}

// templateNames are the names that SAM gives a template, which sam build builds.
var templateNames = []string{"template.yaml", "template.yml", "template.json"}

// built returns the template that sam build has made of another, if it is newer, or else the other.
func (p *Project) built(file string) string {
	if !slices.Contains(templateNames, filepath.Base(file)) {
		return file
	}
	built := filepath.Join(filepath.Dir(file), ".aws-sam", "build", "template.yaml")
	p.Files = append(p.Files, file, built)
	source, err := os.Stat(file)
	if err != nil {
		return file
	}
	if info, err := os.Stat(built); err == nil && info.Mode().IsRegular() && info.ModTime().After(source.ModTime()) {
		p.Notices = append(p.Notices, fmt.Sprintf("%s is newer than %s, and is used", built, file))
		return built
	}
	return file
}

// maxInFolder is how many files of a folder are looked at.
//
//limit:command files of a folder that are looked at for templates | {} | the others are not
const maxInFolder = 1000

// maxFolders is how many folders below a folder are looked at, and maxBelow how deep.
//
//limit:command folders below a folder that are looked at for templates | {maxFolders}, {maxBelow} deep | the others
//limit:and are not
const (
	maxFolders = 1000
	maxBelow   = 3
)

// templatesIn returns the templates in a folder or, if there are none, in the folders below it. If there are none at
// all, it returns the definitions in the folder.
func (p *Project) templatesIn(folder string) ([]string, error) {
	all, err := p.templatesAt(folder)
	if len(all) > 0 || err != nil {
		return all, err
	}
	left := maxFolders
	var unmade error // a project whose templates must be made first
	failed := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() || path == folder {
			return nil //nolint:nilerr // a folder that cannot be read has no templates for this user
		}
		within, _ := filepath.Rel(folder, path) // path is below folder
		name := entry.Name()
		if left--; left < 0 || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "asset.") ||
			slices.Contains([]string{"node_modules", "vendor", "cdk.out"}, name) ||
			strings.Count(within, string(filepath.Separator)) >= maxBelow {
			return fs.SkipDir
		}
		found, err := p.templatesAt(path)
		if err != nil {
			unmade = cmp.Or(unmade, err)
		}
		all = append(all, found...)
		return nil
	})
	if failed != nil {
		return nil, failed
	}
	if len(all) == 0 && unmade != nil {
		return nil, unmade
	}
	if len(all) == 0 {
		all = filesThat(folder, isDefinitionFile)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no template with a state machine: want template.yaml, cdk.out/*.template.json, "+
			".serverless, or definitions such as order.asl.json", folder)
	}
	return all, nil
}

// templatesAt returns the templates in a folder: that of SAM, those that CDK and the Serverless Framework have made,
// or else all files that are templates.
func (p *Project) templatesAt(folder string) ([]string, error) {
	for _, name := range templateNames {
		if isTemplateFile(filepath.Join(folder, name)) {
			return []string{p.built(filepath.Join(folder, name))}, nil
		}
	}
	for _, patterns := range [][]string{
		{"cdk.out/*.template.json", "cdk.out/assembly-*/*.template.json"},
		{".serverless/cloudformation-template-update-stack.json"},
		{"*.template.json"},
	} {
		var found []string
		for _, pattern := range patterns {
			matches, _ := filepath.Glob(filepath.Join(escaped(folder), filepath.FromSlash(pattern))) // the pattern is valid
			found = append(found, matches...)
		}
		found = slices.DeleteFunc(found, func(name string) bool { return strings.HasSuffix(name, ".nested.template.json") })
		if len(found) > 0 {
			return found[:min(len(found), maxInFolder)], nil
		}
	}
	for _, of := range []struct{ file, command, makes string }{
		{"cdk.json", "cdk synth", "cdk.out"},
		{"serverless.yml", "serverless package", ".serverless"},
		{"serverless.yaml", "serverless package", ".serverless"},
		{"serverless.ts", "serverless package", ".serverless"},
	} {
		if _, err := os.Stat(filepath.Join(folder, of.file)); err == nil {
			return nil, fmt.Errorf("%s has a %s, but no folder %s: run `%s` there first", folder, of.file, of.makes, of.command)
		}
	}
	return filesThat(folder, isTemplateFile), nil
}

// filesThat returns the files in a folder that are of a kind.
func filesThat(folder string, is func(name string) bool) (all []string) {
	entries, _ := os.ReadDir(folder) // one that cannot be read has none
	for _, entry := range entries[:min(len(entries), maxInFolder)] {
		name := filepath.Join(folder, entry.Name())
		if entry.Type().IsRegular() && isDefinitionName(name) && is(name) {
			all = append(all, name)
		}
	}
	return all
}

// escaped returns a folder as a pattern that only it matches.
func escaped(folder string) string {
	return strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`).Replace(folder)
}

// isDefinitionName reports whether a file may be a definition or a template.
func isDefinitionName(name string) bool {
	ext := strings.ToLower(filepath.Ext(name))
	return slices.Contains([]string{".json", ".yaml", ".yml", ".template"}, ext) && !strings.Contains(name, ".test.")
}

// nestedTemplate matches the file of a nested stack in a template.
var nestedTemplate = regexp.MustCompile(`(Location|TemplateURL)"?:\s*["']?[^"'\s:]+\.(yaml|yml|json|template)`)

// isTemplateFile reports whether a file is a template with state machines, or would be if it were not broken.
func isTemplateFile(name string) bool {
	text, err := limitedfile.Read(name, maxFile)
	if err != nil || !bytes.Contains(text, []byte("::StateMachine")) && !nestedTemplate.Match(text) {
		return false
	}
	d, err := parse(name, text)
	return err != nil || d != nil && template.IsTemplate(d)
}

// isDefinitionFile reports whether a file is a definition in the Amazon States Language.
func isDefinitionFile(name string) bool {
	text, err := limitedfile.Read(name, maxFile)
	if err != nil {
		return false
	}
	d, err := document.ParseYAML(text)
	return err == nil && d.Get("StartAt") != nil && d.Get("States") != nil
}

// repositoryOf returns the folder of the Git repository that has a folder; the folder itself if there is none.
func repositoryOf(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if filepath.Base(at) == ".aws-sam" || filepath.Base(at) == ".serverless" || filepath.Base(at) == "cdk.out" {
			dir = filepath.Dir(at)
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

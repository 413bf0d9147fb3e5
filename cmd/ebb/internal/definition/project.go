package definition

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

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

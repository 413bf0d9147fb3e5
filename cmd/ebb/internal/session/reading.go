package session

import (
	"errors"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/internal/webscope"
)

// HowToRead returns how a file is read unless a command sets more.
func (s *Session) HowToRead(file string) (definition.Reading, error) {
	how := definition.Reading{Profile: s.edition, Template: s.Template}
	folders, web, err := s.allowed()
	if err != nil {
		return how, err
	}
	if how.Template.Values, err = s.values(); err != nil {
		return how, err
	}
	loader, err := definition.NewLoader(file, folders, web)
	how.Loader = loader
	return how, err
}

// Profile returns the profile of the States Language in which definitions are read.
func (s *Session) Profile() asl.Profile { return s.edition }

// AllowsURL returns an error for a URL that --allow does not name.
func (s *Session) AllowsURL(u *url.URL) error {
	_, web, err := s.allowed()
	if err != nil {
		return err
	}
	for _, scope := range web {
		if err = scope.Allows(u); !errors.Is(err, webscope.ErrOutside) {
			return err
		}
	}
	return errors.New("--allow does not name it")
}

// allowed returns the folders and the web documents that --allow names.
func (s *Session) allowed() (folders []string, web []webscope.Scope, err error) {
	for _, prefix := range s.allow {
		if name, is := strings.CutPrefix(prefix, "file://"); is {
			if !filepath.IsAbs(filepath.FromSlash(name)) {
				return nil, nil, exit.Usagef("--allow %s: want a folder with its whole path, such as file:///srv/apis/", prefix)
			}
			folders = append(folders, filepath.Clean(filepath.FromSlash(name)))
			continue
		}
		scope, err := webscope.Parse(prefix)
		if err != nil {
			return nil, nil, exit.Usagef("--allow: want the beginning of a URL, such as https://example.org/apis/, "+
				"or a folder, such as file:///srv/apis/: %w", err)
		}
		web = append(web, scope)
	}
	return folders, web, nil
}

// FlowsOf returns the definition, the definitions given with it, and those of their subflows, by name. It warns of
// missing ones.
func (s *Session) FlowsOf(file string, def *definition.Definition, how definition.Reading,
	also []string,
) (map[string]*definition.Definition, error) {
	flows := map[string]*definition.Definition{def.Name: def}
	for _, other := range also {
		d, err := definition.Read(other, how)
		if err != nil {
			return nil, err
		}
		if flows[d.Name] != nil {
			return nil, exit.Usagef("--also %s: there is a definition of the name %s already", other, d.Name)
		}
		flows[d.Name] = d
	}
	missing, err := definition.ReadFlows(file, flows, how)
	for _, name := range missing {
		s.Noticef("warning: %s: there is no definition of %q beside it (name its file with --also)", file, name)
	}
	return flows, err
}

// Tell prints what was chosen to read a project, and the warnings about its templates.
func (s *Session) Tell(p *definition.Project) {
	for _, notice := range p.Notices {
		s.Noticef("%s", notice)
	}
	for _, about := range p.About {
		for _, w := range about.Validate(definition.Reading{}).Of(flow.SeverityWarning) {
			s.WarnOf(about.File, w)
		}
	}
}

// Deployed is what is in files and folders.
type Deployed struct {
	Definitions []*definition.Definition // the subflows of each follow it, by name
	Projects    []*definition.Project    // that have them, and their templates
	Broken      error                    // what cannot be used
}

// Deployed reads the definitions in files and folders. If some cannot be used and others can, Broken says which.
func (s *Session) Deployed(paths []string) (*Deployed, error) {
	d := &Deployed{}
	for _, path := range paths {
		how, err := s.HowToRead(path)
		if err != nil {
			return nil, err
		}
		p, err := definition.ReadProject(path, how)
		if err != nil {
			return nil, err
		}
		s.Tell(p)
		d.Projects, d.Broken = append(d.Projects, p), errors.Join(d.Broken, p.Err())
		for _, source := range p.Sources {
			with, err := s.deploy(d.Definitions, source, how)
			if err != nil {
				d.Broken = errors.Join(d.Broken, err)
				continue
			}
			d.Definitions = with
		}
	}
	if len(d.Definitions) == 0 {
		return d, d.Broken
	}
	return d, nil
}

// deploy adds a definition, and those of its subflows that are not yet there.
func (s *Session) deploy(all []*definition.Definition, source *definition.Source, how definition.Reading) (
	[]*definition.Definition, error,
) {
	def, err := source.Definition(how)
	if err != nil {
		return nil, err
	}
	flows, err := s.FlowsOf(source.File, def, how, nil)
	if err != nil {
		return nil, err
	}
	add := func(d *definition.Definition) {
		if !slices.ContainsFunc(all, func(other *definition.Definition) bool { return other.Hash == d.Hash }) {
			all = append(all, d)
		}
	}
	add(def)
	for _, name := range slices.Sorted(maps.Keys(flows)) {
		add(flows[name])
	}
	return all, nil
}

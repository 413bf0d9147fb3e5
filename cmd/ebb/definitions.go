package main

import (
	"path/filepath"
	"strings"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/internal/webscope"
)

// howToRead returns how a file is read unless a command says more.
func (s *session) howToRead(file string) (definition.Reading, error) {
	how := definition.Reading{Profile: s.edition}
	var folders []string
	var web []webscope.Scope
	for _, prefix := range s.allow {
		if name, is := strings.CutPrefix(prefix, "file://"); is {
			if !filepath.IsAbs(filepath.FromSlash(name)) {
				return how, usagef("--allow %s: want a folder with its whole path, such as file:///srv/apis/", prefix)
			}
			folders = append(folders, filepath.Clean(filepath.FromSlash(name)))
			continue
		}
		scope, err := webscope.Parse(prefix)
		if err != nil {
			return how, usagef("--allow: want the beginning of a URL, such as https://example.org/apis/, or a folder, such as file:///srv/apis/: %w", err)
		}
		web = append(web, scope)
	}
	loader, err := definition.NewLoader(file, folders, web)
	how.Loader = loader
	return how, err
}

// flowsOf returns the definition, those that are given with it, and those of the flows
// that these run, by their names. What is missing is said.
func (s *session) flowsOf(file string, def *definition.Definition, how definition.Reading, also []string) (map[string]*definition.Definition, error) {
	flows := map[string]*definition.Definition{def.Name: def}
	for _, other := range also {
		d, err := definition.Read(other, how)
		if err != nil {
			return nil, err
		}
		if flows[d.Name] != nil {
			return nil, usagef("--also %s: there is a definition of the name %s already", other, d.Name)
		}
		flows[d.Name] = d
	}
	missing, err := definition.ReadFlows(file, flows, how)
	for _, name := range missing {
		s.noticef("warning: %s: there is no definition of %q beside it (name its file with --also)", file, name)
	}
	return flows, err
}

// deployed reads the definitions in files, and those that these run.
func (s *session) deployed(files []string) ([]*definition.Definition, error) {
	var all []*definition.Definition
	for _, file := range files {
		how, err := s.howToRead(file)
		if err != nil {
			return nil, err
		}
		def, err := definition.Read(file, how)
		if err != nil {
			return nil, err
		}
		flows, err := s.flowsOf(file, def, how, nil)
		if err != nil {
			return nil, err
		}
		for _, d := range flows {
			all = append(all, d)
		}
	}
	return all, nil
}

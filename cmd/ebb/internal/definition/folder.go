package definition

import (
	"bytes"
	"cmp"
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
)

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

package casetest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
)

// maxFiles is how many case files one call runs.
//
//limit:command case files of one `ebb test` | {} | refused
const maxFiles = 10_000

// caseEndings are the endings of the names of case files.
var caseEndings = []string{".test.yaml", ".test.yml", ".test.json"}

func isCaseFile(name string) bool {
	return slices.ContainsFunc(caseEndings, func(ending string) bool { return strings.HasSuffix(name, ending) })
}

// Find returns the case files that paths name: a case file, the definition that it tests, or a folder with such files
// at any depth. Folders whose names begin with a dot, and those named node_modules or vendor, are left out.
func Find(paths []string) ([]string, error) {
	var all []string
	for _, path := range paths {
		found, err := find(path)
		if err != nil {
			return nil, err
		}
		for _, file := range found {
			if !slices.Contains(all, file) {
				all = append(all, file)
			}
		}
		if len(all) > maxFiles {
			return nil, fmt.Errorf("%s has more than %d case files", path, maxFiles)
		}
	}
	return all, nil
}

func find(path string) ([]string, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("there is no file %s: %w", path, err)
	case info.IsDir():
		return findIn(path)
	case isCaseFile(path):
		return []string{path}, nil
	}
	base := definition.Base(path)
	for _, ending := range caseEndings {
		if info, err := os.Stat(base + ending); err == nil && info.Mode().IsRegular() {
			return []string{base + ending}, nil
		}
	}
	return nil, fmt.Errorf("%s has no cases: write %s%s beside it", path, base, caseEndings[0])
}

func findIn(folder string) (all []string, err error) {
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != folder && (strings.HasPrefix(name, ".") || name == "node_modules" || name == "vendor"):
			return filepath.SkipDir
		case entry.Type().IsRegular() && isCaseFile(name) && len(all) <= maxFiles:
			all = append(all, path)
		}
		return nil
	})
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%s has no case files, such as order%s beside order.asl.json", folder, caseEndings[0])
	}
	return all, err
}

package swf

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/flow/swf"
)

// maxUndoTypes is the most activity types for which a file says what undoes them.
//
//limit:swf types in the file of `--swf-undo` | {} | exit status 2
const maxUndoTypes = 1000

// ParseUndo reads a file that says which activities undo which, for [Config.Undo]: on each line a type, a blank, =, a
// blank, and the type that undoes it, each as NAME/VERSION. Empty lines, and lines that begin with #, say nothing. The
// error names the line.
func ParseUndo(text string) ([]swf.UndoType, error) {
	var all []swf.UndoType
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		u, err := parseUndoLine(line)
		switch {
		case err != nil:
		case slices.ContainsFunc(all, func(o swf.UndoType) bool { return o.Type == u.Type }):
			err = fmt.Errorf("a line before says what undoes %s/%s", u.Type.Name, u.Type.Version)
		case len(all) == maxUndoTypes:
			err = fmt.Errorf("there may be %d types", maxUndoTypes)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		all = append(all, u)
	}
	return all, nil
}

func parseUndoLine(line string) (u swf.UndoType, err error) {
	of, by, ok := strings.Cut(line, " = ")
	if !ok || strings.Contains(by, " = ") {
		return u, fmt.Errorf("%q: want NAME/VERSION = NAME/VERSION", line)
	}
	if u.Type, err = parseType(of); err == nil {
		u.By, err = parseType(by)
	}
	return u, err
}

// parseType reads a type as NAME/VERSION. No name has a slash.
func parseType(text string) (t swf.Type, err error) {
	text = strings.TrimSpace(text)
	name, version, _ := strings.Cut(text, "/")
	t = swf.Type{Name: name, Version: version}
	const mostName, mostVersion = 256, 64
	if !isNameOf(name, mostName) || !isNameOf(version, mostVersion) {
		err = fmt.Errorf("%q is no activity type: want NAME/VERSION", text)
	}
	return t, err
}

func isNameOf(text string, most int) bool {
	return text != "" && swf.Length(text) <= most && swf.IsName(text)
}

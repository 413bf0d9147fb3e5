package inspect

import (
	"strings"
)

// CutPath returns the path of what a step is shown under, and its name there:
// Fork[0]/Pay is shown as Pay under Fork[0], and that as [0] under Fork.
func CutPath(path string) (above, name string) {
	slash := strings.LastIndexByte(path, '/')
	name = path[slash+1:]
	if open := strings.LastIndexByte(name, '['); open > 0 && strings.HasSuffix(name, "]") {
		return path[:slash+1+open], name[open:]
	}
	return path[:max(slash, 0)], strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
}

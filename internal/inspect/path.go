package inspect

import (
	"strings"

	"github.com/ebbflow/ebb/internal/nodepath"
)

// CutPath splits the path of a step for a tree into the path of the step above it, and its name below that one:
// Fork[0]/Pay is Pay below Fork[0], and Fork[0] is [0] below Fork.
func CutPath(path string) (above, name string) {
	last := nodepath.Last(path)
	if fork, _, ok := nodepath.CutIndex(path); ok && last[0] != '[' {
		return fork, path[len(fork):]
	}
	return strings.TrimSuffix(path[:len(path)-len(last)], "/"), nodepath.Unescape(last)
}

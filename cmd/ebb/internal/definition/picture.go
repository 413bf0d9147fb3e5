package definition

import (
	"strings"

	"github.com/ebbflow/ebb/flow/draw"
)

// The IDs of what is no state.
const (
	startID = "start"
	endID   = "end"
)

func stateID(name string) string { return "state " + name }

// emptyPicture returns a view of the start and the end.
func emptyPicture(title string) draw.View {
	return draw.View{Title: title, Nodes: []draw.Node{{ID: startID, Label: "start", Kind: draw.Start}, {ID: endID, Label: "end", Kind: draw.End}}}
}

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

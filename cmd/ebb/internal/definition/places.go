package definition

import (
	"strings"

	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/internal/inspect"
)

// places are where the atoms are that the nodes of a picture show, by the IDs of the nodes.
type places map[string]*place

// A place is the path of an atom; if there are several, the path that they are all below.
type place struct {
	path string
	many bool
}

// add records that a node shows the atom at a path.
func (p places) add(id, path string) {
	at := p[id]
	switch {
	case at == nil:
		p[id] = &place{path: path}
		return
	case at.path == path && !at.many:
		return
	case !at.many:
		at.path, _ = inspect.CutPath(at.path)
		at.many = true
	}
	for at.path != "" && !isBelow(path, at.path) {
		at.path, _ = inspect.CutPath(at.path)
	}
}

func isBelow(path, above string) bool {
	rest, is := strings.CutPrefix(path, above)
	return is && rest != "" && (rest[0] == '/' || rest[0] == '[')
}

// in writes the places to the nodes of a picture that a caller may change.
func (p places) in(nodes []draw.Node) {
	for i := range nodes {
		if at := p[nodes[i].ID]; at != nil {
			nodes[i].Path, nodes[i].Many = at.path, at.many
		}
	}
}

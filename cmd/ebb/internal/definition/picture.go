package definition

import (
	"github.com/ebbflow/ebb/flow/draw"
)

// IDs of nodes that are not states.
const (
	startID = "start"
	endID   = "end"
)

func stateID(name string) string { return "state " + name }

// emptyPicture returns a view of the start and the end.
func emptyPicture(title string) draw.View {
	return draw.View{Title: title, Nodes: []draw.Node{
		{ID: startID, Label: "start", Kind: draw.Start},
		{ID: endID, Label: "end", Kind: draw.End},
	}}
}

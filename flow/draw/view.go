package draw

import "slices"

// A View is the content of a picture. The zero View is an empty picture.
type View struct {
	Title  string  // Optional.
	Groups []Group // a group stands behind the one it is in, or else counts as in none
	Nodes  []Node
	Edges  []Edge // edges from or to a node that is not in Nodes are left out
}

// A Group is a frame around nodes and other groups: a flow within a flow, a
// branch of a Parallel state.
type Group struct {
	ID    string // unique among groups. Required.
	Label string // Optional; default is no text.
	In    string // ID of the group around it. Optional; default is none.
}

// A Node is one thing in the picture.
type Node struct {
	ID    string // unique among nodes. Required.
	Label string // Optional; default is the ID.
	Kind  Kind   // gives the shape
	State string // a state's text, gives the colour. Optional; default is planned only.
	In    string // ID of the group it is in. Optional; default is none.
}

// An Edge leads from one node to another.
type Edge struct {
	From, To string // IDs of nodes. Required.
	Label    string // Optional.
	Maybe    bool   // whether To follows is decided when it is its turn
}

// Kind is the kind of a node.
type Kind uint8

// The kinds of nodes.
const (
	Task     Kind = iota // does work
	Undoable             // does work that can be undone
	Retry                // decides about failures in its flow
	Choice               // decides what comes next
	Wait                 // waits for a time
	Compute              // only computes
	Junction             // only joins edges; shown without text
	Start                // where it begins
	End                  // where it ends
)

// Coloured returns the view with the state of each node that states names by
// its ID.
func (v View) Coloured(states map[string]string) View {
	v.Nodes = slices.Clone(v.Nodes)
	for i := range v.Nodes {
		if s, ok := states[v.Nodes[i].ID]; ok {
			v.Nodes[i].State = s
		}
	}
	return v
}

// text returns what is written in n: its name and, below that, its state.
func (n *Node) text() string {
	label := n.Label
	if label == "" {
		label = n.ID
	}
	if n.Kind == Junction {
		return ""
	}
	if _, coloured := colours[n.State]; coloured {
		label += "\n" + n.State
	}
	return label
}

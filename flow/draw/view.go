package draw

import (
	"cmp"
	"slices"
)

// A View is the content of a diagram: nodes, the edges between them, and groups around them. [DOT], [Mermaid] and the
// other functions render it. The zero View is an empty diagram.
type View struct {
	Title  string  // shown above the diagram; may be ""
	Groups []Group // a group must follow the group that contains it; otherwise it is drawn at the top level
	Nodes  []Node  // in the order of the layout
	Edges  []Edge  // edges from or to an unknown node are left out
}

// A Group is a frame around nodes and other groups, such as a flow within a flow, or a branch of a Parallel state.
type Group struct {
	ID    string // names the group: unique among groups, not shown; must not be ""
	Label string // text of the frame; may be ""
	In    string // ID of the group that contains it; "" means none
}

// A Node is one node of a [View]: a step of a flow, or its start or end.
type Node struct {
	ID    string // names the node: unique among nodes; must not be ""
	Label string // text of the node; "" shows the ID
	Kind  Kind   // determines the shape
	State string // text of what became of it in a run, such as "SUCCESS" or "STAYS_DONE"; gives the color. "" is not run
	Count string // text in place of State if it ran more than once, such as "2 FAILURE, 38 SUCCESS"; may be ""
	In    string // ID of the group that contains it; "" means none
	Path  string // path in a run of the atom that it shows; "" is the label
	Many  bool   // it shows several atoms, all of them below Path; "" is then the run itself
	Pivot bool   // a point of no return, see [atom.Pivot]: marked in the images of SVG
}

// An Edge leads from one node to another.
type Edge struct {
	From, To string // IDs of nodes
	Label    string // text of the edge; may be ""
	Maybe    bool   // drawn dashed: the run decides whether To follows From
	Taken    bool   // drawn thick and in color: a run took it
}

// Kind is the kind of a [Node]. It determines the shape.
type Kind uint8

// The kinds of nodes.
const (
	Task     Kind = iota // does work
	Undoable             // does work that can be undone
	Retry                // decides about failures in its flow
	Choice               // decides which node follows
	Wait                 // waits for a time
	Compute              // only computes
	Junction             // only joins edges; shown without text
	Start                // the flow starts here
	End                  // the flow ends here
)

// kindNames are the names of the kinds.
var kindNames = [...]string{
	Task: "task", Undoable: "undoable", Retry: "retry", Choice: "choice", Wait: "wait", Compute: "compute",
	Junction: "junction", Start: "start", End: "end",
}

// String returns the name of the kind, such as "task".
func (k Kind) String() string {
	if int(k) >= len(kindNames) {
		return ""
	}
	return kindNames[k]
}

// KindNamed returns the kind with a name; [Task] if there is none.
func KindNamed(name string) Kind {
	return Kind(max(slices.Index(kindNames[:], name), 0))
}

// Colored returns the view with the State of its nodes set. states contains the texts of states, by the IDs of
// nodes.
func (v View) Colored(states map[string]string) View {
	v.Nodes = slices.Clone(v.Nodes)
	for i := range v.Nodes {
		if s, ok := states[v.Nodes[i].ID]; ok {
			v.Nodes[i].State = s
		}
	}
	return v
}

// Counted returns the view with the Count of its nodes set. counts contains the texts, by the IDs of nodes.
func (v View) Counted(counts map[string]string) View {
	v.Nodes = slices.Clone(v.Nodes)
	for i := range v.Nodes {
		v.Nodes[i].Count = cmp.Or(counts[v.Nodes[i].ID], v.Nodes[i].Count)
	}
	return v
}

// Along returns the view with Taken of the given edges set, in which Taken is false.
func (v View) Along(taken map[Edge]bool) View {
	v.Edges = slices.Clone(v.Edges)
	for i, e := range v.Edges {
		v.Edges[i].Taken = e.Taken || taken[e]
	}
	return v
}

// text returns the text of n: its name and, below that, its state.
func (n *Node) text() string {
	label := n.Label
	if label == "" {
		label = n.ID
	}
	if n.Kind == Junction {
		return ""
	}
	if _, colored := colors[n.State]; colored {
		label += "\n" + cmp.Or(n.Count, n.State)
	}
	return label
}

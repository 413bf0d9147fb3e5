package draw

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// mermaidShapes are the brackets around a node's text, by kind.
var mermaidShapes = [...][2]string{
	Task: {"[", "]"}, Undoable: {"[[", "]]"}, Retry: {"{{", "}}"}, Choice: {"{", "}"}, Wait: {"[/", "/]"},
	Compute: {"(", ")"}, Junction: {"((", "))"}, Start: {"([", "])"}, End: {"([", "])"},
}

// Mermaid returns the view as a flowchart. A node that can be undone has double sides. An edge whose target is
// decided at run time is dotted, unless a run took it.
func Mermaid(v View) string {
	m := &mermaid{states: map[string][]string{}}
	if v.Title != "" {
		fmt.Fprintf(&m.out, "---\ntitle: %s\n---\n", mermaidText(v.Title))
	}
	m.out.WriteString("flowchart TD\n")
	treeOf(&v).write(m)
	if len(m.taken) > 0 {
		fmt.Fprintf(&m.out, "  linkStyle %s stroke:%s,stroke-width:3px\n", strings.Join(m.taken, ","), takenLine)
	}
	for _, state := range slices.Sorted(maps.Keys(m.states)) {
		c := colors[state]
		fmt.Fprintf(&m.out, "  classDef %s fill:%s,stroke:%s,color:%s", state, c.fill, c.line, c.text)
		if c.dashed {
			m.out.WriteString(",stroke-dasharray:4 3")
		}
		fmt.Fprintf(&m.out, "\n  class %s %s\n", strings.Join(m.states[state], ","), state)
	}
	return m.out.String()
}

type mermaid struct {
	out    strings.Builder
	states map[string][]string // names of the nodes in each colored state
	edges  int                 // number of edges written
	taken  []string            // numbers of the edges that a run took
}

func (m *mermaid) linef(indent int, format string, args ...any) {
	m.out.WriteString(strings.Repeat("  ", indent))
	fmt.Fprintf(&m.out, format+"\n", args...)
}

func (m *mermaid) node(indent int, name string, n *Node) {
	shape := mermaidShapes[n.Kind]
	m.linef(indent, "%s%s%s%s", name, shape[0], mermaidText(n.text()), shape[1])
	if _, ok := colors[n.State]; ok {
		m.states[n.State] = append(m.states[n.State], name)
	}
}

func (m *mermaid) begin(indent int, name string, g *Group) {
	m.linef(indent, "subgraph %s[%s]", name, mermaidText(g.Label))
}

func (m *mermaid) end(indent int) { m.linef(indent, "end") }

func (m *mermaid) edge(from, to string, e *Edge) {
	arrow := "-->"
	if e.Maybe && !e.Taken {
		arrow = "-.->"
	}
	if e.Label != "" {
		arrow += "|" + mermaidText(e.Label) + "|"
	}
	m.linef(1, "%s %s %s", from, arrow, to)
	if e.Taken {
		m.taken = append(m.taken, strconv.Itoa(m.edges))
	}
	m.edges++
}

// mermaidEscapes escapes the characters that have a meaning for Mermaid, for the HTML that it writes, or for the
// YAML of the title.
var mermaidEscapes = strings.NewReplacer(
	"#", "#35;", `"`, "#quot;", "&", "#amp;", "<", "#lt;", ">", "#gt;", "`", "#96;", `\`, "#92;", "\n", "<br/>",
)

// mermaidText returns s quoted. It replaces an empty text by a blank, which Mermaid needs.
func mermaidText(s string) string {
	if s == "" {
		s = " "
	}
	return `"` + mermaidEscapes.Replace(printable(s)) + `"`
}

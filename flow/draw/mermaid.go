package draw

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// mermaidShapes are what stands before and behind a node's text.
var mermaidShapes = [...][2]string{
	Task: {"[", "]"}, Undoable: {"[[", "]]"}, Retry: {"{{", "}}"}, Choice: {"{", "}"}, Wait: {"[/", "/]"},
	Compute: {"(", ")"}, Junction: {"((", "))"}, Start: {"([", "])"}, End: {"([", "])"},
}

// Mermaid returns v as a flowchart. A node that can be undone has double sides. An
// edge whose target is decided at run time is dotted.
func Mermaid(v View) string {
	m := &mermaid{states: map[string][]string{}}
	if v.Title != "" {
		fmt.Fprintf(&m.out, "---\ntitle: %s\n---\n", mermaidText(v.Title))
	}
	m.out.WriteString("flowchart TD\n")
	treeOf(&v).write(m)
	for _, state := range slices.Sorted(maps.Keys(m.states)) {
		c := colours[state]
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
	states map[string][]string // names of the nodes in each state that has a colour
}

func (m *mermaid) linef(indent int, format string, args ...any) {
	m.out.WriteString(strings.Repeat("  ", indent))
	fmt.Fprintf(&m.out, format+"\n", args...)
}

func (m *mermaid) node(indent int, name string, n *Node) {
	shape := mermaidShapes[n.Kind]
	m.linef(indent, "%s%s%s%s", name, shape[0], mermaidText(n.text()), shape[1])
	if _, ok := colours[n.State]; ok {
		m.states[n.State] = append(m.states[n.State], name)
	}
}

func (m *mermaid) begin(indent int, name string, g *Group) {
	m.linef(indent, "subgraph %s[%s]", name, mermaidText(g.Label))
}

func (m *mermaid) end(indent int) { m.linef(indent, "end") }

func (m *mermaid) edge(from, to string, e *Edge) {
	arrow := "-->"
	if e.Maybe {
		arrow = "-.->"
	}
	if e.Label != "" {
		arrow += "|" + mermaidText(e.Label) + "|"
	}
	m.linef(1, "%s %s %s", from, arrow, to)
}

// mermaidEscapes are the characters that mean something to Mermaid, to the HTML
// that it writes, or to the YAML of the title.
var mermaidEscapes = strings.NewReplacer(
	"#", "#35;", `"`, "#quot;", "&", "#amp;", "<", "#lt;", ">", "#gt;", "`", "#96;", `\`, "#92;", "\n", "<br/>",
)

// mermaidText returns s quoted. An empty text is a blank, which Mermaid needs.
func mermaidText(s string) string {
	if s == "" {
		s = " "
	}
	return `"` + mermaidEscapes.Replace(printable(s)) + `"`
}

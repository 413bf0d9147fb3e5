package draw

import (
	"fmt"
	"strings"
)

// dotShapes are Graphviz's names of the shapes, by kind.
var dotShapes = [...]string{
	Task: "shape=box", Undoable: "shape=box, peripheries=2", Retry: "shape=hexagon", Choice: "shape=diamond",
	Wait:    "shape=parallelogram",
	Compute: "shape=box", Junction: "shape=point", Start: "shape=oval", End: "shape=oval",
}

// DOT returns the view as a directed graph for Graphviz. A node that can be undone has a double border. An edge
// whose target is decided at run time is dashed.
func DOT(v View) string {
	d := &dot{}
	fmt.Fprintf(&d.out, "digraph %s {\n", dotText(v.Title))
	if v.Title != "" {
		d.linef(1, "label=%s; labelloc=t", dotText(v.Title))
	}
	treeOf(&v).write(d)
	d.out.WriteString("}\n")
	return d.out.String()
}

type dot struct{ out strings.Builder }

func (d *dot) linef(indent int, format string, args ...any) {
	d.out.WriteString(strings.Repeat("  ", indent))
	fmt.Fprintf(&d.out, format+";\n", args...)
}

func (d *dot) node(indent int, name string, n *Node) {
	attributes := dotShapes[n.Kind]
	c, colored := colors[n.State]
	var styles []string
	if n.Kind == Compute {
		styles = append(styles, "rounded")
	}
	if colored {
		styles = append(styles, "filled")
		attributes += fmt.Sprintf(", fillcolor=%q, color=%q, fontcolor=%q", c.fill, c.line, c.text)
	}
	if c.dashed {
		styles = append(styles, "dashed")
	}
	if styles != nil {
		attributes += fmt.Sprintf(", style=%q", strings.Join(styles, ","))
	}
	d.linef(indent, "%s [label=%s, %s]", name, dotText(n.text()), attributes)
}

func (d *dot) begin(indent int, name string, g *Group) {
	d.out.WriteString(strings.Repeat("  ", indent) + "subgraph cluster_" + name + " {\n")
	d.linef(indent+1, "label=%s", dotText(g.Label))
}

func (d *dot) end(indent int) { d.out.WriteString(strings.Repeat("  ", indent) + "}\n") }

func (d *dot) edge(from, to string, e *Edge) {
	var attributes []string
	if e.Label != "" {
		attributes = append(attributes, "label="+dotText(e.Label))
	}
	switch {
	case e.Taken:
		attributes = append(attributes, fmt.Sprintf("color=%q, penwidth=3", takenLine))
	case e.Maybe:
		attributes = append(attributes, "style=dashed")
	}
	if attributes == nil {
		d.linef(1, "%s -> %s", from, to)
	} else {
		d.linef(1, "%s -> %s [%s]", from, to, strings.Join(attributes, ", "))
	}
}

var dotEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// dotText returns s as a quoted string of Graphviz.
func dotText(s string) string { return `"` + dotEscapes.Replace(printable(s)) + `"` }

package draw

import (
	"fmt"
	"strings"
)

// dotShapes are Graphviz's words for the kinds.
var dotShapes = [...]string{
	Task: "shape=box", Undoable: "shape=box, peripheries=2", Retry: "shape=hexagon", Choice: "shape=diamond", Wait: "shape=parallelogram",
	Compute: "shape=box", Junction: "shape=point", Start: "shape=oval", End: "shape=oval",
}

// DOT returns v as a directed graph for Graphviz. What can be undone has a double
// border, an edge that is decided about is dashed.
func DOT(v View) string {
	d := &dot{}
	fmt.Fprintf(d, "digraph %s {\n", dotText(v.Title))
	if v.Title != "" {
		d.line(1, "label=%s; labelloc=t", dotText(v.Title))
	}
	treeOf(&v).write(d)
	d.WriteString("}\n")
	return d.String()
}

type dot struct{ strings.Builder }

func (d *dot) line(indent int, format string, args ...any) {
	d.WriteString(strings.Repeat("  ", indent))
	fmt.Fprintf(&d.Builder, format+";\n", args...)
}

func (d *dot) node(indent int, name string, n *Node) {
	attributes := dotShapes[n.Kind]
	c, coloured := colours[n.State]
	var styles []string
	if n.Kind == Compute {
		styles = append(styles, "rounded")
	}
	if coloured {
		styles = append(styles, "filled")
		attributes += fmt.Sprintf(", fillcolor=%q, color=%q, fontcolor=%q", c.fill, c.line, c.text)
	}
	if c.dashed {
		styles = append(styles, "dashed")
	}
	if styles != nil {
		attributes += fmt.Sprintf(", style=%q", strings.Join(styles, ","))
	}
	d.line(indent, "%s [label=%s, %s]", name, dotText(n.text()), attributes)
}

func (d *dot) begin(indent int, name string, g *Group) {
	d.WriteString(strings.Repeat("  ", indent) + "subgraph cluster_" + name + " {\n")
	d.line(indent+1, "label=%s", dotText(g.Label))
}

func (d *dot) end(indent int) { d.WriteString(strings.Repeat("  ", indent) + "}\n") }

func (d *dot) edge(from, to string, e *Edge) {
	var attributes []string
	if e.Label != "" {
		attributes = append(attributes, "label="+dotText(e.Label))
	}
	if e.Maybe {
		attributes = append(attributes, "style=dashed")
	}
	if attributes == nil {
		d.line(1, "%s -> %s", from, to)
	} else {
		d.line(1, "%s -> %s [%s]", from, to, strings.Join(attributes, ", "))
	}
}

var dotEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// dotText returns s as one of Graphviz's quoted strings.
func dotText(s string) string { return `"` + dotEscapes.Replace(printable(s)) + `"` }

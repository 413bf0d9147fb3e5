package console

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/draw"
)

const (
	mostProblems = 100 // problems of a definition on a page
	//limit:shown nodes of a graph beside the editor | {} | no graph
	mostDrawn    = 1000
	besideColumn = 60 // characters of a line that a page shows on each side of a problem
)

// A validation is what the API says of a definition.
type validation struct {
	Result               string
	Diagnostics, Refused []flow.Diagnostic
	Calls                []string
	Graph                *graphAnswer

	text []string // lines of the definition
}

// A graphAnswer is a graph as the API answers it.
type graphAnswer struct {
	Title  string
	Nodes  []struct{ ID, Label, Kind, In string }
	Groups []draw.Group
	Edges  []draw.Edge
}

func (g *graphAnswer) view() draw.View {
	v := draw.View{Title: g.Title, Groups: g.Groups, Edges: g.Edges}
	for _, n := range g.Nodes {
		v.Nodes = append(v.Nodes, draw.Node{ID: n.ID, Label: n.Label, In: n.In, Kind: draw.KindNamed(n.Kind)})
	}
	return v
}

// version is the same for graphs that are drawn alike.
func (g *graphAnswer) version() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%#v", *g))
	return hex.EncodeToString(sum[:8])
}

// results shows the problems of the text, and its graph. A browser that shows the graph already, of the version drawn,
// keeps it.
func (e *edition) results(drawn string) node {
	v := e.checked
	if v == nil {
		return el("div", attr("id", "checked"),
			el("div", attr("data-found", ""), el("p", attr("id", "count"), attr("role", "status"))),
			el("div", attr("data-graph", "none")))
	}
	count := say("Problems: {0}", number(len(v.Diagnostics)))
	if len(v.Diagnostics) == 0 {
		count = say("No problem")
	}
	return el("div", attr("id", "checked"), el("div", attr("data-found", ""),
		el("p", attr("id", "count"), attr("role", "status"), count),
		v.list(v.Diagnostics),
		when(len(v.Refused) > 0, el("h2", say("It cannot be stored here, because of what it names")), v.list(v.Refused)),
		when(len(v.Calls) > 0, soft(say("These call a task, and need a mock to be tried: {0}",
			words(strings.Join(v.Calls[:min(len(v.Calls), mostProblems)], ", ")))))),
		v.picture(drawn))
}

func (v *validation) picture(shown string) node {
	if v.Graph == nil {
		return el("div", attr("data-graph", "none"), soft(say("There is no graph while the text has errors.")))
	}
	if len(v.Graph.Nodes) > mostDrawn {
		return el("div", attr("data-graph", "large"), tooLarge())
	}
	version := v.Graph.version()
	if version == shown {
		return el("div", attr("data-graph", "same"))
	}
	return el("div", attr("data-graph", "new"), attr("data-drawn", version),
		framed(drawn(v.Graph.view(), draw.SVGOptions{Bare: true}), "graph"))
}

// severities are the words for how serious a problem is, with their symbols.
var severities = map[flow.Severity]struct {
	symbol string
	name   string
}{
	flow.SeverityError: {"✗", "error"}, flow.SeverityUnsupported: {"◌", "unsupported"},
	flow.SeverityWarning: {"!", "warning"},
}

func (v *validation) list(all []flow.Diagnostic) node {
	shown := all[:min(len(all), mostProblems)]
	return fragment{
		when(len(all) > 0, el("ul", class("problems"), each(shown, v.problem))),
		when(len(shown) < len(all), soft(say("There are more."))),
	}
}

// problem shows a problem, with the line in which it is. The link leads to the text, and with scripts to the place.
func (v *validation) problem(d *flow.Diagnostic) node {
	s := severities[d.Severity]
	return el("li",
		el("b", words(s.symbol+" "), say(s.name)), words(" "),
		el("a", href("#text"), attr("data-line", strconv.Itoa(d.Line)), attr("data-column", strconv.Itoa(d.Column)),
			attr("data-mark", s.symbol), words(strconv.Itoa(d.Line)+":"+strconv.Itoa(d.Column))),
		words(" "), words(d.Message),
		when(d.Fix != "", words(" "), el("span", class("fix"), say("Fix: {0}", words(d.Fix)))),
		when(d.Code != "", words(" "), code(string(d.Code))), words(" "), code(d.Rule),
		v.excerpt(d.Line, d.Column))
}

// excerpt shows a part of a line of the text, with a sign below a column.
func (v *validation) excerpt(line, column int) node {
	if line < 1 || line > len(v.text) || column < 1 {
		return none
	}
	runes := []rune(beginning(v.text[line-1], maxDefinition))
	at := min(column-1, len(runes))
	from, to := max(0, at-besideColumn), min(len(runes), at+besideColumn)
	before, after := strings.ReplaceAll(string(runes[from:at]), "\t", " "), string(runes[at:to])
	sign := strings.Repeat(" ", utf8.RuneCountInString(before)) + "^"
	return el("pre", attr("tabindex", "0"), literal(before+after+"\n"+sign))
}

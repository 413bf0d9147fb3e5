package console

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/runfilter"
	"github.com/ebbflow/ebb/storage"
)

// maxDefinition is up to how many bytes of a definition a page shows.
const maxDefinition = 100 << 10

// definitions lists the stored definitions.
func (c *console) definitions(ctx context.Context, v *visit) (node, error) {
	all, more, err := inspect.DefinitionPage(ctx, c.store, "", v.query.Get("after"), mostSteps)
	if err != nil {
		return nil, err
	}
	var next node = none
	if more {
		next = later(link("definitions", "after", all[len(all)-1].Hash))
	}
	counts, err := c.runCounts(ctx, all, v.now)
	if err != nil {
		return nil, err
	}
	return fragment{
		el("h1", say("Definitions")),
		when(c.edits(v), el("p", class("buttons"), el("a", class("button"), href(editPage), say("New definition")))),
		when(len(all) == 0, calm("No definition is stored (ebb run and ebb post store what they run).")),
		when(len(all) > 0, grid(heads("Flow", "Version", "Language", "Stored", "Runs"),
			each(all, func(d *storage.Definition) node { return definitionRow(d, counts[d.Hash]) }))),
		next,
	}, nil
}

func definitionRow(d *storage.Definition, runs node) node {
	return el("tr", el("td", el("a", href(link("definition", "hash", d.Hash)), words(d.Name))),
		el("td", class("num"), words(strconv.FormatInt(d.Version, 10))), el("td", words(d.Language)),
		el("td", exact(d.Created)), el("td", runsOf(d.Hash, runs)))
}

// runsOf links to the runs of a definition, whose number may be known.
func runsOf(hash string, count node) node {
	f, err := runfilter.Term("definition", hash)
	if err != nil {
		return none
	}
	if count == nil {
		count = say("its runs")
	}
	return el("a", href(link("runs", "filter", f.String(), "children", "1")), count)
}

// definition shows a stored definition: its graph, its text, and how it differs from another version.
func (c *console) definition(ctx context.Context, v *visit) (node, error) {
	d, err := c.store.Definition(ctx, v.query.Get("hash"))
	if err != nil {
		return nil, err
	}
	v.title = say("{0} version {1}", words(d.Name), number(d.Version))
	versions, err := c.store.Definitions(ctx, backend.DefinitionQuery{Name: d.Name, Limit: mostSteps})
	if err != nil {
		return nil, err
	}
	var text node = fragment{
		el("pre", class("text"), attr("tabindex", "0"), literal(cut(string(d.Text)))),
		when(len(d.Text) > maxDefinition, soft(say("The API has all of it."))),
	}
	if with := v.query.Get("with"); with != "" {
		other, err := c.store.Definition(ctx, with)
		if err != nil {
			return nil, err
		}
		text = fragment{
			el("h2", say("What changed since version {0}", number(other.Version))),
			c.comparedVersions(ctx, v, &other, &d), differences(string(other.Text), string(d.Text)),
		}
	} else {
		text = fragment{c.drawn(ctx, v, &d), text}
	}
	counts, err := c.runCounts(ctx, versions, v.now)
	if err != nil {
		return nil, err
	}
	return fragment{
		el("h1", v.title),
		when(v.operates, el("div", class("buttons"),
			when(c.edits(v), el("a", class("button"), href(link(editPage, "hash", d.Hash)), say("Edit")), words(" ")),
			v.button("", "jobs", "", "f.flow", d.Name, "f.version", strconv.FormatInt(d.Version, 10)))),
		soft(words(d.Language), words(" · "), say("stored {0}", exact(d.Created)), words(" · "),
			runsOf(d.Hash, counts[d.Hash])),
		when(len(versions) < 2, soft(say("There is one version."))), //nolint:mnd // this one and another
		when(len(versions) >= 2, soft(say("Compare with:"), words(" "), each(versions, func(other *storage.Definition) node {
			return when(other.Hash != d.Hash, el("a", href(link("definition", "hash", d.Hash, "with", other.Hash)),
				say("version {0}", number(other.Version))), words(" "))
		}))), //nolint:mnd // this one and another
		text,
	}, nil
}

// drawn draws a definition; nothing if it cannot be read here.
func (c *console) drawn(ctx context.Context, v *visit, d *storage.Definition) node {
	if c.o.Define == nil {
		return none
	}
	m, err := c.o.Define(ctx, d)
	if err != nil {
		return soft(say("There is no picture: {0}", words(err.Error())))
	}
	return v.pictured(m.Picture(d.Name), draw.SVGOptions{Bare: true})
}

func cut(text string) string {
	if len(text) <= maxDefinition {
		return text
	}
	return strings.ToValidUTF8(text[:maxDefinition], "") + "\n…"
}

// mostLines is how many lines of two texts are compared: the time grows with the square.
const mostLines = 1500

// differences shows two texts as one, with the lines that only one of them has.
func differences(old, now string) node {
	if !strings.Contains(strings.TrimSpace(old), "\n") || !strings.Contains(strings.TrimSpace(now), "\n") {
		old, now = indented(old), indented(now) // a line that is all of it tells nothing
	}
	a, b := strings.Split(cut(old), "\n"), strings.Split(cut(now), "\n")
	a, b = a[:min(len(a), mostLines)], b[:min(len(b), mostLines)]
	// common[i][j] is the length of the longest common part of a[i:] and b[j:].
	common := make([][]int16, len(a)+1)
	for i := range common {
		common[i] = make([]int16, len(b)+1)
	}
	for i, was := range slices.Backward(a) {
		for j, is := range slices.Backward(b) {
			if common[i][j] = max(common[i+1][j], common[i][j+1]); was == is {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	var lines fragment
	line := func(mark, name, text string) { lines = append(lines, el(name, literal(mark+text+"\n"))) }
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			line("  ", "span", a[i])
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			line("- ", "del", a[i])
			i++
		default:
			line("+ ", "ins", b[j])
			j++
		}
	}
	return el("pre", class("text"), attr("tabindex", "0"), lines)
}

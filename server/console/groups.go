package console

import (
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/internal/runfilter"
)

// groups has the form that counts the runs by fields, and the groups of runs. Each leads to its runs.
func (b *runsBody) groups() node {
	var table node = none
	if len(b.Groups.Groups) > 0 {
		names := append(strings.Split(b.By, ","), "Runs", "Newest")
		shown := b.Groups.Groups[:min(few, len(b.Groups.Groups))]
		table = grid(heads(names...), each(shown, func(g *runfilter.Group) node {
			return el("tr", each(g.Values, func(text *string) node { return el("td", words(*text)) }),
				el("td", class("num"),
					el("a", href(link("runs", "filter", g.Filter, "children", "1")), words(strconv.Itoa(g.Runs)))),
				el("td", runLink(g.Newest)))
		}))
	}
	return fragment{
		el("form", class("filter"), attr("method", "get"), attr("action", "runs"),
			b.kept(),
			el("label", say("Count by"), words(" "), el("input", attr("name", "by"), attr("value", b.By),
				attr("placeholder", "code,flow,label:region"), attr("spellcheck", "false"), attr("autocapitalize", "off"))),
			el("button", say("Count"))),
		table,
		when(b.By != "" && b.Groups.Next.String() != "",
			soft(say("These are the counts since {0}.", exact(b.Groups.Back)))),
	}
}

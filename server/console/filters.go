package console

import (
	"net/url"

	"github.com/ebbflow/ebb/internal/runfilter"
)

// chosenTerm returns the term that a person chose beside the filter; the filter of all runs if there is none.
func chosenTerm(q url.Values) (runfilter.Filter, error) {
	value := q.Get("value")
	if value == "" {
		return runfilter.Filter{}, nil
	}
	term, err := runfilter.Term(q.Get("field"), value)
	if q.Get("not") != "" {
		term = term.Negated()
	}
	return term, err
}

// filters lists the terms of the filter, each with links that negate and remove it, and a form that adds one.
func (b *runsBody) filters() node {
	filter, err := runfilter.Parse(b.Filter)
	if err != nil {
		return none
	}
	terms := filter.Terms()
	with := func(at int, instead runfilter.Filter) node { // the address of the list with another term
		var next runfilter.Filter
		for i, term := range terms {
			if i == at {
				term = instead
			}
			next = next.And(term)
		}
		return href(link("runs", "filter", next.String(), "children", b.Children, "state", b.State))
	}
	var shown fragment
	for i, term := range terms {
		name := code(term.String())
		shown = append(shown, el("li", name, words(" "),
			el("a", with(i, term.Negated()), sayAttr("aria-label", "negate {0}", words(term.String())), say("negate")),
			words(" "), el("a", with(i, runfilter.Filter{}), sayAttr("aria-label", "remove {0}", words(term.String())),
				say("remove"))))
	}
	fields, values := runfilter.Fields(), runfilter.Words()
	option := func(name *string) node { return el("option", attr("value", *name), words(*name)) }
	return fragment{
		when(len(shown) > 0, el("ul", class("terms"), shown)),
		el("form", class("filter"), attr("method", "get"), attr("action", "runs"),
			b.kept(),
			el("label", say("Field"), words(" "), el("select", attr("name", "field"), each(fields, option))),
			el("label", say("has the value"), words(" "), el("input", attr("name", "value"), attr("list", "values"),
				attr("spellcheck", "false"), attr("autocapitalize", "off"))),
			el("datalist", attr("id", "values"), each(values, option)),
			el("label", class("check"), checkbox("not", false), words(" "), say("negated")),
			el("button", say("Add to the filter"))),
	}
}

// A nestedRun is a run in a list, below its parent if that is in the list, too.
type nestedRun struct {
	*runRow

	depth int
}

// nested returns runs in their order, but children after their parents.
func nested(rows []runRow) []nestedRun {
	listed, below := map[string]bool{}, map[string][]*runRow{}
	for i := range rows {
		listed[rows[i].Run.Run] = true
	}
	for i := range rows {
		if parent := rows[i].Parent; listed[parent] {
			below[parent] = append(below[parent], &rows[i])
		}
	}
	all := make([]nestedRun, 0, len(rows))
	var add func(r *runRow, depth int)
	add = func(r *runRow, depth int) {
		all = append(all, nestedRun{r, depth})
		for _, child := range below[r.Run.Run] {
			add(child, depth+1)
		}
	}
	for i := range rows {
		if !listed[rows[i].Parent] {
			add(&rows[i], 0)
		}
	}
	return all
}

// kept are the fields of a form that keep what is chosen.
func (b *runsBody) kept() node {
	hidden := func(name, value string) node {
		return when(value != "", el("input", attr("type", "hidden"), attr("name", name), attr("value", value)))
	}
	return fragment{hidden("filter", b.Filter), hidden("children", b.Children), hidden("state", b.State)}
}

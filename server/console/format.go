package console

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/runfilter"
)

// childrenOf returns the filter of the runs that a run has started.
func childrenOf(run string) string {
	f, err := runfilter.Term("parent", run)
	if err != nil {
		return "" // an id has no such character
	}
	return f.String()
}

// symbols are shown beside the texts of states, so that color is never the only signal.
var symbols = map[string]string{
	"PENDING": "·", "RUNNING": "▸", "RESUMING": "▸", "SUCCESS": "✓", "FAILURE": "✗", "REVERTING": "↶", "REVERTED": "↶",
	"REVERT_FAILURE": "!", "IGNORE": "-", "RETRYING": "↻", "CANCELLED": "⊘", "STAYS_DONE": "◆", "MAY_STAY_DONE": "◇",
	"SUSPENDED": "‖", "SUSPENDING": "‖",
}

// stateClass returns the style class of a state.
func stateClass(state string) string {
	if symbols[state] == "" {
		return "s-none"
	}
	return "s-" + strings.ToLower(strings.ReplaceAll(state, "_", "-"))
}

// ago says how long ago a time was, in one unit.
func ago(t, now time.Time) node {
	d := now.Sub(t)
	switch {
	case d < time.Minute:
		return say("{0} s ago", number(max(d, 0).Seconds()))
	case d < time.Hour:
		return say("{0} min ago", number(d.Minutes()))
	case d < 48*time.Hour:
		return say("{0} h ago", number(d.Hours()))
	default:
		return words(t.UTC().Format(time.DateOnly))
	}
}

func clock(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.UTC().Format("2006-01-02 15:04:05.000 UTC")
}

// link returns the address of a page with a query, of names and values in turn. The last value of a name counts, and
// empty ones are left out.
func link(name string, pairs ...string) address {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if q.Set(pairs[i], pairs[i+1]); pairs[i+1] == "" {
			q.Del(pairs[i])
		}
	}
	if len(q) == 0 {
		return address(name)
	}
	return address(name + "?" + q.Encode())
}

// chip shows a state, with its symbol.
func chip(state string) node {
	return el("span", class("chip", stateClass(state)),
		el("span", attr("aria-hidden", "true"), words(symbols[state])), words(" "+state))
}

// machine writes a time for programs, to the millisecond.
func machine(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// moment shows a time as how long ago it was; the exact time is its title.
func moment(t, now time.Time) node {
	if t.IsZero() {
		return words("–")
	}
	return el("time", attr("datetime", machine(t)), attr("title", clock(t)), ago(t, now))
}

// exact shows a time to the millisecond.
func exact(t time.Time) node {
	if t.IsZero() {
		return words("–")
	}
	return el("time", attr("datetime", machine(t)), attr("title", clock(t)), words(clock(t)))
}

// took shows how long something took; nothing if that is not known.
func took(d time.Duration) node {
	return when(d > 0, el("span", class("num soft"), words(inspect.FormatDuration(d))))
}

// second shows a time to the second.
func second(t time.Time) node {
	return el("time", attr("datetime", machine(t)), attr("title", clock(t)),
		words(t.UTC().Format("2006-01-02 15:04:05 UTC")))
}

func soft(parts ...node) node { return el("p", append([]node{class("soft")}, parts...)...) }

// calm says that there is nothing to show.
func calm(t string, values ...node) node { return el("p", class("calm"), say(t, values...)) }

// mostLabels is how many labels of a run a page shows.
const mostLabels = 20

// labelNodes shows the first labels of a run, in order.
func labelNodes(labels map[string]string) node {
	var all fragment
	for i, key := range slices.Sorted(maps.Keys(labels)) {
		if i == mostLabels {
			return append(all, words(" … +"+strconv.Itoa(len(labels)-i)))
		}
		all = append(all, words(" "), el("span", class("label"), words(key+"="+labels[key])))
	}
	return all
}

// grid returns a table with a heading for each column.
func grid(heads, rows node) node { return table(heads, rows) }

// keptGrid is a grid whose rows stay where they are while the page is shown. New ones are announced above it.
func keptGrid(heads, rows node) node {
	return fragment{
		el("p", attr("data-fresh", ""), attr("hidden", ""), class("told"), attr("role", "status"),
			el("a", href(""), say("Show new runs: {0}", el("b")))),
		table(heads, rows, attr("data-keep", "")),
	}
}

func table(heads, rows node, of ...node) node {
	return el("div", class("wide"), attr("tabindex", "0"), attr("role", "region"), sayAttr("aria-label", "table"),
		el("table", el("thead", el("tr", heads)), el("tbody", fragment(of), headed(heads, rows))))
}

// headed returns rows whose cells have the headings of their columns: on a narrow screen each cell stands by itself.
func headed(heads, rows node) node {
	var names []node
	eachPart([]node{heads}, func(n node) {
		if th, is := n.(element); is {
			eachPart(th.parts, func(part node) {
				if !isAttribute(part) {
					names = append(names, part)
				}
			})
		}
	})
	var all fragment
	eachPart([]node{rows}, func(n node) {
		row, is := n.(element)
		if !is {
			all = append(all, n)
			return
		}
		column, parts := 0, fragment{}
		eachPart(row.parts, func(part node) {
			if cell, is := part.(element); is && column < len(names) {
				part = element{cell.name, append(fragment{nodeAttribute{"data-head", names[column]}}, cell.parts...)}
				column++
			}
			parts = append(parts, part)
		})
		all = append(all, element{row.name, parts})
	})
	return all
}

// heads are headings of columns.
func heads(all ...string) node {
	return each(all, func(t *string) node { return head(say(*t)) })
}

func head(name node) node { return el("th", attr("scope", "col"), name) }

// runHeads are the columns of a table of runs.
var runHeads = heads("State", "Run", "Flow", "Created", "Took", "Why")

// runTable shows runs.
func runTable(rows []runRow, now time.Time) node {
	return keptGrid(runHeads, each(nested(rows), func(r *nestedRun) node {
		return el("tr", attr("data-key", r.Run.Run), r.cells(now))
	}))
}

func (r *nestedRun) cells(now time.Time) node {
	return fragment{
		el("td", chip(r.State)),
		el("td", when(r.depth > 0, el("span", class("d"+strconv.Itoa(min(r.depth, deepest))), words("↳ "))),
			runLink(r.Run.Run)), el("td", words(r.Flow)),
		el("td", moment(r.Created, now)), el("td", class("num"), took(r.Took)),
		el("td", class("cause"), r.person(), words(r.Cause), r.waits(), labelNodes(r.Labels)),
	}
}

// shownWaits is how many waits of a run a list tells.
const shownWaits = 2

// waits says what the run waits for.
func (r *nestedRun) waits() node {
	var all fragment
	for i := range r.Waits[:min(len(r.Waits), shownWaits)] {
		all = append(all, when(i > 0, words("; ")), words(r.Waits[i].Sentence()))
	}
	return when(len(all) > 0, el("span", class("waits"), all, when(len(r.Waits) > shownWaits, words(" …"))))
}

// person says that a person must decide about the run, and whether its undo failed. The cause comes after it.
func (r *nestedRun) person() node {
	switch {
	case !r.Person:
		return nil
	case r.Outcome != "unfinished":
		return fragment{el("b", say("needs a person, undo failed:")), words(" ")}
	default:
		return fragment{el("b", say("needs a person:")), words(" ")}
	}
}

func runLink(id string) node { return el("a", href(link("run", "id", id)), words(id)) }

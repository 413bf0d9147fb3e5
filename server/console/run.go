package console

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/storage"
)

const (
	mostSteps   = 200     // steps of a tree on a page
	mostEntries = 50_000  // lines of the history of a run whose tree, graph and timeline are built
	mostValue   = 8 << 10 // bytes of a value on a page
	mostUndone  = 100     // entries of the undo stack on a page
)

// A runPage is the page of one run.
type runPage struct {
	*console

	run     storage.Run
	lines   int64   // see [inspect.Lines]
	machine Machine // nil if the definition is not known here
	why     *inspect.Diagnosis
	view    string // name of the view
	chosen  string // path of the atom that is chosen; "" means none
	visit   *visit

	definition node // leads to the definition of the run; nil if the store has none
}

// A view is one way to see a run.
type view struct {
	name  string
	title string
	read  func(*runPage, context.Context) (node, error)
}

// views returns the ways to see a run, in the order of the tabs.
func views() []view {
	return []view{
		{"tree", "tree", (*runPage).tree},
		{"graph", "graph", (*runPage).graph},
		{"timeline", "timeline", (*runPage).timeline},
		{"undo", "undo", (*runPage).undo},
		{"history", "history", (*runPage).history},
	}
}

// runPage shows one run.
func (c *console) runPage(ctx context.Context, v *visit) (node, error) {
	p, err := c.openRun(ctx, v, v.query.Get("id"))
	if err != nil {
		return nil, err
	}
	v.title = words(p.run.ID)
	if p.why, err = p.diagnosis(ctx); err != nil {
		return nil, err
	}
	shown, err := p.shown(ctx)
	if err != nil {
		return nil, err
	}
	panel, err := p.panel(ctx)
	if err != nil {
		return nil, err
	}
	left, err := p.notUndone(ctx)
	if err != nil {
		return nil, err
	}
	body := fragment{
		p.header(), p.buttons(),
		el("section", class("why"), sayAttr("aria-label", "Why"), each(p.sentences(), func(s *string) node {
			return el("p", literal(beginning(*s, 3*mostWords))) // with names and a message
		}), p.namesLeft(left), p.mentioned(), p.wakes()),
		el("nav", class("tabs"), sayAttr("aria-label", "Views"), each(views(), func(o *view) node {
			return el("a", href(p.link(o.name)), when(o.name == p.view, attr("aria-current", "page")), say(o.title))
		})),
		el("div", class("split"), el("div", class("pane"), shown), el("aside", sayAttr("aria-label", "Atom"), panel)),
	}
	return body, nil
}

// openRun reads a run and its machine.
func (c *console) openRun(ctx context.Context, v *visit, id string) (*runPage, error) {
	run, err := c.store.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	lines, err := inspect.Lines(ctx, c.store, &run, mostEntries)
	if err != nil {
		return nil, err
	}
	p := &runPage{console: c, run: run, lines: lines, view: v.query.Get("view"), chosen: v.query.Get("atom"), visit: v}
	if run.Definition != "" {
		d, err := c.store.Definition(ctx, run.Definition)
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return nil, err
		}
		if err == nil {
			p.definition = el("a", href(link("definition", "hash", d.Hash)),
				say("{0} version {1}", words(d.Name), number(d.Version)))
		}
	}
	if c.o.Machine != nil {
		if p.machine, err = c.o.Machine(ctx, &run); err != nil {
			p.machine = nil // the definition is in a program, or of a newer Ebb: the atoms tell what happened
		}
	}
	return p, nil
}

// keeps are the parameters of views that links within a run keep.
var keeps = []string{"fold", "zoom"}

// link returns the address of a view, in which the same atom is chosen. Pairs may change what it keeps.
func (p *runPage) link(view string, pairs ...string) address {
	all := []string{"id", p.run.ID, "view", view, "atom", p.chosen}
	for _, name := range keeps {
		all = append(all, name, p.visit.query.Get(name))
	}
	return link("run", append(all, pairs...)...)
}

// isLarge reports whether the histories of the run and of its child runs are too long to build a tree of them.
func (p *runPage) isLarge() bool { return p.lines > mostEntries }

// diagnosis reads why the run is in its state.
func (p *runPage) diagnosis(ctx context.Context) (*inspect.Diagnosis, error) {
	w, err := p.undos.Diagnose(ctx, p.store, p.run)
	if err != nil || p.machine == nil {
		return w, err
	}
	if !p.run.State.Ended() && len(p.run.Memory) > 0 {
		w.Machine = p.machine.Waits(&p.run)
	}
	if !p.isLarge() {
		err = w.Trace(ctx, p.store, p.machine.Tracer(), p.machine.Handlers)
	}
	return w, err
}

// shown returns the chosen view.
func (p *runPage) shown(ctx context.Context) (node, error) {
	var before node = none
	if p.isLarge() && p.view != "history" && p.view != "tree" && p.view != "graph" {
		if p.view != "" {
			before = soft(say("The history of this run is too long for this picture. The tree stands for it."))
		}
		p.view = "tree"
	}
	for _, o := range views() {
		if o.name == p.view {
			n, err := o.read(p, ctx)
			return fragment{before, n}, err
		}
	}
	p.view = "tree"
	return p.tree(ctx)
}

// header says what the run is, and how it stands.
func (p *runPage) header() node {
	r := inspect.RunOf(&p.run)
	fact := func(shown bool, name string, value node) node {
		return when(shown, words(" · "), say(name), words(" "), value)
	}
	owner := ""
	if p.why.Alive() {
		owner = fmt.Sprintf("%d on %s", p.why.Owner.PID, p.why.Owner.Host)
	}
	return fragment{
		el("h1", words(r.Run+" "), chip(r.State)),
		soft(words(r.Flow),
			fact(true, "outcome", words(r.Outcome)), fact(true, "undo", words(r.Undo)),
			fact(true, "created", exact(r.Created)), fact(!r.Started.IsZero(), "started", exact(r.Started)),
			fact(!r.Ended.IsZero(), "ended", exact(r.Ended)),
			fact(!r.Ended.IsZero(), "took", words(inspect.FormatDuration(r.Ended.Sub(r.Created)))),
			fact(owner != "", "driven by", words(owner)),
			fact(p.definition != nil, "definition", p.definition),
			fact(p.run.Parent != "", "parent", runLink(p.run.Parent)),
			words(" · "), el("a", href(link("runs", "filter", childrenOf(r.Run), "children", "1")), say("child runs")),
			fact(p.run.Job != "", "job", el("a", href(link("jobs")), words(p.run.Job))),
			fact(p.run.Trace != "", "trace", code(p.run.Trace)),
			words(" · "), el("a", href(link("audit", "run", r.Run)), say("audit")),
			words(" · "), el("a", href(link("compare", "a", r.Run)), say("compare")), labelNodes(r.Labels)),
	}
}

// recorded reads the tree of the run.
func (p *runPage) recorded(ctx context.Context) (*inspect.Tree, error) {
	var tracer grow.Tracer
	if p.machine != nil {
		tracer = p.machine.Tracer()
	}
	return inspect.Recorded(ctx, p.store, &p.run, tracer)
}

// history shows a page of the history.
func (p *runPage) history(ctx context.Context) (node, error) {
	from, _ := strconv.ParseInt(p.visit.query.Get("after"), 10, 64) // a text that is no number begins at the start
	if p.visit.query.Has("events") {
		return p.events(ctx, from)
	}
	lines, next, err := inspect.HistoryPage(ctx, p.store, &p.run, max(from, 0), mostSteps)
	if err != nil {
		return nil, err
	}
	return fragment{
		when(p.run.Events > 0, soft(el("a", href(p.link("history", "events", "1")), say("Events of the language")))),
		grid(heads("#", "Time", "Atom", "From", "To", "Why"), each(lines, func(e *inspect.Entry) node {
			of := say("run")
			if e.Path != "" {
				of = el("a", href(p.link("history", "atom", e.Path)), words(e.Path))
			}
			cause, from := "", node(words(e.From))
			if e.Failure != nil {
				cause = e.Failure.Code + " " + e.Failure.Message
			}
			if e.Command != "" {
				line := inspect.AuditLine{Entry: *e}
				from, cause = say("{0} by {1}", words(e.Command), words(line.Issuer())), strings.TrimSpace(cause)
			}
			return el("tr", el("td", class("num"), words(strconv.FormatInt(e.Seq, 10))), el("td", exact(e.Time)),
				el("td", of), el("td", from), el("td", chip(e.To)), el("td", class("cause"), words(cause)))
		})),
		when(next > 0, el("p", el("a", attr("rel", "next"), href(p.link("history", "after", strconv.FormatInt(next, 10))),
			say("Later lines →")))),
	}, nil
}

// A treeRow is a step of a tree, or of the undo.
type treeRow struct {
	Path, Name, Status string
	Depth              int
	Attempt            int
	Took               time.Duration
	Cause              string
	Note               string // counts the steps that a group leaves out; then the rest is empty
}

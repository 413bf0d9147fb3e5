package console

import (
	"context"
	"errors"
	"html/template"
	"net/url"
	"strings"
	"time"

	"github.com/ebbflow/ebb/engine/inspect"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/storage"
)

const (
	mostSteps   = 200     // steps of a tree on a page
	mostEntries = 50_000  // lines of the history of a run whose tree, graph and timeline are built
	mostValue   = 8 << 10 // bytes of a value on a page
	mostUndone  = 100     // entries of the undo stack on a page
)

// A runBody is the page of one run.
type runBody struct {
	inspect.Run
	Parent, Owner, Job, Trace string
	View                      string // tree, graph, timeline, undo or history
	Sentences                 []string
	Undo                      inspect.Undo
	Large                     bool // the run has too long a history for a tree

	Steps  []treeRow
	More   bool // the tree has more steps
	Undone []treeRow
	Stack  []storage.Undo
	Graph  template.HTML
	Chart  *chart

	History []inspect.Entry
	Next    int64 // number after which the next page of the history begins; 0 if there is none

	Atom   *inspect.Atom
	Values []value
	Input  string
	Output string
}

// A treeRow is a step of a tree.
type treeRow struct {
	Path, Name, Status string
	Depth              int
	Attempt            int
	Took               time.Duration
	Cause              string
	Chosen             bool
	Note               string // counts the steps that a group leaves out; then the rest is empty
}

// A value is shown in the panel of an atom.
type value struct{ Name, Text string }

func (c *console) run(ctx context.Context, q url.Values, now time.Time) (*runBody, error) {
	run, err := c.store.Run(ctx, q.Get("id"))
	if err != nil {
		return nil, err
	}
	b := &runBody{
		Run: inspect.RunOf(&run), Parent: run.Parent, Job: run.Job, Trace: run.Trace, View: q.Get("view"),
		Large: run.Entries > mostEntries,
	}
	b.Input, b.Output = text(b.Run.Input.String()), ""
	if b.Run.Output != nil {
		b.Output = text(b.Run.Output.String())
	}
	var m Machine
	if c.o.Machine != nil {
		if m, err = c.o.Machine(ctx, &run); err != nil {
			m = nil // the definition is in a program, or of a newer Ebb: the atoms tell what happened
		}
	}
	if err := c.diagnose(ctx, b, &run, m, now); err != nil {
		return nil, err
	}
	if path := q.Get("atom"); path != "" {
		if err := c.atom(ctx, b, &run, path); err != nil {
			return nil, err
		}
	}
	return b, c.view(ctx, b, &run, m, q)
}

// diagnose reads why the run is in its state.
func (c *console) diagnose(ctx context.Context, b *runBody, run *storage.Run, m Machine, now time.Time) error {
	w, err := inspect.Diagnose(ctx, c.store, *run)
	if err != nil {
		return err
	}
	if m != nil && !run.State.Ended() && len(run.Memory) > 0 {
		w.Machine = m.Waits(run)
	}
	if m != nil && !b.Large {
		if w.Failed, err = inspect.Ending(ctx, c.store, run, m.Tracer(), m.Handlers); err != nil {
			return err
		}
	}
	b.Sentences, b.Undo = w.Sentences(now), w.Undo
	if w.Alive() {
		b.Owner = w.Owner.Host
	}
	return nil
}

// view reads what the chosen view shows.
func (c *console) view(ctx context.Context, b *runBody, run *storage.Run, m Machine, q url.Values) error {
	switch {
	case b.View == "history" || b.Large:
		b.View = "history"
		return c.history(ctx, b, run, q.Get("after"))
	case b.View == "graph":
		if is, err := c.graph(ctx, b, run, m, q.Get("atom")); is || err != nil {
			return err
		}
	}
	var tracer flow.Tracer
	if m != nil {
		tracer = m.Tracer()
	}
	t, err := inspect.Recorded(ctx, c.store, run, tracer)
	if err != nil {
		return err
	}
	switch b.View {
	case "timeline":
		b.Chart = chartOf(t)
	case "undo":
		b.Chart = chartOf(t)
		for _, s := range t.Undone {
			b.Undone = append(b.Undone, undoRow(s))
		}
		b.Stack, err = c.store.Undos(ctx, run.ID, 0, mostUndone)
	default:
		if b.View != "graph" { // without a diagram the tree is the picture
			b.View = "tree"
		}
		b.steps(&t.Top, 0, q.Get("atom"))
	}
	return err
}

// steps appends the rows of all steps below one.
func (b *runBody) steps(s *inspect.Step, depth int, chosen string) {
	shown, rest := s.Few()
	for _, step := range shown {
		if len(b.Steps) >= mostSteps {
			b.More = true
			return
		}
		b.Steps = append(b.Steps, rowOf(step, depth, chosen))
		b.steps(step, depth+1, chosen)
	}
	if rest != "" {
		b.Steps = append(b.Steps, treeRow{Depth: depth, Note: rest})
	}
}

func rowOf(s *inspect.Step, depth int, chosen string) treeRow {
	path, _, _ := strings.Cut(s.Path, "\x00") // what follows tells the visits of a state without atoms apart
	r := treeRow{
		Path: path, Name: s.Name, Status: string(s.Status()), Depth: depth, Attempt: s.Attempt, Chosen: path == chosen,
	}
	if !s.Began.IsZero() && !s.Ended.IsZero() {
		r.Took = s.Ended.Sub(s.Began) - s.Waited
	}
	if s.Failure != nil && !s.Inner {
		r.Cause = inspect.Cause(s.Failure)
	}
	return r
}

func undoRow(s *inspect.Step) treeRow {
	r := treeRow{Path: s.Path, Name: s.Path, Status: s.State.String(), Attempt: s.UndoTry}
	if !s.Undoing.IsZero() && !s.Undone.IsZero() {
		r.Took = s.Undone.Sub(s.Undoing) - s.UndoWait
	}
	if s.UndoFail != nil {
		r.Cause = inspect.Cause(s.UndoFail)
	}
	return r
}

// graph draws the machine, or the flow of a program, with what became of it, and the way back. It reports whether there
// is a diagram.
func (c *console) graph(ctx context.Context, b *runBody, run *storage.Run, m Machine, chosen string) (bool, error) {
	picture, err := c.picture(ctx, run, m)
	if errors.Is(err, storage.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	o := draw.SVGOptions{Bare: true, Link: func(n *draw.Node) string {
		if n.Label == "" || n.Kind == draw.Start || n.Kind == draw.End || n.State == "" {
			return ""
		}
		return address("run", "id", run.ID, "view", "graph", "atom", n.Label)
	}}
	byLabel := map[string]string{}
	for i := range picture.Nodes {
		byLabel[picture.Nodes[i].Label] = picture.Nodes[i].ID
	}
	o.Selected = byLabel[chosen]
	for path, err := range inspect.Undone(ctx, c.store, run) {
		if err != nil {
			return false, err
		}
		if id := byLabel[path]; id != "" && len(o.Undone) < mostUndone {
			o.Undone = append(o.Undone, id)
		}
	}
	b.Graph = template.HTML(draw.SVG(picture, o)) //nolint:gosec // package draw escapes all texts
	return true, nil
}

// picture returns the diagram of a run. If there is none, the error wraps ErrNotFound.
func (c *console) picture(ctx context.Context, run *storage.Run, m Machine) (draw.View, error) {
	if m == nil {
		return inspect.PlanView(ctx, c.store, run)
	}
	return m.Became(m.Picture(run.Flow), storage.EachEntry(ctx, c.store, run.ID, 0))
}

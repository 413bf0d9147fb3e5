package console

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/states"
)

const (
	mostLanes   = 60  // steps above the line of a chart, and below it
	mostPeriods = 400 // attempts and pauses of a chart
)

// A chart shows execution above a line, and undo below it. Each revert is connected to what it undoes.
type chart struct {
	lanes, undone []lane
	scale         scale
	more          int // steps that are left out
}

// A lane is the line of one step, or of its undo.
type lane struct {
	path, status, title string
	waits               inspect.WaitKind // what the step waits for in place of executing
	parts               []part
}

// A part is an attempt or a pause, that began before and ended after some time.
type part struct {
	inspect.Period

	from, to time.Time
}

// idle reports whether nothing executes in a part.
func (l *lane) idle(p *part) bool {
	return p.Kind != inspect.PeriodAttempt || l.waits != "" && !p.Taken
}

// chartOf returns the chart of a tree. If fold is set, long idle times are cut.
func chartOf(t *inspect.Tree, fold bool, now time.Time) *chart {
	var all []*inspect.Step
	collect(&t.Top, &all)
	slices.SortStableFunc(all, func(a, b *inspect.Step) int { return a.Began.Compare(b.Began) })
	ch := &chart{}
	if len(all) > mostLanes {
		ch.more = len(all) - mostLanes
		all = all[:mostLanes]
	}
	undone := t.Undone[:min(len(t.Undone), mostLanes)]
	began, ended := bounds(t, slices.Concat(all, undone), now)
	left := mostPeriods
	add := func(s *inspect.Step, status string, times *inspect.Times, waits inspect.WaitKind) lane {
		l := lane{path: s.Path, status: status, waits: waits}
		about := []string{s.Path, status, inspect.FormatDuration(times.Took(ended))}
		l.title = strings.Join(append(about, times.Waits()...), " ")
		periods := times.Periods()
		periods = periods[max(0, len(periods)-left):]
		left -= len(periods)
		for _, period := range periods {
			p := part{period, period.Began, period.Ended}
			if p.to.IsZero() {
				p.to = ended
			}
			l.parts = append(l.parts, p)
		}
		return l
	}
	for _, s := range all {
		ch.lanes = append(ch.lanes, add(s, string(s.Status()), &s.Times, s.Wait))
	}
	for _, s := range undone {
		ch.undone = append(ch.undone, add(s, s.State.String(), &s.Undo, ""))
	}
	ch.scale = newScale(began, ended, slices.Concat(ch.lanes, ch.undone), fold)
	return ch
}

// bounds returns the start of the first of some steps, and the end of the last of them. A step that has not ended
// continues until now.
func bounds(t *inspect.Tree, steps []*inspect.Step, now time.Time) (began, ended time.Time) {
	began, ended = t.Began, t.Began
	for _, s := range steps {
		for _, at := range []time.Time{s.Began, s.Ended, s.Undo.Began, s.Undo.Ended} {
			if at.IsZero() {
				continue
			}
			if began.IsZero() || at.Before(began) {
				began = at
			}
			if at.After(ended) {
				ended = at
			}
		}
		for _, period := range slices.Concat(s.Periods(), s.Undo.Periods()) {
			if period.Began.Before(began) {
				began = period.Began // of an earlier execution
			}
		}
	}
	if !t.State.Ended() && t.State != states.FlowSuspended && now.After(ended) {
		ended = now
	}
	return began, ended
}

// collect appends the steps below one that began and do not only contain others.
func collect(s *inspect.Step, all *[]*inspect.Step) {
	shown, _ := s.Shown()
	for _, step := range shown {
		if !step.Inner && !step.Began.IsZero() && cmp.Or(step.Kind, "Task") == "Task" {
			*all = append(*all, step)
		}
		collect(step, all)
	}
}

// timeline shows when the steps were executed and undone.
func (p *runPage) timeline(ctx context.Context) (node, error) {
	t, err := p.recorded(ctx)
	if err != nil {
		return nil, err
	}
	return p.charted(t), nil
}

// charted shows the chart of a tree, with links that choose a step, and one that folds idle time.
func (p *runPage) charted(t *inspect.Tree) node {
	fold := p.visit.query.Get("fold") != ""
	ch := chartOf(t, fold, p.visit.now)
	var folds node = none
	switch {
	case fold:
		folds = el("a", href(p.link(p.view, "fold", "")), say("Show idle time"))
	case ch.scale.foldable:
		folds = el("a", href(p.link(p.view, "fold", "1")), say("Fold idle time"))
	}
	if p.visit.wantsFile() {
		var file strings.Builder
		ch.node(nil).write(&writer{to: &file})
		p.visit.file = file.String()
	}
	note := fragment{say("Execution is above the line, undo below it. In all {0}.",
		words(inspect.FormatDuration(ch.scale.took())))}
	if ch.more > 0 {
		note = append(note, words(" "), sayCount(ch.more, "{0} more step is not drawn.", "{0} more steps are not drawn."))
	}
	return fragment{
		soft(note, words(" "), folds, words(" "), p.visit.downloads()), ch.legend(),
		framed(ch.node(p), "timeline"), ch.table(),
	}
}

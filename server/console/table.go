package console

import (
	"context"
	"fmt"
	"strconv"

	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A tableBody is a page that is one table.
type tableBody struct {
	Heads []text
	Rows  [][]node
	Empty text
	Above node // before the table
}

// tablePage returns the page of a table.
func tablePage(
	title text, read func(*console, context.Context, *visit) (*tableBody, error),
) func(*console, context.Context, *visit) (node, error) {
	return func(c *console, ctx context.Context, v *visit) (node, error) {
		b, err := read(c, ctx, v)
		if err != nil {
			return nil, err
		}
		rows := each(b.Rows, func(row *[]node) node {
			return el("tr", each(*row, func(cell *node) node { return el("td", *cell) }))
		})
		return fragment{
			el("h1", say(title)), b.Above,
			when(len(b.Rows) > 0, grid(heads(b.Heads...), rows)), when(len(b.Rows) == 0, calm(b.Empty)),
		}, nil
	}
}

// texts returns cells with these data.
func texts(all ...string) []node {
	cells := make([]node, len(all))
	for i, text := range all {
		cells[i] = words(text)
	}
	return cells
}

func (c *console) limits(ctx context.Context, v *visit) (*tableBody, error) {
	limits, err := c.store.Limits(ctx)
	b := &tableBody{
		Heads: []text{"Limit", "Do"}, Empty: "No limits are set (ebb limit sets one).", Above: v.button("", "limits", ""),
	}
	for i := range limits {
		l := &limits[i]
		pairs := []string{"f.flow", l.Flow, "f.label", l.Label, "f.runs", strconv.Itoa(l.Runs)}
		if l.Rate > 0 {
			pairs = append(pairs, "f.rate", fmt.Sprintf("%d/%v", l.Rate, l.Per))
		}
		b.Rows = append(b.Rows, append(texts(l.String()), v.button("", "limits", "", pairs...)))
	}
	return b, err
}

func (c *console) processes(ctx context.Context, v *visit) (*tableBody, error) {
	owners, err := c.store.Owners(ctx)
	b := &tableBody{
		Heads: []text{"Host", "Process", "Alive", "Started", "Seen"}, Empty: "No process has the database open.",
	}
	for i := range owners {
		o := &owners[i]
		alive := say("yes")
		if !o.Alive {
			alive = say("no: it has died")
		}
		b.Rows = append(b.Rows, []node{
			words(o.Host), words(strconv.Itoa(o.PID)), alive, exact(o.Started), moment(o.Seen, v.now),
		})
	}
	return b, err
}

// jobButtons are the commands that a job may allow now.
func jobButtons(v *visit, j *storage.Job) node {
	switch j.State {
	case states.JobScheduled, states.JobParked:
		return fragment{v.button("job", "release", j.ID), v.button("job", "cancel", j.ID)}
	case states.JobUnclaimed:
		return v.button("job", "cancel", j.ID)
	default:
		return none
	}
}

func (c *console) jobs(ctx context.Context, v *visit) (*tableBody, error) {
	b := &tableBody{
		Heads: []text{"Job", "Run", "Flow", "State", "Priority", "Posted", "Attempts", "Failure", "Do"},
		Empty: "There are no jobs (ebb post posts one).", Above: v.button("", "jobs", ""),
	}
	list, err := c.store.JobList(ctx, storage.JobQuery{Limit: mostSteps})
	for i := range list {
		j := &list[i]
		failure := ""
		if j.Failure != nil {
			failure = j.Failure.Error()
		}
		buttons := jobButtons(v, j)
		b.Rows = append(b.Rows, []node{
			words(j.ID), runLink(j.Run), words(j.Flow), words(j.State.String()), words(strconv.Itoa(j.Priority)),
			moment(j.Created, v.now), words(strconv.Itoa(j.Attempts)), words(failure), buttons,
		})
	}
	return b, err
}

func (c *console) schedules(ctx context.Context, v *visit) (*tableBody, error) {
	const ticks = 3
	b := &tableBody{
		Heads: []text{"Schedule", "Times", "Flow", "Next ticks", "Last", "Paused", "Do"},
		Empty: "There are no schedules (ebb schedule adds one).", Above: v.button("", "schedules", ""),
	}
	list, err := c.store.Schedules(ctx)
	for i := range list {
		s := &list[i]
		next, err := jobs.Ticks(s.Spec, v.now, ticks)
		var shown fragment
		for i, at := range next {
			shown = append(shown, when(i > 0, words(", ")), el("time", attr("datetime", machine(at)), attr("title", clock(at)),
				words(at.Format("2006-01-02 15:04 MST"))))
		}
		if err != nil {
			shown = fragment{words("? " + err.Error())}
		}
		paused, change := say("no"), "pause"
		if s.Paused {
			paused, change = say("yes"), "resume"
		}
		b.Rows = append(b.Rows, append(texts(s.ID, s.Spec, s.Flow), shown, moment(s.Last, v.now), paused, fragment{
			v.button("schedule", change, s.ID), v.button("schedule", "remove", s.ID),
		}))
	}
	return b, err
}

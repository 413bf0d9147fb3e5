package console

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/storage"
)

// A tableBody is a page that is one table.
type tableBody struct {
	Heads []string
	Rows  [][]string
	Empty string
}

// tablePage returns the page of a table.
func tablePage(
	title string, read func(*console, context.Context, time.Time) (*tableBody, error),
) func(*console, context.Context, *visit) (node, error) {
	return func(c *console, ctx context.Context, v *visit) (node, error) {
		b, err := read(c, ctx, v.now)
		if err != nil {
			return nil, err
		}
		rows := each(b.Rows, func(row *[]string) node {
			return el("tr", each(*row, func(cell *string) node { return el("td", words(*cell)) }))
		})
		return fragment{
			el("h1", words(title)), when(len(b.Rows) > 0, grid(b.Heads, rows)), when(len(b.Rows) == 0, calm(b.Empty)),
		}, nil
	}
}

func (c *console) limits(ctx context.Context, _ time.Time) (*tableBody, error) {
	limits, err := c.store.Limits(ctx)
	b := &tableBody{Heads: []string{"Limit"}, Empty: "No limits are set (ebb limit sets one)."}
	for i := range limits {
		b.Rows = append(b.Rows, []string{limits[i].String()})
	}
	return b, err
}

func (c *console) processes(ctx context.Context, now time.Time) (*tableBody, error) {
	owners, err := c.store.Owners(ctx)
	b := &tableBody{
		Heads: []string{"Host", "Process", "Alive", "Started", "Seen"}, Empty: "No process has the database open.",
	}
	for i := range owners {
		o := &owners[i]
		alive := "yes"
		if !o.Alive {
			alive = "no: it has died"
		}
		b.Rows = append(b.Rows, []string{o.Host, strconv.Itoa(o.PID), alive, clock(o.Started), ago(o.Seen, now)})
	}
	return b, err
}

func (c *console) jobs(ctx context.Context, now time.Time) (*tableBody, error) {
	b := &tableBody{
		Heads: []string{"Job", "Run", "Flow", "State", "Priority", "Posted", "Attempts", "Failure"},
		Empty: "There are no jobs (ebb post posts one).",
	}
	list, err := c.store.JobList(ctx, storage.JobQuery{Limit: mostSteps})
	for i := range list {
		j := &list[i]
		failure := ""
		if j.Failure != nil {
			failure = j.Failure.Error()
		}
		b.Rows = append(b.Rows, []string{
			j.ID, j.Run, j.Flow, j.State.String(), strconv.Itoa(j.Priority), ago(j.Created, now), strconv.Itoa(j.Attempts),
			failure,
		})
	}
	return b, err
}

func (c *console) schedules(ctx context.Context, now time.Time) (*tableBody, error) {
	const ticks = 3
	b := &tableBody{
		Heads: []string{"Schedule", "Times", "Flow", "Next ticks", "Last", "Paused"},
		Empty: "There are no schedules (ebb schedule adds one).",
	}
	list, err := c.store.Schedules(ctx)
	for i := range list {
		s := &list[i]
		next, err := jobs.Ticks(s.Spec, now, ticks)
		times := make([]string, len(next))
		for i, at := range next {
			times[i] = at.Format("2006-01-02 15:04 MST")
		}
		text := strings.Join(times, ", ")
		if err != nil {
			text = fmt.Sprint("unknown: ", err)
		}
		paused := "no"
		if s.Paused {
			paused = "yes"
		}
		b.Rows = append(b.Rows, []string{s.ID, s.Spec, s.Flow, text, ago(s.Last, now), paused})
	}
	return b, err
}

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

// table reads the page of a name.
func (c *console) table(ctx context.Context, name string, now time.Time) (*tableBody, error) {
	switch name {
	case "jobs":
		return c.jobs(ctx, now)
	case "schedules":
		return c.schedules(ctx, now)
	case "limits":
		limits, err := c.store.Limits(ctx)
		b := &tableBody{Heads: []string{"Limit"}, Empty: "No limits are set (ebb limit sets one)."}
		for i := range limits {
			b.Rows = append(b.Rows, []string{limits[i].String()})
		}
		return b, err
	default:
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

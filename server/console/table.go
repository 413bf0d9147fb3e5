package console

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A tableBody is a page that is one table.
type tableBody struct {
	Heads []string
	Rows  [][]node
	Empty string
	Above node // before the table
	Below node // after it
}

// later links to the lines of a page that follow.
func later(to address) node {
	return el("p", el("a", attr("rel", "next"), href(to), say("Later lines →")))
}

// tablePage returns the page of a table.
func tablePage(
	title string, read func(*console, context.Context, *visit) (*tableBody, error),
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
			b.Below,
		}, nil
	}
}

func (c *console) limits(ctx context.Context, v *visit) (*tableBody, error) {
	limits, err := inspect.LimitUses(ctx, c.store)
	b := &tableBody{
		Heads: []string{"Limit", "Driven now", "Do"}, Empty: "No limits are set (ebb limit sets one).",
		Above: v.button("", "limits", ""),
	}
	for i := range limits {
		l := &limits[i]
		pairs := []string{"f.flow", l.Flow, "f.label", l.Label, "f.runs", strconv.Itoa(l.Runs)}
		if l.Rate > 0 {
			pairs = append(pairs, "f.rate", fmt.Sprintf("%d/%v", l.Rate, l.Per))
		}
		b.Rows = append(b.Rows, []node{words(l.Limit.String()), slots(l), v.button("", "limits", "", pairs...)})
	}
	return b, err
}

// slots says how many of the places of a limit are taken.
func slots(l *inspect.LimitUse) node {
	if l.Runs == 0 {
		return none
	}
	used := say("{0} of {1}", number(l.Used), number(l.Runs))
	switch {
	case l.Least:
		used = say("at least {0} of {1}", number(l.Used), number(l.Runs))
	case l.Value != "":
		used = say("{0} of {1}, for {2}", number(l.Used), number(l.Runs), words(l.Label+"="+l.Value))
	}
	return used
}

func (c *console) processes(ctx context.Context, v *visit) (*tableBody, error) {
	list, err := inspect.Processes(ctx, c.store)
	b := &tableBody{
		Heads: []string{"Host", "Process", "State", "Runs", "Slots", "Offers", "Version", "Address", "Started", "Seen"},
		Empty: "No process has the database open.",
	}
	for i := range list {
		p := &list[i]
		var slots node = none
		if p.Serves {
			slots = words(strings.TrimSpace(strconv.Itoa(p.Slots) + " " + p.Busy))
		}
		version := p.Version + " " + p.ShortRevision()
		b.Rows = append(b.Rows, []node{
			words(p.Host), words(strconv.Itoa(p.PID)), words(strings.TrimSpace(p.State + " " + p.Fault)),
			words(strconv.Itoa(p.Runs)), slots, labelNodes(p.Offers), words(version), words(p.Address), exact(p.Started),
			moment(p.Seen, v.now),
		})
	}
	if err != nil {
		return nil, err
	}
	b.Below, err = c.workers(ctx)
	return b, err
}

// workers shows which workers ask for the work of which queues.
func (c *console) workers(ctx context.Context) (node, error) {
	pollers, err := inspect.Pollers(ctx, c.store)
	return fragment{
		el("h2", say("Workers that ask for work")),
		when(len(pollers) == 0, calm("No worker asks for work.")),
		when(len(pollers) > 0, grid(heads("Queue", "Workers"), each(pollers, func(p *storage.Poller) node {
			return el("tr", el("td", words(p.Queue)), el("td", words(strings.Join(p.Workers, ", "))))
		}))),
	}, err
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

// jobCounts says how many jobs that have not ended there are. Each state leads to its jobs, or back to all.
func jobCounts(counts []inspect.JobCount, state []string, now time.Time) node {
	return el("p", class("counts"), each(counts, func(count *inspect.JobCount) node {
		to, chosen := count.State, len(state) == 1 && state[0] == count.State
		if chosen {
			to = ""
		}
		return fragment{
			el("a", href(link("jobs", "state", to)), class("count"), when(chosen, attr("aria-current", "true")),
				words(count.State+" "+strconv.Itoa(count.Jobs))), words(" "),
			when(count.Oldest.Before(now), fragment{say("since"), words(" "), moment(count.Oldest, now), words(" ")}),
		}
	}))
}

func (c *console) jobs(ctx context.Context, v *visit) (*tableBody, error) {
	b := &tableBody{
		Heads: []string{"Job", "Run", "Flow", "State", "Priority", "Posted", "Attempts", "Needs, failure", "Do"},
		Empty: "There are no jobs (ebb post posts one).", Above: v.button("", "jobs", ""),
	}
	state := v.query["state"]
	of, err := inspect.ParseJobStates(state, true)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", storage.ErrNotFound, err)
	}
	counts, err := inspect.JobCounts(ctx, c.store)
	if err != nil {
		return nil, err
	}
	b.Above = fragment{b.Above, jobCounts(counts, state, v.now)}
	list, next, err := inspect.JobPage(ctx, c.store, of, v.query.Get("after"), mostSteps)
	if err != nil {
		return nil, err
	}
	if b.Below = none; next != "" {
		b.Below = later(link("jobs", "state", strings.Join(state, ""), "after", next))
	}
	waits, err := inspect.NewJobWaits(ctx, c.store)
	if err != nil {
		return nil, err
	}
	for i := range list {
		j := &list[i]
		failure := ""
		if j.Failure != nil {
			failure = j.Failure.Error()
		}
		one, err := waits.Of(ctx, j, v.now)
		if err != nil {
			return nil, err
		}
		if one != nil {
			failure = one.Sentence(v.now)
		}
		var run node = words(j.Run) // there is none yet
		if j.State == states.JobClaimed || j.State == states.JobComplete {
			run = runLink(j.Run)
		}
		why := fragment{class("cause"), words(failure), labelNodes(j.Labels)}
		b.Rows = append(b.Rows, []node{
			words(j.ID), run, words(j.Flow), words(j.State.String()), words(strconv.Itoa(j.Priority)),
			moment(j.Created, v.now), words(strconv.Itoa(j.Attempts)), why, jobButtons(v, j),
		})
	}
	return b, err
}

// inWords says when a schedule ticks, if words say it better.
func inWords(spec string) node {
	said := jobs.Describe(spec)
	return when(said != "", el("br"), el("span", class("soft"), words(said)))
}

// inZone says what the clocks of a schedule's time zone show at a tick, unless that is UTC.
func inZone(at time.Time, zone *time.Location) node {
	return when(zone != time.UTC, el("span", class("soft"), words(" = "+at.In(zone).Format("2006-01-02 15:04 MST"))))
}

func (c *console) schedules(ctx context.Context, v *visit) (*tableBody, error) {
	const ticks = 3
	b := &tableBody{
		Heads: []string{"Schedule", "Times", "Flow", "Next ticks", "Last", "Paused", "Do"},
		Empty: "There are no schedules (ebb schedule adds one).", Above: v.button("", "schedules", ""),
	}
	list, more, err := inspect.SchedulePage(ctx, c.store, v.query.Get("after"), mostSteps)
	if b.Below = none; more {
		b.Below = later(link("schedules", "after", list[len(list)-1].ID))
	}
	for i := range list {
		s := &list[i]
		if s.Err != nil {
			b.Rows = append(b.Rows, []node{words(s.ID), words("? " + s.Err.Error()), none, none, none, none, none})
			continue
		}
		next, err := jobs.Ticks(s.Spec, v.now, ticks)
		var shown fragment
		for i, at := range next {
			shown = append(shown, when(i > 0, el("br")), el("time", attr("datetime", machine(at)), attr("title", clock(at)),
				words(at.UTC().Format("2006-01-02 15:04 MST"))), inZone(at, jobs.Zone(s.Spec)))
		}
		if err != nil {
			shown = fragment{words("? " + err.Error())}
		}
		paused, change := say("no"), "pause"
		if s.Paused {
			paused, change = say("yes"), "resume"
		}
		times := fragment{words(s.Spec), inWords(s.Spec)}
		does := fragment{v.button("schedule", change, s.ID), v.button("schedule", "remove", s.ID)}
		b.Rows = append(b.Rows, []node{words(s.ID), times, words(s.Flow), shown, moment(s.Last, v.now), paused, does})
	}
	return b, err
}

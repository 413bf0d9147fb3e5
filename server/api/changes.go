package api

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/runfilter"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A jobBody is a job to post.
type jobBody struct {
	ID       string            `json:"id,omitempty"       text:"id of the job and of its run; a known id posts nothing"`
	Flow     string            `json:"flow"               text:"name of the flow, or of the stored definition"`
	Version  int64             `json:"version,omitempty"  text:"version of the definition; empty is the newest"`
	Input    atom.Value        `json:"input,omitempty"    text:"input of the run; {} if left out"`
	Priority int               `json:"priority,omitempty" text:"larger ones are claimed first"`
	After    string            `json:"after,omitempty"    text:"earliest start: a time, or a duration such as 90m"`
	Needs    map[string]string `json:"needs,omitempty"    text:"offers that a process needs to run the job"`
	Labels   map[string]string `json:"labels,omitempty"   text:"labels of the run"`
	Unique   string            `json:"unique,omitempty"   text:"text that at most one open job has, which is the answer"`
}

func (b *jobBody) job(now time.Time) (jobs.Job, error) {
	if b.Flow == "" {
		return jobs.Job{}, problem(http.StatusBadRequest, "invalid", "flow is missing: it names the flow of the run")
	}
	if backend.IsOwnFlow(b.Flow) {
		return jobs.Job{}, problem(http.StatusBadRequest, "invalid", "flow: %.50q is one of Ebb's own: POST bulk posts a "+
			"bulk command", b.Flow)
	}
	if b.Version < 0 {
		return jobs.Job{}, problem(http.StatusBadRequest, "invalid", "version is %d: want a number from 1 on", b.Version)
	}
	if b.Input == nil {
		b.Input = atom.FromJSON([]byte("{}"))
	}
	job := jobs.Job{
		ID: b.ID, Flow: b.Flow, Version: b.Version, Input: b.Input, Priority: b.Priority, Labels: b.Needs,
		RunLabels: b.Labels, Unique: b.Unique,
	}
	if b.After == "" {
		return job, nil
	}
	if d, err := time.ParseDuration(b.After); err == nil && d >= 0 {
		job.NotBefore = now.Add(d)
	} else if job.NotBefore, err = time.Parse(time.RFC3339, b.After); err != nil {
		return job, problem(http.StatusBadRequest, "invalid",
			"after is %.50q: want a time such as 2026-11-30T08:00:00Z, or a duration such as 90m", b.After)
	}
	return job, nil
}

// post posts a job, with a new id if it has none, and serves it. With an id or a Unique that is known it serves that
// job.
func (a *api) post(c *call, verb string, job jobs.Job) (any, error) {
	isNew := true
	if c.once.again {
		job.ID = strings.TrimPrefix(c.once.did, jobSubject)
	} else {
		draws := job.ID == ""
		if draws {
			job.ID = jobs.NewID(job.Flow)
		}
		ctx, err := c.audited(a, verb, jobSubject+job.ID)
		if err != nil {
			return nil, err
		}
		var id string
		if id, isNew, err = jobs.New(a.store, jobs.Policy{}).PostNew(ctx, job); err != nil {
			return nil, err
		}
		if draws && !isNew && id == job.ID { // serve nobody another's job
			return nil, fmt.Errorf("%w: job %q", storage.ErrExists, id)
		}
		job.ID = id
	}
	posted, err := a.store.Job(c.Context(), job.ID)
	if err != nil {
		posted = storage.Job{ID: job.ID, Run: job.ID, Flow: job.Flow, Version: job.Version, State: states.JobUnclaimed}
	}
	out := inspect.JobOf(&posted)
	out.Existed = !isNew
	return out, nil
}

// committed returns the answer to a change that was committed: what was read after it or, if it cannot be read, what is
// known. The client would repeat what was done if the answer were an error.
func committed[T any](is, known T, err error) (any, error) {
	if err != nil {
		return known, nil //nolint:nilerr // as described
	}
	return is, nil
}

// jobSubject begins the subject of lines of the audit that are about jobs.
const jobSubject = "job "

// postJob posts a job.
func (a *api) postJob(c *call) (any, error) {
	var body jobBody
	if err := c.decode(&body); err != nil {
		return nil, err
	}
	board := jobs.New(a.store, jobs.Policy{})
	now, err := board.Now(c.Context())
	if err != nil {
		return nil, err
	}
	job, err := body.job(now)
	if err != nil {
		return nil, err
	}
	return a.post(c, "post", job)
}

// A scheduleBody is a schedule to add.
type scheduleBody struct {
	ID      string `json:"id"                 text:"id of the schedule; a known id changes it"`
	Spec    string `json:"spec"               text:"five fields as in crontab, or @daily, or @every 90s"`
	Zone    string `json:"zone,omitempty"     text:"time zone, such as Europe/Rome; UTC if left out"`
	CatchUp int    `json:"catch_up,omitempty" text:"number of missed ticks to make up for; 1 if left out"`
	Flow    string `json:"flow"               text:"name of the flow, or of the stored definition"`
	Version int64  `json:"version,omitempty"  text:"version of the definition; empty is the newest at each tick"`

	Input atom.Value `json:"input,omitempty" text:"input of the runs; {} if left out"`
}

func (a *api) addSchedule(c *call) (any, error) {
	var body scheduleBody
	if err := c.decode(&body); err != nil {
		return nil, err
	}
	of := jobBody{Flow: body.Flow, Version: body.Version, Input: body.Input}
	job, err := of.job(time.Now())
	if err != nil {
		return nil, err
	}
	spec := strings.Join(strings.Fields(body.Spec), " ")
	if body.Zone != "" {
		spec = "TZ=" + body.Zone + " " + spec
	}
	if body.ID == "" {
		return nil, problem(http.StatusBadRequest, "invalid", "id is missing: it names the schedule")
	}
	if _, err := jobs.Ticks(spec, time.Now(), 1); err != nil {
		return nil, err
	}
	ctx, err := c.audited(a, "add", "schedule "+body.ID)
	if err == nil && !c.once.again {
		err = jobs.New(a.store, jobs.Policy{}).AddSchedule(ctx, jobs.Schedule{
			ID: body.ID, Spec: spec, CatchUp: body.CatchUp, Job: job,
		})
	}
	if err != nil {
		return nil, err
	}
	is, err := a.store.Schedule(c.Context(), body.ID)
	known := backend.Schedule{
		ID: body.ID, Spec: spec, Flow: body.Flow, Version: body.Version, CatchUp: max(body.CatchUp, 1),
	}
	return committed(inspect.ScheduleOf(&is), inspect.ScheduleOf(&known), err)
}

// Removed is the answer to the command that removes a schedule.
type Removed struct {
	Event    string `json:"event"` // "removed"
	Schedule string `json:"schedule"`
}

func (a *api) removeSchedule(c *call) (any, error) {
	id := c.PathValue("schedule")
	ctx, err := c.audited(a, "remove", "schedule "+id)
	if err == nil && !c.once.again {
		err = jobs.New(a.store, jobs.Policy{}).RemoveSchedule(ctx, id)
	}
	return Removed{"removed", id}, there(err, "schedule", id)
}

// A limitBody is a limit to set.
type limitBody struct {
	Flow  string `json:"flow,omitempty"  text:"count the runs of this flow; of every flow if left out"`
	Label string `json:"label,omitempty" text:"count runs separately for each value of this label"`
	Runs  int    `json:"runs,omitempty"  text:"how many runs are driven at once; 0 is without limit"`
	Rate  string `json:"rate,omitempty"  text:"how many jobs are claimed within a time, such as 100/1m"`
}

// setLimit sets the limit of a flow and label, or removes it, and serves all limits.
func (a *api) setLimit(c *call) (any, error) {
	var body limitBody
	if err := c.decode(&body); err != nil {
		return nil, err
	}
	limit := storage.Limit{Flow: body.Flow, Label: body.Label, Runs: body.Runs}
	if body.Rate != "" {
		count, per, _ := strings.Cut(body.Rate, "/")
		var err, bad error
		limit.Rate, err = strconv.Atoi(count)
		limit.Per, bad = time.ParseDuration(per)
		if err != nil || bad != nil {
			return nil, problem(http.StatusBadRequest, "invalid", "rate is %.50q: want a number and a time, such as 100/1m",
				body.Rate)
		}
	}
	if err := backend.CheckLimit(&limit); err != nil {
		return nil, err
	}
	verb := "limit"
	if limit.None() {
		verb = "remove limit"
	}
	ctx, err := c.audited(a, verb, limit.String())
	if err == nil && !c.once.again {
		err = a.store.SetLimit(ctx, limit)
	}
	if err != nil {
		return nil, err
	}
	all, err := a.allLimits(c)
	return committed(all, Limits{[]inspect.Limit{inspect.LimitOf(&inspect.LimitUse{Limit: limit})}}, err)
}

// Audit is a page of lines that say who commanded what, newest first.
type Audit struct {
	Lines []inspect.AuditLine `json:"lines"`
	Next  int64               `json:"next,omitempty"` // number for below, for the next page; 0 if there are no more lines
}

func (a *api) audit(c *call) (any, error) {
	limit, err := c.limit()
	if err != nil {
		return nil, err
	}
	below, err := c.number("below", 0)
	if err != nil {
		return nil, err
	}
	f := inspect.AuditFilter{By: c.query.Get("by"), Command: c.query.Get("command"), Posts: c.query.Get("posts") == "true"}
	if f.From, f.To, err = runfilter.ParseSpan(c.query.Get("time"), a.store.Now()); err != nil {
		return nil, err
	}
	q := backend.AuditQuery{Below: below, Run: c.query.Get("run"), Limit: limit}
	lines, next, err := inspect.Audit(c.Context(), a.store, q, &f, inspect.AuditRead)
	return Audit{lines, next}, err
}

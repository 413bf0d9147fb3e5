package console

import (
	"context"
	"sync"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/runfilter"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// unaskedKept is how long the groups of runs that wait for workers are remembered. To find them takes up to 0.15 s with
// very many runs, and every browser on the home page asks.
const unaskedKept = 10 * time.Second

// An unasked remembers which runs wait for workers of queues for which no worker asks.
type unasked struct {
	mu     sync.Mutex
	read   time.Time
	groups []inspect.WaitGroup
}

// unaskedGroups returns the groups of runs that wait for workers although none has asked for the work for a while.
func (c *console) unaskedGroups(ctx context.Context, now time.Time) ([]inspect.WaitGroup, error) {
	u := &c.unasked
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.read.IsZero() && now.Sub(u.read) < unaskedKept {
		return u.groups, nil
	}
	w, err := runfilter.Waiting(ctx, c.store, inspect.WaitingSearch{Now: now, Clock: time.Now})
	if err != nil {
		return nil, err
	}
	u.read, u.groups = now, nil
	for i := range w.Groups {
		if g := &w.Groups[i]; g.Unasked && now.Sub(g.Since) >= backend.PollerMemory { // a worker may ask soon
			u.groups = append(u.groups, *g)
		}
	}
	return u.groups, nil
}

// A heldJob is a job that waits, and why.
type heldJob struct {
	storage.Job

	why string
}

// heldJobs returns jobs that have waited for a while, and that no process claims.
func (c *console) heldJobs(ctx context.Context, now time.Time) ([]heldJob, error) {
	list, err := c.store.JobList(ctx, storage.JobQuery{States: []states.Job{states.JobUnclaimed}, Limit: few})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	waits, err := inspect.NewJobWaits(ctx, c.store)
	if err != nil {
		return nil, err
	}
	var held []heldJob
	for i := range list {
		one, err := waits.Of(ctx, &list[i], now)
		if err != nil {
			return nil, err
		}
		if one != nil && one.Kind != inspect.WaitsForTake && now.Sub(list[i].Created) >= time.Minute {
			held = append(held, heldJob{list[i], one.Sentence(now)})
		}
	}
	return held, nil
}

// unaskedNode shows the groups of runs that wait for workers that do not ask.
func unaskedNode(groups []inspect.WaitGroup, now time.Time) node {
	return when(len(groups) > 0, el("h2", say("Work that no worker asks for")),
		soft(say("Start a worker that asks for it, or find out why its worker does not reach the server.")),
		el("ul", each(groups, func(g *inspect.WaitGroup) node {
			return el("li", el("a", href(link("runs", "filter", g.Filter, "children", "1")),
				sayCount(g.Runs, "{0} run waits for", "{0} runs wait for")), words(" "), words(g.Sentence()), words(" · "),
				moment(g.Since, now))
		})))
}

// heldNode shows jobs that no process claims.
func heldNode(v *visit, list []heldJob) node {
	return when(len(list) > 0, el("h2", say("Jobs that no process claims")), el("ul", each(list, func(j *heldJob) node {
		return el("li", say("{0} of {1}", words(j.ID), words(j.Flow)), labelNodes(j.Labels), words(" · "+j.why+" "),
			moment(j.Created, v.now), words(" "), jobButtons(v, &j.Job))
	})))
}

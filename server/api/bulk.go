package api

import (
	"github.com/ebbflow/ebb/engine/inspect"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/jobs/bulk"
)

// A bulkBody is a bulk command.
type bulkBody struct {
	Filter  string      `json:"filter"           text:"selects the runs, such as state:FAILURE ended:<1h; id:* is all"`
	Command bulkCommand `json:"command"          text:"cancel, suspend, resume, retry or revert"`
	Reason  string      `json:"reason,omitempty" text:"of cancel and revert, is stored with the runs"`
}

// A bulkCommand is the name of a command that many runs can get.
type bulkCommand string

func (bulkCommand) choices() []string { return bulk.Commands() }

// bulk posts the job of a bulk command, and serves it: a process that serves bulk commands runs it.
func (a *api) bulk(c *call) (any, error) {
	var body bulkBody
	if err := c.decode(&body); err != nil {
		return nil, err
	}
	input := bulk.Input{Filter: body.Filter, Command: string(body.Command), Reason: body.Reason}
	if err := input.Check(); err != nil {
		return nil, err
	}
	id, err := c.newID(bulk.Name)
	if err != nil {
		return nil, err
	}
	if err := c.audit(a, "bulk "+input.Command, "job "+id); err != nil {
		return nil, err
	}
	job := jobs.Job{ID: id, Flow: bulk.Name, Input: input}
	if _, err := jobs.New(a.store, jobs.Policy{}).Post(c.Context(), job); err != nil {
		return nil, err
	}
	posted, err := a.store.Job(c.Context(), id)
	return inspect.JobOf(&posted), there(err, "job", id)
}

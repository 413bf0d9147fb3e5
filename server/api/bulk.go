package api

import (
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
	return a.post(c, "bulk "+input.Command, jobs.Job{Flow: bulk.Name, Input: input})
}

package api

import (
	"errors"
	"net/http"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/jobs/bulk"
)

// A bulkBody is a bulk command.
type bulkBody struct {
	Filter  string      `json:"filter"            text:"selects the runs, such as state:FAILURE ended:<1h; id:* is all"`
	Command bulkCommand `json:"command"           text:"cancel, suspend, resume, retry, revert and so on"`
	Reason  string      `json:"reason,omitempty"  text:"of cancel and revert, is stored with the runs"`
	Path    string      `json:"path,omitempty"    text:"step that retry, revert, retry-revert, skip or complete is about"`
	NoUndo  bool        `json:"no_undo,omitempty" text:"cancel: revert nothing"`
	Name    string      `json:"name,omitempty"    text:"signal: its name"`
	Data    atom.Value  `json:"data,omitempty"    text:"data of a signal, or the result of a step; null if left out"`
}

func (b *bulkBody) input() bulk.Input {
	in := bulk.Input{Filter: b.Filter, Command: string(b.Command), Reason: b.Reason}
	if with := (bulk.Options{Path: b.Path, NoUndo: b.NoUndo, Name: b.Name, Data: b.Data}); with.Set() {
		in.With = &with
	}
	return in
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
	input := body.input()
	if err := input.Check(); err != nil {
		return nil, err
	}
	return a.post(c, "bulk "+input.Command, jobs.Job{Flow: bulk.Name, Input: input})
}

// previewBulk serves what runs would answer to a bulk command.
func (a *api) previewBulk(c *call) (any, error) {
	q := c.query
	body := bulkBody{
		Filter: q.Get("filter"), Command: bulkCommand(q.Get("command")), Path: q.Get("path"), Name: q.Get("name"),
	}
	answers, err := bulk.Preview(c.Context(), a.store, a.options.Machine, body.input())
	if failed, is := errors.AsType[*atom.Failure](err); is {
		return nil, problem(http.StatusBadRequest, "invalid", "%s", failed.Message)
	}
	return answers, err
}

package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/storage"
)

// A tryBody is a definition to try.
type tryBody struct {
	validateBody

	Input atom.Value `json:"input,omitempty" text:"input of the run; {} if left out"`
	Mocks atom.Value `json:"mocks,omitempty" text:"a mock for each state, or a mock file of Step Functions Local"`
	Case  string     `json:"case,omitempty"  text:"test case of a mock file"`
}

// A TrialResult says how the run of a TrialRequest went. The run is in memory, and nothing was called.
type TrialResult struct {
	Trial   string          `json:"trial"`   // id of the trial, for the console
	Run     inspect.Summary `json:"run"`     // how the run stands: it may still wait
	Waiting bool            `json:"waiting"` // the run has not ended
	Entered []string        `json:"entered"` // the first states that it entered, in order
	Took    string          `json:"took"`    // virtual time, such as 1h30m0s
}

const (
	maxEntered = 1000             // states of an answer
	tryTime    = 10 * time.Second // of the processor, in which a trial must end
)

// try runs a definition in memory.
func (a *api) try(c *call) (any, error) {
	var body tryBody
	if err := c.decode(&body); err != nil {
		return nil, err
	}
	if a.options.Languages == nil || a.options.Trials == nil {
		return nil, problemNoLanguages()
	}
	draft, err := body.draft()
	if err != nil {
		return nil, err
	}
	if err := a.options.Trials.Check(c.caller.Name, time.Now()); err != nil {
		return nil, problemTooMany(err)
	}
	ctx, cancel := context.WithTimeout(c.Context(), tryTime)
	defer cancel()
	store, id, err := a.options.Languages.Try(ctx, &TrialRequest{*draft, body.Input, body.Mocks, body.Case})
	if err != nil {
		return nil, problem(http.StatusBadRequest, "trial", "%v", err)
	}
	run, err := store.Run(c.Context(), id)
	if err != nil {
		return nil, err
	}
	trial, err := a.options.Trials.Keep(c.caller.Name, store, time.Now())
	if err != nil { // others were faster
		return nil, problemTooMany(err)
	}
	out := TrialResult{
		Trial: trial, Run: inspect.SummaryOf(&run, nil),
		Waiting: !run.State.Ended(), Entered: []string{}, Took: run.Updated.Sub(run.Created).Round(time.Millisecond).String(),
	}
	for e, err := range storage.EachEntry(c.Context(), store, id, 0) {
		if err != nil {
			return nil, err
		}
		if e.Kind == storage.EntryEvent && strings.HasSuffix(e.Type, "StateEntered") && len(out.Entered) < maxEntered {
			out.Entered = append(out.Entered, e.Path)
		}
	}
	return out, nil
}

// problemTooMany is the answer while a process keeps too many trials.
func problemTooMany(err error) *Problem {
	return problem(http.StatusServiceUnavailable, "too_many_trials", "%v", err)
}

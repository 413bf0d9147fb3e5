package swf

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/ebbflow/ebb/flow/swf"
	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/internal/records"
	"github.com/ebbflow/ebb/storage"
)

type pollDecisionInput struct {
	paging

	ofDomain

	TaskList   swf.TaskList `json:"taskList"`
	Identity   string       `json:"identity"`
	AtPrevious bool         `json:"startAtPreviousStartedEvent"`
}

type pollDecisionOutput struct {
	Token     string            `json:"taskToken,omitempty"` // clients of AWS test for its absence
	Previous  int64             `json:"previousStartedEventId"`
	Started   int64             `json:"startedEventId"`
	Execution *swf.Execution    `json:"workflowExecution,omitempty"`
	Type      *swf.Type         `json:"workflowType,omitempty"`
	Events    []json.RawMessage `json:"events,omitempty"`
	NextToken string            `json:"nextPageToken,omitempty"`
}

// A decisionPage is the place of a page of the history that a poller of a decision task reads.
type decisionPage struct {
	Token    string `json:"t"` // as the client has it
	Run      string `json:"r"`
	Previous int64  `json:"p"`
	Started  int64  `json:"s"`
	After    int64  `json:"a"` // last event of the page before
}

func (s *Server) pollForDecisionTask(ctx context.Context, caller *aws.Caller, in *pollDecisionInput) (
	*pollDecisionOutput, error,
) {
	if _, err := s.domain(ctx, in.Domain); err != nil {
		return nil, err
	}
	p := in.page("PollForDecisionTask", caller, in.Domain, in.TaskList.Name, strconv.FormatBool(in.AtPrevious))
	place, err := s.records.After(ctx, p)
	if err != nil {
		return nil, err
	}
	if place != nil {
		at := &decisionPage{}
		if err := json.Unmarshal(place, at); err != nil {
			return nil, err
		}
		return s.decisionPage(ctx, in, p, at)
	}
	var task swf.DecisionTask
	taken, err := s.take(ctx, caller, swf.DecisionQueue(in.Domain, in.TaskList.Name), in.Identity, &task)
	if err != nil || taken == nil {
		return &pollDecisionOutput{}, err
	}
	at := &decisionPage{"", taken.Run, task.PreviousStartedEventID, task.StartedEventID, 0}
	if at.Token, err = s.seal(ctx, decisionTask, tokenOf(taken)); err != nil {
		return nil, err
	}
	return s.decisionPage(ctx, in, p, at)
}

// decisionPage returns a page of the history of a decision task that the poller has taken.
func (s *Server) decisionPage(ctx context.Context, in *pollDecisionInput, p *records.Page, at *decisionPage) (
	*pollDecisionOutput, error,
) {
	run, err := s.store.Run(ctx, at.Run)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, unknownExecution(swf.Execution{RunID: at.Run})
	}
	if err != nil {
		return nil, err
	}
	x, _ := executionOf(&run)
	is := x.is()
	out := &pollDecisionOutput{
		Token: at.Token, Previous: at.Previous, Started: at.Started, Execution: &is, Type: &x.Type,
	}
	part := historyPart{run: &run, first: 1, last: at.Started, reverse: in.Reverse}
	if in.AtPrevious {
		part.first = max(at.Previous, 1)
	}
	most := p.Most()
	if server.Found(ctx, true) != nil { // the poller receives a small answer, and reads the history event by event
		most = 1
	}
	var more bool
	out.Events, at.After, more, err = part.read(ctx, s.store, at.After, most)
	if err != nil || !more {
		return out, err
	}
	place, err := json.Marshal(at)
	if err != nil {
		return nil, err
	}
	out.NextToken, err = s.records.Next(ctx, p, place)
	return out, err
}

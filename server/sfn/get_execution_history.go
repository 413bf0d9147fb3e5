package sfn

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/internal/records"
	"github.com/ebbflow/ebb/storage"
)

type getExecutionHistoryInput struct {
	ExecutionARN string  `json:"executionArn"`
	MaxResults   int     `json:"maxResults"`
	Reverse      bool    `json:"reverseOrder"`
	NextToken    *string `json:"nextToken"`
	Data         *bool   `json:"includeExecutionData"`
}

type getExecutionHistoryOutput struct {
	Events    []json.RawMessage `json:"events"`
	NextToken string            `json:"nextToken,omitempty"`
}

func (s *Server) getExecutionHistory(ctx context.Context, caller *aws.Caller, in *getExecutionHistoryInput,
) (*getExecutionHistoryOutput, error) {
	x, err := s.execution(ctx, in.ExecutionARN, executionType)
	if err != nil {
		return nil, err
	}
	v := historyView{execution: x, data: in.Data == nil || *in.Data}
	p := &records.Page{
		Operation: "GetExecutionHistory", Caller: caller, Token: in.NextToken, Size: in.MaxResults, Usual: defaultPage,
		Arguments: []string{in.ExecutionARN, strconv.FormatBool(in.Reverse), strconv.FormatBool(v.data)},
	}
	q := storage.EventQuery{Reverse: in.Reverse, Limit: p.Most()}
	if err := s.records.Numbers(ctx, p, &q.After); err != nil {
		return nil, err
	}
	entries, err := s.store.Events(ctx, x.run.ID, q)
	if err != nil {
		return nil, err
	}
	out := &getExecutionHistoryOutput{Events: []json.RawMessage{}}
	for i, bytes := 0, 0; i < len(entries) && bytes < storage.PageBytes; i++ { // as at AWS, a page may have fewer events
		event, err := v.event(&entries[i])
		if err != nil {
			return nil, err
		}
		out.Events, bytes = append(out.Events, event), bytes+len(event)
		entries[i].Details, entries[i].Body.Data = nil, nil // the text has them
	}
	if n := len(out.Events); n > 0 {
		last := entries[n-1].Number
		if in.Reverse && last > 1 || !in.Reverse && last < x.run.Events {
			out.NextToken, err = s.records.NextNumbers(ctx, p, last)
		}
	}
	return out, err
}

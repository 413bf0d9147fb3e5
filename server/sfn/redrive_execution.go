package sfn

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/internal/records"
	"github.com/ebbflow/ebb/storage"
)

type redriveExecutionInput struct {
	ExecutionARN string `json:"executionArn"`
	ClientToken  string `json:"clientToken"`
}

type redriveExecutionOutput struct {
	Redriven *aws.Time `json:"redriveDate"`
}

// redriveExecution reopens the run. A repeated request, with the token of an earlier one, has the same answer.
func (s *Server) redriveExecution(ctx context.Context, _ *aws.Caller, in *redriveExecutionInput) (
	*redriveExecutionOutput, error,
) {
	x, err := s.execution(ctx, in.ExecutionARN, executionType)
	if err != nil {
		return nil, err
	}
	count := x.redrives() + 1
	if in.ClientToken != "" {
		earlier, err := s.redriveOf(ctx, x, in.ClientToken)
		if err != nil {
			return nil, err
		}
		if count = earlier; count <= x.redrives() {
			return &redriveExecutionOutput{x.redriven()}, nil
		}
	}
	status, reason, err := s.redrivable(ctx, x)
	switch {
	case err != nil:
		return nil, err
	case status == redrivableByMapRun:
		reason = "Execution can only be redriven by its map run"
	}
	if reason != "" {
		return nil, unredrivable(reason)
	}
	return s.reopen(ctx, x, in, count)
}

func unredrivable(reason string) error {
	return aws.Errorf("ExecutionNotRedrivable", "Execution Not Redrivable: '%s'", reason)
}

// redriveTime is how long RedriveExecution waits until the run was reopened. The request is durable before.
const redriveTime = 5 * time.Second

// reopen requests the run to continue, and returns when it was reopened so often. The run refuses the request while a
// run that it had started is still ending, so reopen repeats it. If another request was faster, reopen fails.
func (s *Server) reopen(ctx context.Context, x *execution, in *redriveExecutionInput, count int64) (
	*redriveExecutionOutput, error,
) {
	bounded, stop := context.WithTimeout(ctx, redriveTime)
	defer stop()
	for began := time.Now(); ; {
		applied, err := engine.Apply(bounded, s.store, x.run, "", engine.RetryFrom(""))
		switch {
		case applied:
			return s.redriven(bounded, in, count), nil
		case err == nil: // the request waits in the inbox
			return &redriveExecutionOutput{aws.At(s.config.Now())}, ctx.Err()
		case !errors.Is(err, engine.ErrRefused):
			return nil, err
		}
		if x, err = s.execution(ctx, in.ExecutionARN, executionType); err != nil {
			return nil, err
		}
		if in.ClientToken != "" && x.redrives() >= count { // by a request with the same token
			return &redriveExecutionOutput{x.redriven()}, nil
		}
		_, reason, err := s.redrivable(ctx, x)
		switch {
		case err != nil:
			return nil, err
		case x.redrives() >= count && reason == "":
			reason = "Execution was redriven by another request"
		}
		if reason != "" {
			return nil, unredrivable(reason)
		}
		select {
		case <-time.After(lookForEnd + time.Since(began)):
		case <-bounded.Done():
			return nil, unredrivable("An execution that it had started has not ended")
		}
	}
}

// redriven waits until an execution whose run is reopened has been redriven so often, as long as that can be seen.
func (s *Server) redriven(ctx context.Context, in *redriveExecutionInput, count int64) *redriveExecutionOutput {
	for {
		x, err := s.execution(context.WithoutCancel(ctx), in.ExecutionARN, executionType)
		if err != nil {
			return &redriveExecutionOutput{aws.At(s.config.Now())}
		}
		if x.redrives() >= count || ctx.Err() != nil {
			return &redriveExecutionOutput{x.redriven()}
		}
		time.Sleep(lookForEnd)
	}
}

// A redriveToken is a token of a client, and which redrive of the execution it asked for.
type redriveToken struct {
	Token string    `json:"token"`
	Count int64     `json:"count"`
	At    time.Time `json:"at"`
}

const (
	redriveKind = "sfn.redrive" // key: the id of the run

	tokenTime  = 15 * time.Minute // for which a token is valid
	tokensKept = 10               // of one execution
)

// redriveOf returns which redrive of an execution a client's token asks for. It stores a new token before the request
// has any effect, so that a repeated request finds it.
func (s *Server) redriveOf(ctx context.Context, x *execution, token string) (count int64, err error) {
	err = records.Retried(ctx, func() error {
		var known []redriveToken
		record, err := s.records.Read(ctx, redriveKind, x.run.ID, &known)
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return err
		}
		now := s.config.Now()
		known = slices.DeleteFunc(known, func(t redriveToken) bool { return now.Sub(t.At) > tokenTime })
		for _, t := range known {
			if t.Token == token {
				count = t.Count
				return nil
			}
		}
		count = x.redrives() + 1
		known = append(known, redriveToken{token, count, now})
		known = known[max(0, len(known)-tokensKept):]
		writes, err := s.expired(ctx, x.run.ID, now)
		if err != nil {
			return err
		}
		writes = append(writes, records.Put(redriveKind, x.run.ID, record.Revision, known))
		_, err = s.store.WriteRecords(ctx, writes...)
		return err
	})
	return count, err
}

// expired returns writes that delete records of tokens of other executions that are not valid any more: two for each
// record that is made, so that records do not accumulate.
func (s *Server) expired(ctx context.Context, but string, now time.Time) ([]storage.RecordWrite, error) {
	oldest, err := s.store.NamedRecords(ctx, storage.RecordQuery{Kind: redriveKind, ByTime: true, Limit: 2})
	if err != nil {
		return nil, err
	}
	var writes []storage.RecordWrite
	for i := range oldest {
		if oldest[i].Key != but && now.Sub(oldest[i].Updated) > tokenTime {
			writes = append(writes, records.Remove(&oldest[i]))
		}
	}
	return writes, nil
}

// lookForEnd is the pause between looks at a run.
const lookForEnd = 5 * time.Millisecond

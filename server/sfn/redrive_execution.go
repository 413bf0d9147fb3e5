package sfn

import (
	"context"
	"errors"
	"math"
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
	at, err := s.reopen(ctx, x, count)
	if err != nil {
		return nil, err
	}
	return &redriveExecutionOutput{at}, nil
}

func unredrivable(reason string) error {
	return aws.Errorf("ExecutionNotRedrivable", "Execution Not Redrivable: '%s'", reason)
}

// redriveTime is how long RedriveExecution waits until the run was reopened. The request is durable before.
const redriveTime = 5 * time.Second

// reopen requests the run to continue, waits until it was reopened so often, and returns when. The process that drives
// the run drops the request while a run that it had started is still ending, so reopen repeats it.
func (s *Server) reopen(ctx context.Context, x *execution, count int64) (*aws.Time, error) {
	over := time.NewTimer(redriveTime)
	defer over.Stop()
	look := time.NewTicker(lookForEnd)
	defer look.Stop()
	sent, again := int64(-1), time.Duration(0)
	for began := time.Now(); ; {
		run, waits, err := s.requested(ctx, x.run.ID, sent)
		if err != nil {
			return nil, err
		}
		if now, ok := executionOf(run); ok && now.redrives() >= count {
			return now.redriven(), nil
		}
		dropped := run.State.Ended() && !waits
		if dropped && time.Since(began) >= again {
			if sent, err = s.requestRetry(ctx, x.run.ID); err != nil {
				return nil, err
			}
			dropped, again = false, 2*time.Since(began)+lookForEnd
		}
		select {
		case <-look.C:
		case <-over.C:
			if dropped {
				return nil, unredrivable("An execution that it had started has not ended")
			}
			return aws.At(s.config.Now()), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// requestRetry asks a run to continue. Its request is the first among the messages after the returned number.
func (s *Server) requestRetry(ctx context.Context, id string) (int64, error) {
	before, _, err := s.config.Store.Messages(ctx, id, math.MaxInt64)
	if err != nil {
		return 0, err
	}
	return before, engine.Send(ctx, s.config.Store, id, engine.RetryFrom(""))
}

// requested reads a run, and reports whether a request after the message with that number waits in its inbox; of a
// negative number it does not look.
func (s *Server) requested(ctx context.Context, id string, after int64) (run *storage.Run, waits bool, err error) {
	if after >= 0 { // first, because a run that takes the request meanwhile is then seen as reopened
		_, messages, err := s.config.Store.Messages(ctx, id, after)
		if err != nil {
			return nil, false, err
		}
		waits = slices.ContainsFunc(messages, func(m storage.Message) bool { return m.Kind == storage.MessageRetry })
	}
	r, err := s.config.Store.Run(ctx, id)
	return &r, waits, err
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
		_, err = s.config.Store.WriteRecords(ctx, writes...)
		return err
	})
	return count, err
}

// expired returns writes that delete records of tokens of other executions that are not valid any more: two for each
// record that is made, so that records do not accumulate.
func (s *Server) expired(ctx context.Context, but string, now time.Time) ([]storage.RecordWrite, error) {
	oldest, err := s.config.Store.NamedRecords(ctx, storage.RecordQuery{Kind: redriveKind, ByTime: true, Limit: 2})
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

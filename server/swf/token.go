package swf

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow/swf"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/storage"
)

// A taskToken says which delivery of which task its holder has. Clients receive it sealed: they can neither read it nor
// make one.
type taskToken struct {
	Token     string `json:"t"`
	Delivery  int64  `json:"d"`
	Run       string `json:"r"`
	Scheduled int64  `json:"s"` // number of the event that scheduled the task
}

// Kinds of tasks, to which tokens are bound.
const (
	decisionTask = "decision"
	activityTask = "activity"
)

// tokenLife is how long a token is valid. An execution is not open for longer.
const tokenLife = 2 * 365 * 24 * time.Hour

// tokenOf returns the token of a task that a poller has taken.
func tokenOf(t *engine.Task) *taskToken {
	return &taskToken{Token: t.Token, Delivery: t.Delivery, Run: t.Run, Scheduled: scheduledEvent(t.Path)}
}

// scheduledEvent returns the number of the event that scheduled a task, with which the name of its node ends.
func scheduledEvent(node string) int64 {
	n, _ := strconv.ParseInt(node[strings.LastIndexByte(node, '#')+1:], 10, 64) // flow/swf names nodes so
	return n
}

// seal returns the token as the client receives it.
func (s *Server) seal(ctx context.Context, kind string, t *taskToken) (string, error) {
	tokens, err := s.records.Tokens(ctx)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(t)
	return tokens.SealUntil(time.Now().Add(tokenLife), text, "task", kind), err
}

// open returns the token of a task of a kind that a client holds, or AWS's fault.
func (s *Server) open(ctx context.Context, kind, text string) (*taskToken, error) {
	tokens, err := s.records.Tokens(ctx)
	if err != nil {
		return nil, err
	}
	t := &taskToken{}
	plain, err := tokens.Open(text, "task", kind)
	if err != nil {
		return nil, invalid("Invalid token")
	}
	return t, json.Unmarshal(plain, t)
}

// taskFault returns what the holder of a token receives for an error of the engine.
func (s *Server) taskFault(ctx context.Context, kind string, t *taskToken, err error) error {
	if !isTaskOver(err) {
		return faultOf(err)
	}
	run, err := s.store.Run(ctx, t.Run)
	switch x, _ := executionOf(&run); {
	case errors.Is(err, storage.ErrNotFound):
		return unknownExecution(swf.Execution{RunID: t.Run})
	case err != nil:
		return err
	case run.State.Ended():
		return unknownExecution(x.is())
	case kind == decisionTask:
		return aws.Errorf(unknownResource, "Unknown decision task, scheduledEventId = %d", t.Scheduled)
	}
	return aws.Errorf(unknownResource, "Unknown activity, scheduledEventId = %d", t.Scheduled)
}

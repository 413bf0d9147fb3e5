package sfn_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/internal/conformance"
)

// A services does the tasks of executions as they were done when the executions were recorded. The holders of tokens,
// and the workers of activities, answer over the API.
type services struct {
	t     *testing.T
	world *world
	files *tasks.Registry // reads and writes buckets

	mu     sync.Mutex
	script *conformance.Script
}

// Task implements [engine.Tasks].
func (s *services) Task(name string) (atom.Body, error) {
	if name == asl.ReadItems || name == asl.WriteObjects {
		return s.files.Task(name)
	}
	return &service{s, name}, nil
}

// Instead implements [engine.Chooser]: what came of nested executions is recorded.
func (*services) Instead(string, string) bool { return true }

func (s *services) answer(path, resource string, input json.RawMessage) (conformance.Answer, bool) {
	state, _, _ := strings.Cut(path[strings.LastIndexByte(path, '/')+1:], "#")
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.script.Next(state, resource, input)
}

// end ends a task whose holder has its token, after a second.
func (s *services) end(token string, a conformance.Answer) {
	if a.TimedOut || a.Pending {
		return
	}
	time.Sleep(time.Second)
	op, params := "SendTaskSuccess", object{"taskToken": token, "output": string(a.Output)}
	if a.Failed {
		op, params = "SendTaskFailure", object{"taskToken": token, "error": a.Error, "cause": a.Text()}
	}
	body, err := json.Marshal(params)
	if err == nil {
		_, err = s.world.send(s.t.Context(), op, body)
	}
	if err != nil && s.t.Context().Err() == nil {
		s.t.Error(err)
	}
}

// toil works for an activity until the context ends.
func (s *services) toil(ctx context.Context, activity, name string) {
	params := object{"activityArn": activity}
	if name != "" {
		params["workerName"] = name
	}
	body, err := json.Marshal(params)
	if err != nil {
		s.t.Error(err)
		return
	}
	for ctx.Err() == nil {
		answer, err := s.world.send(ctx, "GetActivityTask", body)
		if err != nil {
			return
		}
		var task struct{ TaskToken, Input string }
		if err := json.Unmarshal(answer.Body, &task); err != nil || task.TaskToken == "" {
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
			}
			continue
		}
		if a, ok := s.answer("", activity, json.RawMessage(task.Input)); ok {
			s.end(task.TaskToken, a) //nolint:contextcheck // it ends with the test, as this does
		}
	}
}

type service struct {
	*services

	resource string
}

func (*service) Reverts() bool { return false }

func (*service) Revert(context.Context, atom.Values, atom.Outcome[atom.Value]) (atom.Value, error) {
	return atom.Null, nil
}

func (s *service) Execute(ctx context.Context, in atom.Values) (atom.Value, error) {
	a, ok := s.answer(atom.CurrentCall(ctx).Path, s.resource, in.Input().JSON())
	token := atom.Token(ctx)
	switch {
	case !ok && token != "":
		return atom.FromJSON([]byte("{}")), atom.ErrDeferred
	case !ok:
		return nil, atom.Errorf("NoAnswer", "the record has no answer for a call of %s", s.resource)
	case a.Submitted != nil && token != "":
		go s.end(token, a) //nolint:contextcheck // the holder of the token outlives the call
		return atom.FromJSON(a.Submitted), atom.ErrDeferred
	case a.TimedOut || a.Pending:
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if a.Seconds > 0 {
		select {
		case <-time.After(time.Duration(a.Seconds) * time.Second):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if a.Failed {
		return nil, failureOf(&a)
	}
	return atom.FromJSON(a.Output), nil
}

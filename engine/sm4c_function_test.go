package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/atom"
)

// Task implements [engine.Tasks]: functions reply as in the script.
func (p *machinePlay) Task(name string) (atom.Body, error) { return &scriptedFunction{p, name}, nil }

type scriptedFunction struct {
	*machinePlay

	task string
}

func (*scriptedFunction) Reverts() bool { return false }

func (*scriptedFunction) Revert(context.Context, atom.Values, atom.Outcome[atom.Value]) (atom.Value, error) {
	return atom.Null, nil
}

func (f *scriptedFunction) Execute(ctx context.Context, in atom.Values) (atom.Value, error) {
	key := fmt.Sprint(atom.IdempotencyKey(ctx), " ", atom.CurrentCall(ctx).Attempt)
	reply, err := f.reply(key, in.Input().JSON())
	if err != nil {
		return nil, err
	}
	if err := waitFor(ctx, time.Until(reply.at)-1); err != nil {
		return nil, err
	}
	for i, e := range reply.Emit {
		_ = f.tell(ctx, fmt.Sprint(key, " ", i), e)
	}
	if err := waitFor(ctx, time.Until(reply.at)); err != nil {
		return nil, err
	}
	switch {
	case reply.Error != nil:
		return nil, scriptedFailure(reply.Error)
	case reply.Result == nil:
		return atom.Null, nil
	}
	return atom.FromJSON(reply.Result), nil
}

// reply returns the reply to a call. A repeated call gets the same reply.
func (f *scriptedFunction) reply(key string, args json.RawMessage) (*machineReply, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if known := f.begun[key]; known != nil {
		return known, nil
	}
	reply, ok := f.replies.Take(f.names[f.task], args)
	if !ok {
		return nil, atom.Errorf("NoReply", "no reply is left for %s %s", f.task, args)
	}
	f.begun[key] = &machineReply{reply, time.Now().Add(reply.After())}
	return f.begun[key], nil
}

func waitFor(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// scriptedFailure turns a scripted error into the failure of a task.
func scriptedFailure(text json.RawMessage) error {
	var known struct{ Type, Message string }
	var all map[string]any
	if err := errors.Join(json.Unmarshal(text, &known), json.Unmarshal(text, &all)); err != nil {
		return err
	}
	delete(all, "type")
	delete(all, "message")
	f := &atom.Failure{Code: known.Type, Message: known.Message}
	if known.Type == "" {
		f.Code = atom.CodeError
	}
	if len(all) > 0 {
		f.Details = atom.MustEncode(all)
	}
	return f
}

package workers

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/worker"
)

func taskOf(w *engine.Work, lease time.Duration) *worker.Task {
	t := &worker.Task{
		ID: taskID(w.Token, w.Take), Kind: w.Queue, Key: w.Key(), Run: w.Run, Path: w.Path, Attempt: w.Attempt,
		Delivery: w.Delivery,
		Input:    w.Input.JSON(), LeaseSeconds: lease.Seconds(), Traceparent: w.Trace,
	}
	if len(t.Input) == 0 {
		t.Input = atom.Null.JSON()
	}
	if !w.Deadline.IsZero() {
		t.Deadline = &w.Deadline
	}
	if u := w.Undoes; u != nil {
		key := strings.TrimSuffix(t.Key, "/revert") // of the execution
		t.Revert = &worker.Revert{Key: key, Outcome: u.Outcome, Result: u.Result, Failures: []worker.Failure{}}
		if u.Failure != nil {
			f := failureOf(u.Failure)
			t.Revert.Failure = &f
		}
		for _, f := range u.Failures {
			t.Revert.Failures = append(t.Revert.Failures, failureOf(f))
		}
	}
	return t
}

func failureOf(f *atom.Failure) worker.Failure {
	return worker.Failure{Path: f.Atom, Code: f.Code, Message: f.Message}
}

// taskID returns the id of one take of a token's work.
func taskID(token string, take int64) string { return token + "." + strconv.FormatInt(take, 10) }

// tokenOf returns the token and the number of the take from a task's id.
func tokenOf(id string) (token string, take int64, err error) {
	i := strings.LastIndexByte(id, '.')
	if i > 0 {
		token = id[:i]
		take, err = strconv.ParseInt(id[i+1:], 10, 64)
	}
	if i <= 0 || err != nil || take < 1 || taskID(token, take) != id || len(token) > maxName || !utf8.ValidString(token) ||
		strings.IndexByte(token, 0) >= 0 {
		return "", 0, fmt.Errorf("%.100q is no id of a task: use the one that /tasks/poll gave", id)
	}
	return token, take, nil
}

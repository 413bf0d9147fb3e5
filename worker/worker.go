package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// A Func does one task, or undoes it if the task has a Revert. The returned value
// becomes the result, as JSON. An error is the task's failure. If the error has a
// method ErrorCode() string, the failure has that code. If the error has a method
// Final() bool that returns true, the task is not retried; see [Errorf] and [Final].
//
// ctx ends when the task no longer belongs to this worker: the task was cancelled or is
// overdue, or the worker could not renew its lease. The worker then drops the result.
type Func func(ctx context.Context, t *Task) (result any, err error)

// A Worker does tasks, one at a time in each [Worker.Run]. Set it up before.
type Worker struct {
	URL    string          // address of the server, such as http://127.0.0.1:8083
	Name   string          // for people; "" is none
	Do     map[string]Func // functions by kind of work
	Lease  time.Duration   // how long the worker may be silent before another worker gets its task; 0 is 30 seconds
	Key    string          // is sent as a bearer token; "" is none
	Client *http.Client    // nil is one without a limit of its own
}

const (
	defaultLease = 30 * time.Second
	beats        = 3 // heartbeats in a lease
	longPoll     = 30 * time.Second
	again        = time.Second // until the server is asked again that did not answer
)

// Run does tasks until ctx ends. Then it abandons its current task and returns nil.
// Several goroutines may call Run. If the server does not answer, Run asks again. If
// the server refuses to give tasks, Run returns a *[RefusedError].
func (w *Worker) Run(ctx context.Context) error {
	ask := map[string]any{
		"kinds": slices.Sorted(maps.Keys(w.Do)), "worker": w.Name,
		"wait_seconds": longPoll.Seconds(), "lease_seconds": w.lease().Seconds(),
	}
	for ctx.Err() == nil {
		var t *Task
		err := w.post(ctx, "poll", ask, &t)
		if refused, ok := errors.AsType[*RefusedError](err); ok {
			return refused
		}
		if err != nil {
			pause(ctx, again)
		} else if t != nil {
			w.work(ctx, t)
		}
	}
	return nil
}

func (w *Worker) lease() time.Duration {
	if w.Lease == 0 {
		return defaultLease
	}
	return w.Lease
}

// work does one task.
func (w *Worker) work(ctx context.Context, t *Task) {
	mine, leave := context.WithCancel(ctx)
	defer leave()
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		w.keep(mine, leave, t)
	}()
	result, err := w.call(mine, t)
	if mine.Err() == nil {
		w.end(mine, t, result, err)
	}
	leave()
	<-kept
}

// call calls the Func and encodes its result. A panic is a failure, and so is the end of its goroutine.
func (w *Worker) call(ctx context.Context, t *Task) (result json.RawMessage, err error) {
	ended := make(chan struct{})
	go func() {
		err = errors.New("the called code ended its goroutine, as runtime.Goexit does")
		defer close(ended)
		defer func() {
			if p := recover(); p != nil {
				err = Errorf("Panic", "panic: %v", p)
			}
		}()
		value, failure := w.Do[t.Kind](ctx, t)
		if err = failure; err == nil {
			result, err = json.Marshal(value)
		}
	}()
	<-ended
	return result, err
}

// keep renews the lease until the task has ended, or belongs to another worker. It also ends if the server does not
// answer for the length of the lease.
func (w *Worker) keep(ctx context.Context, leave func(), t *Task) {
	lease := w.lease()
	over := time.Now().Add(lease)
	for {
		if pause(ctx, lease/beats); ctx.Err() != nil {
			return
		}
		sent := time.Now()
		within, cancel := context.WithDeadline(ctx, over)
		var answer struct {
			GiveUp bool `json:"give_up"`
		}
		err := w.post(within, t.ID+"/heartbeat", t.report.heartbeat(lease), &answer)
		cancel()
		if err == nil {
			over = sent.Add(lease)
			if answer.GiveUp {
				t.report.giveUp()
			}
		} else if errors.As(err, new(*RefusedError)) || !time.Now().Before(over) {
			leave()
			return
		}
	}
}

// end says how a task ended, until the server has heard it or refuses to.
func (w *Worker) end(ctx context.Context, t *Task, result json.RawMessage, failure error) {
	complete := t.ID + "/complete"
	how, said := complete, map[string]any{"result": result}
	if failure != nil {
		how, said = t.ID+"/fail", failed(failure)
	}
	for ctx.Err() == nil {
		err := w.post(ctx, how, said, nil)
		refused, is := errors.AsType[*RefusedError](err)
		if is && how == complete && (refused.Status == http.StatusBadRequest ||
			refused.Status == http.StatusRequestEntityTooLarge) { // no repetition makes the result fit
			how, said = t.ID+"/fail", failed(Errorf("Ebb.BadResult", "%s", refused.Message))
			continue
		}
		if err == nil || is {
			return
		}
		pause(ctx, again)
	}
}

func failed(err error) map[string]any {
	said := map[string]any{"message": clip(err.Error())}
	if coded, ok := errors.AsType[interface {
		error
		ErrorCode() string
	}](err); ok {
		said["code"] = coded.ErrorCode()
	}
	if final, ok := errors.AsType[interface {
		error
		Final() bool
	}](err); ok && final.Final() {
		said["retryable"] = false
	}
	return said
}

// clip leaves of a message what the server takes.
func clip(message string) string {
	const limit = 32 << 10
	if len(message) <= limit {
		return message
	}
	return strings.ToValidUTF8(message[:limit], "")
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// A RefusedError is the server's answer to a request that it will not accept on a retry either.
type RefusedError struct {
	Status  int    `json:"-"`       // HTTP status
	Code    string `json:"error"`   // stable name of the reason
	Message string `json:"message"` // text for people
}

// Error returns the status, the code and the message of the server.
func (r *RefusedError) Error() string {
	return fmt.Sprintf("worker: refused (%d %s): %s", r.Status, r.Code, r.Message)
}

const maxAnswer = 4 << 20

// post asks the server for something; 204 leaves the answer as it is.
func (w *Worker) post(ctx context.Context, what string, ask, answer any) error {
	body, err := json.Marshal(ask)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(w.URL, "/")+"/tasks/"+what,
		bytes.NewReader(body))
	if err != nil {
		return &RefusedError{Message: err.Error()}
	}
	req.Header.Set("Content-Type", "application/json")
	if w.Key != "" {
		req.Header.Set("Authorization", "Bearer "+w.Key)
	}
	client := w.Client
	if client == nil {
		client = http.DefaultClient
	}
	got, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = got.Body.Close() }() // it was read
	text, err := io.ReadAll(io.LimitReader(got.Body, maxAnswer))
	switch {
	case err != nil:
		return err
	case got.StatusCode == http.StatusNoContent:
		return nil
	case got.StatusCode == http.StatusOK && answer == nil:
		return nil
	case got.StatusCode == http.StatusOK:
		return json.Unmarshal(text, answer)
	case got.StatusCode == http.StatusTooManyRequests || got.StatusCode >= http.StatusInternalServerError:
		return fmt.Errorf("worker: the server answered %s", got.Status)
	}
	refused := &RefusedError{Status: got.StatusCode}
	if json.Unmarshal(text, refused) != nil {
		refused.Message = strings.TrimSpace(string(text))
	}
	return refused
}

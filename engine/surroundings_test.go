package engine_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	enginetasks "github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/conformance"
	"github.com/ebbflow/ebb/storage"
)

// Surroundings are the parties of a recorded execution: tasks with the recorded answers, and workers that take its
// work.
type surroundings struct {
	t      *testing.T
	record *conformance.Execution
	store  backend.Store

	files *enginetasks.Registry

	mu     sync.Mutex
	script *conformance.Script

	ctx     context.Context //nolint:containedctx // of goroutines that outlive their call, until the execution has ended
	dismiss context.CancelFunc
}

func newSurroundings(t *testing.T, record *conformance.Execution) *surroundings {
	t.Helper()
	w := &surroundings{t: t, record: record, script: record.Script(), files: bucketsOf(t, record)}
	w.ctx, w.dismiss = context.WithCancel(t.Context())
	return w
}

// later calls f while the execution is running.
func (w *surroundings) later(do func()) {
	go func() {
		select {
		case <-time.After(time.Second):
			do()
		case <-w.ctx.Done():
		}
	}()
}

// hire lets a worker do the work of each activity, under the recorded name.
func (w *surroundings) hire() {
	for _, arn := range w.record.Activities() {
		go w.toil(arn, w.record.Worker())
	}
}

func (w *surroundings) toil(arn, name string) {
	for {
		work, err := engine.TakeWork(w.ctx, w.store, arn, name)
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				w.t.Error(err)
			}
			return
		}
		w.end(work.Token, w.answer(work.Path, arn, work.Input))
	}
}

// end ends the wait for a token as recorded.
func (w *surroundings) end(token string, a conformance.Answer) {
	if a.TimedOut || a.Pending {
		return
	}
	w.later(func() {
		result, failure := ended(a)
		if _, err := w.store.EndToken(w.t.Context(), token, storage.TokenEnd{Result: result, Failure: failure}); err != nil {
			w.t.Error(err)
		}
	})
}

func (w *surroundings) answer(path, resource string, input atom.Value) conformance.Answer {
	state, _, _ := strings.Cut(path[strings.LastIndexByte(path, '/')+1:], "#")
	w.mu.Lock()
	defer w.mu.Unlock()
	a, ok := w.script.Next(state, resource, input.JSON())
	if !ok {
		name := "NoAnswer"
		return conformance.Answer{Failed: true, Error: &name, Cause: "the record has no answer left for " + state}
	}
	return a
}

// ended returns the result or failure of an answer.
func ended(a conformance.Answer) (atom.Value, *atom.Failure) {
	if !a.Failed {
		return atom.FromJSON(a.Output), nil
	}
	f := &atom.Failure{Bare: a.Error == nil}
	if a.Error != nil {
		f.Code = *a.Error
	}
	if cause := a.Text(); cause != nil {
		f.Message = *cause
	}
	return nil, f
}

// Task implements [engine.Tasks].
func (w *surroundings) Task(name string) (atom.Body, error) {
	if name == asl.ReadItems || name == asl.WriteObjects {
		return w.files.Task(name)
	}
	return &recordedTask{w, name}, nil
}

// bucketsOf returns tasks that read and write the buckets of a record.
func bucketsOf(t *testing.T, record *conformance.Execution) *enginetasks.Registry {
	t.Helper()
	r := &enginetasks.Registry{}
	buckets := map[string]enginetasks.Bucket{}
	for _, name := range record.Buckets() {
		buckets[name] = enginetasks.Folder(t.TempDir())
		r.AddBucket(name, buckets[name])
	}
	for _, object := range record.Objects {
		if err := buckets[object.Bucket].Write(object.Key, 0, object.Body); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// Instead implements [engine.Chooser]: the ends of other machines' executions are recorded.
func (w *surroundings) Instead(string, string) bool { return true }

type recordedTask struct {
	*surroundings

	resource string
}

func (*recordedTask) Reverts() bool { return false }

func (*recordedTask) Revert(context.Context, atom.Values, atom.Outcome[atom.Value]) (atom.Value, error) {
	return atom.Null, nil
}

func (r *recordedTask) Execute(ctx context.Context, in atom.Values) (atom.Value, error) {
	a := r.answer(atom.CurrentCall(ctx).Path, r.resource, in.Input())
	if a.Submitted != nil {
		submitted := atom.FromJSON(a.Submitted)
		if token := atom.Token(ctx); token != "" {
			r.end(token, a) //nolint:contextcheck // the goroutine that ends it outlives the call
			return submitted, atom.ErrDeferred
		}
		return submitted, nil
	}
	if a.TimedOut || a.Pending {
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
	result, failure := ended(a)
	if failure != nil {
		return nil, failure
	}
	return result, nil
}

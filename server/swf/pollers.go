package swf

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow/swf"
	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/storage"
)

// pollTime is how long a poller waits for a task.
const pollTime = time.Minute

// pollers counts the pollers of each task list that wait at this server.
type pollers struct {
	mu    sync.Mutex
	count map[string]int64
}

// enter counts a poller more, until leave is called.
func (p *pollers) enter(queue string) (count int64, leave func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.count == nil {
		p.count = map[string]int64{}
	}
	p.count[queue]++
	return p.count[queue], func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.count[queue]--; p.count[queue] == 0 {
			delete(p.count, queue)
		}
	}
}

// take waits for a task in a queue and takes it; nil if there is none in time. A client that disconnects takes no task.
// A task whose caller is not answered times out. The engine's reply is decoded into a value.
func (s *Server) take(ctx context.Context, caller *aws.Caller, queue, identity string, into any) (*engine.Task, error) {
	count, leave := s.pollers.enter(queue)
	defer leave()
	if err := s.quotas.Within(QuotaPollers, count, limitExceeded); err != nil {
		return nil, err
	}
	end, ok := server.Poll(ctx)
	if !ok {
		return nil, aws.Errorf(limitExceeded, "Too many pollers wait for tasks at this server.")
	}
	defer end()
	for until := time.Now().Add(pollTime); ; {
		taking := storage.WorkRequest{Queues: []string{queue}, Worker: cmp.Or(identity, swf.NoIdentity)}
		t, err := s.runs.TakeTask(ctx, taking, time.Until(until), s.config.Stopping)
		if errors.Is(err, storage.ErrNotFound) {
			return nil, nil //nolint:nilnil // there is none
		}
		if err != nil {
			return nil, err
		}
		if !isNull(t.Reply) { // else the task has ended meanwhile
			caller.Answered = func(sent bool) {
				if !sent {
					s.timeOut(ctx, t)
				}
			}
			return t, t.Reply.Decode(into)
		}
	}
}

// timeOut lets a task time out that its poller does not receive, so that the next poller gets a new decision task at
// once. If that fails, too, the task has its time limit.
func (s *Server) timeOut(ctx context.Context, t *engine.Task) {
	_, _ = s.store.EndToken(context.WithoutCancel(ctx), t.Token, storage.TokenEnd{
		Take: t.Delivery, Failure: &atom.Failure{Code: atom.CodeStartToClose, Message: "the poller was not answered"},
	})
}

// isNull reports whether a value is missing, or null.
func isNull(v atom.Value) bool { return v == nil || bytes.Equal(v, atom.Null) }

// isTaskOver reports whether an error of the engine says that a task has ended, or was given to another poller.
func isTaskOver(err error) bool {
	return isOf(err, storage.ErrNotFound, storage.ErrGone, storage.ErrTaken, engine.ErrEnded)
}

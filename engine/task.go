package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/driver"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// A Task is the work of a node that a caller of [Server.TakeTask] has taken. The caller ends it with
// [Server.CompleteTask] or [Server.FailTask], and reports about it with [Server.Heartbeat].
type Task struct {
	Run      string     // id of the run
	Path     string     // path of the node
	Token    string     // token of the attempt
	Delivery int64      // number of this delivery, from 1; the work may be delivered again if its lease expires
	Queue    string     // queue from which it was taken
	Attempt  int        // attempt of the node, from 1
	Input    atom.Value // input of the node
	Note     atom.Value // note of the node, after the language's answer
	Reply    atom.Value // what the language replied, see [grow.Growth]
}

// reserved are the tokens that callers of this process are about to take, so that they do not all ask for the same one.
type reserved struct {
	mu     sync.Mutex
	tokens map[string]bool
}

// first reserves the first token that no other caller has reserved.
func (r *reserved) first(found []string) (id string, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(found, func(id string) bool { return !r.tokens[id] })
	if i < 0 {
		return "", false
	}
	if r.tokens == nil {
		r.tokens = map[string]bool{}
	}
	r.tokens[found[i]] = true
	return found[i], true
}

func (r *reserved) free(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.tokens, id)
}

func (r *reserved) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.tokens)
}

// TakeTask takes the first work of some queues, see [grow.Spec]: that with the highest priority, and of these the
// oldest. It asks the language of the work's run, with the cause [grow.Taken]. One commit records the answer and that
// the work is taken. A caller whose context ends before its call is begun, or passed on to the process that drives the
// run, takes nothing.
//
// If there is no work, TakeTask waits: until wait has passed or enough is closed, which is an error that wraps
// [storage.ErrNotFound], or until ctx ends. Of the callers that wait for a queue, the one that has waited longest gets
// the next work. The work of planned flows, and of runs that are suspended, is not given out. TakeTask also returns
// the errors of [Server.Call].
func (s *Server) TakeTask(
	ctx context.Context, t storage.WorkRequest, wait time.Duration, enough <-chan struct{},
) (*Task, error) {
	t.Worker = workerName(t.Worker)
	if err := backend.CheckWorkRequest(&t); err != nil {
		return nil, err
	}
	var task *Task
	err := s.engine.env.Store.AwaitWork(ctx, t, wait, enough, func(ctx context.Context) (err error) {
		task, err = s.takeFirst(ctx, &t)
		return err
	})
	return task, err
}

// takeFirst takes the first work that this process can take. If there is none, it returns [storage.ErrNotFound].
func (s *Server) takeFirst(ctx context.Context, t *storage.WorkRequest) (*Task, error) {
	var passed []string // tokens that cannot be taken here
	defer func() {
		for _, id := range passed {
			s.reserved.free(id)
		}
	}()
	for {
		found, err := s.engine.env.Store.QueuedTokens(ctx, t.Queues, s.reserved.count()+1)
		if err != nil {
			return nil, err
		}
		id, ok := s.reserved.first(found)
		if !ok {
			return nil, fmt.Errorf("%w: work in the queues", storage.ErrNotFound)
		}
		task, err := s.take(ctx, t, id)
		switch {
		case errors.Is(err, storage.ErrTaken), errors.Is(err, storage.ErrGone): // another process was faster
			s.reserved.free(id)
		case errors.Is(err, driver.ErrNoLanguage), errors.Is(err, ErrSuspended), errors.Is(err, ErrEnded),
			errors.Is(err, storage.ErrNotFound):
			passed = append(passed, id)
		default:
			s.reserved.free(id)
			return task, err
		}
	}
}

// take takes one token. It returns [storage.ErrGone] if its attempt has ended meanwhile.
func (s *Server) take(ctx context.Context, t *storage.WorkRequest, id string) (*Task, error) {
	tok, err := s.engine.env.Store.Token(ctx, id)
	if err != nil {
		return nil, err
	}
	if tok.State != storage.TokenOpen {
		return nil, storage.ErrGone
	}
	r := &driver.Request{Kind: driver.TakeTask, Run: tok.Run, Token: tok, Taking: *t}
	if err := (callers{s.engine}).request(ctx, r); err != nil {
		return nil, err
	}
	return &Task{
		Run: tok.Run, Path: r.Token.Path, Token: r.Token.ID, Delivery: r.Token.Take, Queue: r.Token.Queue,
		Attempt: r.Attempt, Input: r.Input, Note: r.Note, Reply: r.Reply,
	}, nil
}

// CompleteTask ends the attempt of a token with a result. It asks the language with the cause [grow.Ended], and
// returns its reply. One commit ends the token and records the answer. delivery is that of [Task]; 0 is any.
// CompleteTask returns these errors beside those of [Server.Call]:
//
//   - an error that wraps [storage.ErrNotFound] if there is no such token
//   - [storage.ErrGone] if the attempt has ended
//   - [storage.ErrTaken] if the work was delivered again since
//
// An attempt that the language is not asked about at its end, such as that of a planned flow, is ended with
// [EndToken]; then the reply is nil.
func (s *Server) CompleteTask(ctx context.Context, token string, delivery int64, result atom.Value) (
	atom.Value, error,
) {
	if len(result) > atom.MaxValue {
		return nil, fmt.Errorf("engine: the result of token %q: %w", token, atom.ErrValueTooLarge)
	}
	return s.endTask(ctx, token, delivery, result, nil)
}

// FailTask is [Server.CompleteTask] with a failure. The cause is [grow.Failed].
func (s *Server) FailTask(ctx context.Context, token string, delivery int64, failure *atom.Failure) (
	atom.Value, error,
) {
	if failure == nil {
		failure = &atom.Failure{Code: atom.CodeError}
	}
	return s.endTask(ctx, token, delivery, nil, failure)
}

func (s *Server) endTask(ctx context.Context, token string, delivery int64, result atom.Value, f *atom.Failure) (
	atom.Value, error,
) {
	store := s.engine.env.Store
	tok, err := store.Token(ctx, token)
	switch {
	case err != nil:
		return nil, err
	case tok.State != storage.TokenOpen:
		return nil, storage.ErrGone
	case delivery != 0 && delivery != tok.Take:
		return nil, storage.ErrTaken
	}
	r := &driver.Request{Kind: driver.EndTask, Run: tok.Run, Token: tok, Take: delivery, Result: result, Failure: f}
	if err = (callers{s.engine}).request(ctx, r); errors.Is(err, driver.ErrNoLanguage) {
		if f != nil {
			f = f.Bounded()
			of := *f
			of.Atom, of.Attempt = tok.Path, tok.Attempt
			f = &of
		}
		_, err = store.EndToken(ctx, token, storage.TokenEnd{Take: delivery, Result: result, Failure: f})
	}
	return r.Reply, err
}

// Heartbeat says that the worker of a token is alive, and stores the details; nil keeps the last ones. If a time limit
// of the attempt passes, its failure has the details. Heartbeat reports whether the language has asked the worker to
// give the task up, see [grow.Growth]. It returns the errors of [Server.CompleteTask] about the token.
func (s *Server) Heartbeat(ctx context.Context, token string, delivery int64, details atom.Value) (
	giveUp bool, err error,
) {
	tok, err := s.engine.env.Store.KeepToken(ctx, token, storage.Heartbeat{Take: delivery, Details: details})
	return tok.GiveUp, err
}

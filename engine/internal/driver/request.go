package driver

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/storage"
)

// A RequestKind is the kind of a caller's request to a run.
type RequestKind uint8

// The kinds of requests.
const (
	AskRun   RequestKind = iota // ask the run's language
	TakeTask                    // take the work of a token for a worker
	EndTask                     // end the attempt of a token, with Result or Failure
)

// A Request is a call of a caller to a run, which waits for the answer of the run's language. The change of a token and
// the answer are committed together.
type Request struct {
	Kind RequestKind
	Run  string // id of the run
	Name string // AskRun: name of the call
	Body atom.Value

	Token   storage.Token // TakeTask, EndTask: the token as it was read; TakeTask: as it was taken, after the answer
	Take    int64         // EndTask: number under which the worker took it; 0 is any
	Taking  storage.WorkRequest
	Result  atom.Value
	Failure *atom.Failure

	// The answer, when Done is closed.
	Reply       atom.Value
	Refused     atom.Value // not nil: the language refused the call
	Input, Note atom.Value // TakeTask: of the node
	Attempt     int        // TakeTask: of the node
	Err         error      // why the request was not carried out

	number int64 // of the requests of this process
	done   chan struct{}
	turn   chan struct{} // receives if the caller must load the run itself
	gone   func() error  // see Gone

	receipt string // id of the token that will hold the answer, if the request is passed on to another process
	message int64  // number of the message that passed the request on to this process; 0 if a caller here waits
}

// The errors of requests.
var (
	ErrEnded = storage.ErrEnded
	// ErrHeld is the error for a run that an operator suspended.
	ErrHeld = errors.New("engine: the run is suspended")
	// ErrNoLanguage is the error of a request to a run of a planned flow, or to a token that no language can be asked
	// about before the attempt ends.
	ErrNoLanguage = errors.New("engine: no language answers the request")
	// ErrBusy is the error for a run whose language cannot be asked now, because it is computing or undoing.
	ErrBusy = errors.New("engine: the run is busy")
)

// Done is closed when the request was answered and the answer is durable, or when Err is set.
func (r *Request) Done() <-chan struct{} { return r.done }

// Turn receives if no driver answers the requests of the run: the caller must load the run.
func (r *Request) Turn() <-chan struct{} { return r.turn }

// End answers the caller, with the answer that the request has, or with an error.
func (r *Request) End(err error) {
	r.Err = err
	close(r.done)
}

// Gone returns an error if the caller no longer waits for the answer.
func (r *Request) Gone() error { return r.gone() }

// Requests are the requests of this process that wait for their runs. A driver of the run takes them. If there is none,
// one of the callers loads the run, and answers the requests of all.
type Requests struct {
	count atomic.Int64 // number of lines
	mu    sync.Mutex
	added int64            // number of the latest request
	lines map[string]*line // by run
}

// A line is the requests to one run, first come first.
type line struct {
	waiting []*Request
	led     bool // a caller loads the run, or drives it
}

// Add adds a request.
func (q *Requests) Add(r *Request) {
	r.done, r.turn = make(chan struct{}), make(chan struct{}, 1)
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lines[r.Run]
	if l == nil {
		if q.lines == nil {
			q.lines = map[string]*line{}
		}
		l = &line{}
		q.lines[r.Run] = l
		q.count.Add(1)
	}
	q.added++
	r.number = q.added
	l.waiting = append(l.waiting, r)
}

// Added returns the number of the latest request.
func (q *Requests) Added() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.added
}

// Lead reports whether the caller of the request must load the run. Then it must call Led afterwards.
func (q *Requests) Lead(r *Request) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lines[r.Run]
	if l == nil || l.led || !slices.Contains(l.waiting, r) {
		return false
	}
	l.led = true
	return true
}

// Led ends what Lead began.
func (q *Requests) Led(run string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l := q.lines[run]; l != nil {
		l.led = false
		q.next(run, l)
	}
}

// Left makes the next caller load the run, because a driver of the run has left.
func (q *Requests) Left(run string) {
	if q.count.Load() == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if l := q.lines[run]; l != nil {
		q.next(run, l)
	}
}

// next wakes the caller that has waited longest, unless a caller loads the run. The caller must hold the lock.
func (q *Requests) next(run string, l *line) {
	switch {
	case l.led:
	case len(l.waiting) == 0:
		delete(q.lines, run)
		q.count.Add(-1)
	default:
		select {
		case l.waiting[0].turn <- struct{}{}:
		default:
		}
	}
}

// Withdraw removes a request that no driver has taken yet. It reports whether it did.
func (q *Requests) Withdraw(r *Request) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lines[r.Run]
	if l == nil {
		return false
	}
	i := slices.Index(l.waiting, r)
	if i < 0 {
		return false
	}
	l.waiting = slices.Delete(l.waiting, i, i+1)
	q.next(r.Run, l)
	return true
}

// maxRequests bounds how many requests share a commit.
const maxRequests = 256

// Take removes up to maxRequests requests of a run. The caller ends each of them, or puts it back, however it ends.
func (q *Requests) Take(run string) (taken []*Request) {
	if q.count.Load() == 0 {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lines[run]
	if l == nil {
		return nil
	}
	n := min(len(l.waiting), maxRequests)
	taken = slices.Clone(l.waiting[:n])
	l.waiting = slices.Delete(l.waiting, 0, n)
	if n == 0 || !l.led {
		q.next(run, l)
	}
	return taken
}

// waits reports whether requests to a run wait.
func (q *Requests) waits(run string) bool {
	if q.count.Load() == 0 {
		return false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lines[run]
	return l != nil && len(l.waiting) > 0
}

// again puts requests back in front of the others. It ends those whose callers have gone: a caller that could not
// withdraw its request waits only for the answer.
func (q *Requests) again(run string, requests []*Request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	requests = slices.DeleteFunc(requests, func(r *Request) bool {
		err := r.Gone()
		if err != nil {
			r.End(err)
		}
		return err != nil
	})
	if len(requests) == 0 {
		return
	}
	l := q.lines[run]
	if l == nil {
		l = &line{}
		q.lines[run] = l
		q.count.Add(1)
	}
	l.waiting = append(requests, l.waiting...)
	if !l.led {
		q.next(run, l)
	}
}

// Fail ends the requests to a run that wait with an error, as far as they were added by then, which is a result of
// Added. The later ones may come from callers who know of a change since.
func (q *Requests) Fail(run string, by int64, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lines[run]
	if l == nil {
		return
	}
	l.waiting = slices.DeleteFunc(l.waiting, func(r *Request) bool {
		fails := r.number <= by
		if fails {
			r.End(err)
		}
		return fails
	})
	q.next(run, l)
}

// Await waits until a request was answered. lead is called if the caller must load the run, and wake to wake a driver
// of this process; wake reports whether there is one. If ctx ends before a driver has taken the request, or after a
// driver has put it back, Await withdraws it and returns the error of ctx. If lead panics, another caller leads.
func (q *Requests) Await(ctx context.Context, r *Request, wake func() bool, lead func()) error {
	r.gone = ctx.Err
	q.Add(r)
	defer q.Withdraw(r)
	leads := func() {
		defer q.Led(r.Run)
		lead()
	}
	for {
		if !wake() && q.Lead(r) {
			leads()
		}
		select {
		case <-r.done:
			return r.Err
		default:
		}
		select {
		case <-r.done:
			return r.Err
		case <-r.turn:
		case <-ctx.Done():
			if q.Withdraw(r) {
				return ctx.Err()
			}
			<-r.done
			return r.Err
		}
	}
}

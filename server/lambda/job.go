package lambda

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/ebbflow/ebb/internal/logevent"
)

// A job is an invocation on its way through the server. Goroutines of the server make jobs, with their channels, and do
// them. So a caller may be in a bubble of [testing/synctest], whose time stands still meanwhile: processes have real
// time.
type job struct {
	function *hosted
	in       *invocation
	begin    chan struct{} // closed by the caller, when the fields are set
	done     chan struct{} // closed by the server, when those below are set
	out      *outcome
	err      error
}

// offerJobs gives a job to each caller that asks for one.
func (s *Server) offerJobs() {
	for {
		j := &job{begin: make(chan struct{}), done: make(chan struct{})}
		select {
		case s.jobs <- j:
			s.running.Go(func() {
				select {
				case <-j.begin:
					s.do(j)
				case <-s.ctx.Done():
					j.err = errClosed
					close(j.done)
				}
			})
		case <-s.ctx.Done():
			return
		}
	}
}

// begin starts an invocation. The invocation goes on when its caller no longer waits for it, as on AWS.
func (s *Server) begin(f *hosted, in *invocation) (*job, error) {
	select {
	case j := <-s.jobs:
		j.function, j.in = f, in
		close(j.begin)
		return j, nil
	case <-s.ctx.Done():
		return nil, errClosed
	}
}

// wait returns the outcome of a job.
func (j *job) wait(ctx context.Context) (*outcome, error) {
	select {
	case <-j.done:
		return j.out, j.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// restTime is how long an outcome waits for its process to be idle, so that the caller's next invocation finds it.
const restTime = time.Second

// do does a job, and waits until its process is idle.
func (s *Server) do(j *job) {
	ctx, cancel := context.WithTimeout(s.ctx, maxTimeout)
	defer cancel()
	var p *process
	for {
		if p, j.err = s.take(ctx, j.function); j.err != nil {
			break
		}
		j.out, j.err = p.do(j.in)
		if !errors.Is(j.err, errGone) {
			break
		}
	}
	if j.out != nil {
		p.output.sync()
		p.output.line("END RequestId: " + j.in.id)
		p.output.line(j.in.report(p))
		j.out.id, j.out.version, j.out.log = j.in.id, j.in.version, p.output.tail()
	}
	if j.err != nil && j.in.async && !errors.Is(j.err, errClosed) {
		s.log.Error(logevent.FunctionNotCalled, "function", j.function.Name, "error", j.err)
	}
	answer := sync.OnceFunc(func() { close(j.done) })
	if j.err == nil {
		timer := time.AfterFunc(restTime, answer)
		p.rest(j.in)
		timer.Stop()
	}
	answer()
}

// report returns the last line of an invocation.
func (in *invocation) report(p *process) string {
	took := 0.0
	if !in.begun.IsZero() {
		took = float64(time.Since(in.begun)) / float64(time.Millisecond)
	}
	return fmt.Sprintf("REPORT RequestId: %s\tDuration: %.2f ms\tBilled Duration: %.0f ms\tMemory Size: %d MB\t"+
		"Max Memory Used: %d MB\t", in.id, took, math.Ceil(took), p.function.memoryMB(), p.memory.used())
}

package lambda

import (
	"context"
	"errors"
	"slices"
	"time"
)

// errBusy is the error if too many invocations wait for a process.
var errBusy = errors.New("too many invocations wait for a process")

// take returns an idle process of a function, or starts one. If there may be no further process, it waits.
func (s *Server) take(ctx context.Context, f *hosted) (*process, error) {
	for {
		p, wait, err := s.tryTake(f)
		switch {
		case err != nil:
			return nil, err
		case p != nil && p.cmd == nil:
			return p, p.start() //nolint:contextcheck // it outlives the invocation
		case p != nil && p.isStale():
			p.end()
			continue
		case p != nil:
			return p, nil
		}
		select {
		case <-wait:
		case <-ctx.Done():
			err = ctx.Err()
		}
		s.mu.Lock()
		s.waiting--
		s.mu.Unlock()
		if err != nil {
			return nil, err
		}
	}
}

// tryTake returns a process that is idle or not yet started, or a channel to wait for.
func (s *Server) tryTake(f *hosted) (p *process, wait <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for last, p := range slices.Backward(f.idle) {
		f.idle = f.idle[:last]
		if p.idle.Stop() { // else it was idle for too long
			return p, nil, nil
		}
	}
	if f.processes < maxOfFunction && s.processes < maxProcesses {
		f.processes++
		s.processes++
		return newProcess(s, f), nil, nil
	}
	if f.processes < maxOfFunction {
		s.endOldest()
	}
	if s.waiting++; s.waiting > maxWaiting {
		s.waiting--
		return nil, nil, errBusy
	}
	return nil, s.changed, nil
}

// endOldest ends an idle process of another function, if there is one.
func (s *Server) endOldest() {
	for _, f := range s.functions {
		if len(f.idle) > 0 {
			f.idle[0].end()
			f.idle = f.idle[1:]
			return
		}
	}
}

// put keeps a process that can answer another invocation, or ends it if its function has changed.
func (s *Server) put(p *process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.functions[p.function.Name] != p.function {
		p.end()
		return
	}
	p.function.idle = append(p.function.idle, p)
	p.idle = time.AfterFunc(maxIdle, p.end)
	s.announce()
}

// gone counts a process that has ended.
func (s *Server) gone(p *process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.function.processes--
	s.processes--
	s.announce()
}

// announce wakes the invocations that wait for a process.
func (s *Server) announce() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// end ends the idle processes of a function.
func (f *hosted) end() {
	for _, p := range f.idle {
		p.end()
	}
	f.idle = nil
}

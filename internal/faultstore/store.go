package faultstore

import (
	"context"
	"sync"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
)

// New returns a store that passes calls on to another one, with the faults of the plan. It is a [backend.Transactor] if
// the other one is.
func New(s backend.Store, plan Plan) backend.Store {
	f := &store{Store: s, plan: plan, count: map[string]int{}}
	if tx, ok := s.(backend.Transactor); ok {
		return &transactor{f, tx}
	}
	return f
}

type store struct {
	backend.Store

	mu    sync.Mutex
	plan  Plan
	count map[string]int
}

// fault asks the plan, and waits if the fault says so.
func (f *store) fault(ctx context.Context, c Call) (Fault, error) {
	f.mu.Lock()
	f.count[c.Method]++
	c.Nth = f.count[c.Method]
	fault := f.plan(c)
	f.mu.Unlock()
	if fault.Delay <= 0 {
		return fault, nil
	}
	timer := time.NewTimer(fault.Delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return fault, nil
	case <-ctx.Done():
		return fault, ctx.Err()
	}
}

// do makes a call that only returns an error.
func (f *store) do(ctx context.Context, c Call, call func() error) error {
	_, err := answer(ctx, f, c, func() (struct{}, error) { return struct{}{}, call() })
	return err
}

// answer makes a call that returns a value and an error.
func answer[T any](ctx context.Context, f *store, c Call, call func() (T, error)) (T, error) {
	var none T
	fault, err := f.fault(ctx, c)
	switch {
	case err != nil:
		return none, err
	case fault.Err == nil:
		return call()
	case fault.Done:
		if _, err := call(); err != nil {
			return none, err
		}
	}
	return none, fault.Err
}

package conductor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// patience bounds how long the store may take to answer a probe.
//
//limit:storage trial write of `/readyz` | {}, counts for {checkEvery} | not ready
const patience = 2 * time.Second

// checkEvery is how long the result of a check is reused. Any client may request a check, and each check writes.
const checkEvery = time.Second

// A lastCheck is the result of the last check whether the store can be written.
type lastCheck struct {
	mu  sync.Mutex
	at  time.Time // zero if there was none
	err error
}

// check returns the result of a check whether the store can be written, at most checkEvery old. Only one check runs
// at a time.
func (l *lastCheck) check(ctx context.Context, store backend.WriteChecker) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.at.IsZero() || time.Since(l.at) >= checkEvery {
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer stop()
		l.err = store.CheckWrite(ctx)
		l.at = time.Now()
	}
	return l.err
}

// Memory returns how much memory the process uses, and its budget.
func (c *Conductor) Memory() engine.Memory { return c.server.Memory() }

// Slots returns how many runs the conductor drives at the same time, see [engine.WithSlots].
func (c *Conductor) Slots() int { return c.server.Slots() }

// Driving returns how many runs the conductor drives now.
func (c *Conductor) Driving() int { return c.server.Driving() }

// Ready returns nil if the conductor serves and its store answers and accepts writes; otherwise it returns the
// reason. A conductor that drains is not ready. A conductor that has reached its memory budget is not ready either,
// see [engine.Limits]. The write that proves readiness is at most a second old.
func (c *Conductor) Ready(ctx context.Context) error {
	if s := stage(c.stage.Load()); s != serves {
		return fmt.Errorf("conductor: it is %v", s)
	}
	if m := c.Memory(); m.Exhausted {
		return fmt.Errorf("conductor: the memory budget of %d bytes is reached: the conductor takes up no runs", m.Budget)
	}
	// Concurrent probes share one query. It continues if a client does not wait for it.
	_, err, _ := c.probes.Do("", func() (any, error) { return nil, c.probe(context.WithoutCancel(ctx)) })
	return err
}

// probe returns why the store does not answer.
func (c *Conductor) probe(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	if _, err := c.store.Run(ctx, "ebb-ready"); err != nil && !errors.Is(err, storage.ErrNotFound) {
		return fmt.Errorf("conductor: the store does not answer: %w", err)
	}
	if store, checks := c.store.(backend.WriteChecker); checks {
		if err := c.written.check(ctx, store); err != nil {
			return fmt.Errorf("conductor: the store cannot be written: %w", err)
		}
	}
	return nil
}

package conductor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/storage"
)

// patience is how long the store may take to answer whether it is there.
const patience = 2 * time.Second

// checkEvery is how long the result of a check is reused. Any client may request a check, and each check writes.
const checkEvery = time.Second

// A lastCheck is the result of the last check whether the store can be written.
type lastCheck struct {
	mu  sync.Mutex
	at  time.Time // the zero time when there was none
	err error
}

// check returns whether the store can be written now, or could a moment ago. Only one
// check is made at a time.
func (l *lastCheck) check(ctx context.Context, store storage.WriteChecker) error {
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

// Memory returns how much memory the process uses, and may use.
func (c *Conductor) Memory() engine.Memory { return c.server.Memory() }

// Ready returns nil when the conductor serves and its store answers and takes writes,
// else why not. A conductor that drains is not ready, nor one that takes up nothing as its
// memory budget is reached, see [engine.Limits]. The write is at most a second old.
func (c *Conductor) Ready(ctx context.Context) error {
	if s := c.Stage(); s != Serving {
		return fmt.Errorf("conductor: it is %v", s)
	}
	if m := c.Memory(); m.Exhausted {
		return fmt.Errorf("conductor: the memory budget of %d bytes is reached, and nothing more is taken up", m.Budget)
	}
	// Concurrent probes share one query, which goes on if a client does not wait for it.
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
	if store, checks := c.store.(storage.WriteChecker); checks {
		if err := c.written.check(ctx, store); err != nil {
			return fmt.Errorf("conductor: the store cannot be written: %w", err)
		}
	}
	return nil
}

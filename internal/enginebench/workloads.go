package enginebench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
)

// engine returns an engine on the workload's database.
func (b *bench) engine(f flow.Node, opts ...engine.Option) (*engine.Engine, error) {
	return engine.New(f, b.target.store, append(opts, engine.With(bodyKey, body))...)
}

// seq executes one run.
func seq(ctx context.Context, b *bench) error {
	cold, all := b.size(1000), b.size(11_000)
	l := b.meter.lane()
	var begun time.Time
	var failed error
	begin := atom.Func("begin", func(_ context.Context, in payload) (payload, error) {
		begun = time.Now()
		return in, nil
	})
	warm := atom.Func("warm", func(ctx context.Context, in payload) (payload, error) {
		b.cold = Figure(float64(cold) / time.Since(begun).Seconds())
		failed = b.meter.begin(ctx)
		return in, nil
	})
	nodes := append([]flow.Node{begin}, steps(1, cold)...)
	nodes = append(append(nodes, warm), steps(cold+1, all)...)
	eng, err := b.engine(flow.Linear("bench-seq", nodes...))
	if err != nil {
		return err
	}
	if _, err := eng.Run(inLane(ctx, l), "bench-seq"); err != nil {
		return err
	}
	return errors.Join(failed, b.meter.end(ctx))
}

// errNone stands for the error of a run that had none.
var errNone = errors.New("no error")

// lanes runs the engine's flow again and again on n lanes, for the time of the bench. If fails is true, each run must
// be undone.
func (b *bench) lanes(ctx context.Context, n int, eng *engine.Engine, fails bool) error {
	lanes := make([]*lane, n)
	for i := range lanes {
		lanes[i] = b.meter.lane()
	}
	return b.during(ctx, func(ctx context.Context) error {
		g, ctx := errgroup.WithContext(ctx)
		for i, l := range lanes {
			// When ctx ends, the current run of each lane ends by itself, and no other begins.
			whole := inLane(context.WithoutCancel(ctx), l)
			g.Go(func() error {
				for k := 0; ctx.Err() == nil; k++ {
					l.next()
					_, err := eng.Run(whole, fmt.Sprintf("%s-%d-%d", eng.Plan().Flow, i, k))
					if _, reverted := errors.AsType[*engine.RevertedError](err); reverted != fails || err != nil && !fails {
						return fmt.Errorf("a run must be undone: %t; it ended with %w", fails, cmp.Or(err, errNone))
					}
				}
				return nil
			})
		}
		return g.Wait()
	})
}

// many executes many short runs at a time.
func many(ctx context.Context, b *bench) error {
	eng, err := b.engine(flow.Linear("bench-many", steps(1, 5)...))
	if err != nil {
		return err
	}
	return b.lanes(ctx, b.size(1000), eng, false)
}

// fan executes a run of many parallel steps, again and again.
func fan(ctx context.Context, b *bench) error {
	n := b.size(1000)
	eng, err := b.engine(flow.Unordered("bench-fan", sideBySide(n)...), engine.WithParallelism(n))
	if err != nil {
		return err
	}
	return b.lanes(ctx, 1, eng, false)
}

// undo executes many runs at a time that fail at their last step and are undone. It first measures the same runs
// without the failure, to compare.
func undo(ctx context.Context, b *bench) error {
	eng, err := b.engine(flow.Linear("bench-do", steps(1, 5)...))
	if err != nil {
		return err
	}
	if err := b.lanes(ctx, b.size(1000), eng, false); err != nil {
		return err
	}
	do := 5 / b.meter.result("").StepsPerS
	b.meter = newMeter(b.target)
	if eng, err = b.engine(flow.Linear("bench-undo", failing(1, 5)...)); err != nil {
		return err
	}
	if err := b.lanes(ctx, b.size(1000), eng, true); err != nil {
		return err
	}
	both := 10 / b.meter.result("").StepsPerS // five steps forward, the one that failed included, and five back
	b.revertCost = (both - do) / do
	return nil
}

// hands is how many goroutines beside the engine work at the same time.
const hands = 256

// wait completes the tokens that many runs wait for.
func wait(ctx context.Context, b *bench) error {
	n := b.size(100_000)
	tokens := make([]string, 0, n)
	var mu sync.Mutex
	ask := atom.Func("ask", func(ctx context.Context, _ payload) (payload, error) {
		mu.Lock()
		defer mu.Unlock()
		tokens = append(tokens, atom.Token(ctx))
		return payload{}, atom.ErrDeferred
	}, atom.Deferrable(atom.Deferral{}))
	l := b.meter.lane()
	woken := make(chan struct{})
	eng, err := b.engine(flow.Linear("bench-wait", ask, atom.Func("answered", func(_ context.Context, in payload) (
		payload, error,
	) {
		if l.step() == int64(n) {
			close(woken)
		}
		return in, nil
	})))
	if err != nil {
		return err
	}
	if err := each(n, func(i int) error {
		_, err := eng.Run(ctx, fmt.Sprintf("bench-wait-%d", i), engine.Unload())
		if errors.Is(err, engine.ErrWaiting) {
			return nil
		}
		return fmt.Errorf("a run ended where it was to wait: %w", err)
	}); err != nil {
		return err
	}
	if err := b.meter.begin(ctx); err != nil {
		return err
	}
	serving, stop := context.WithCancel(ctx)
	defer stop()
	served := make(chan error, 1)
	go func() { served <- eng.Serve(serving, engine.WithSlots(b.size(1000))) }()
	answer := atom.MustEncode(payload{body})
	err = each(n, func(i int) error {
		_, err := b.target.store.EndToken(ctx, tokens[i], storage.TokenEnd{Result: answer})
		return err
	})
	if err == nil {
		select {
		case <-woken:
		case err = <-served:
			served <- nil
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	err = errors.Join(err, b.meter.end(ctx))
	stop()
	return errors.Join(err, <-served)
}

// each calls f with all numbers below n, from many goroutines.
func each(n int, f func(i int) error) error {
	var g errgroup.Group
	var next atomic.Int64
	for range min(hands, n) {
		g.Go(func() error {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				if err := f(int(i)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

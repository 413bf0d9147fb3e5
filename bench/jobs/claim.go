package main

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// claim measures how many empty jobs Ebb and River claim and finish per second, in turns.
func claim(ctx context.Context) error {
	counts, err := numbers(*workers)
	if err != nil {
		return err
	}
	for _, n := range counts {
		var ours, theirs []float64
		for range *rounds {
			for _, one := range []struct {
				measure func(context.Context, int) (float64, error)
				into    *[]float64
			}{{ebbJobs, &ours}, {riverJobs, &theirs}} {
				rate, err := one.measure(ctx, n)
				if err != nil {
					return err
				}
				*one.into = append(*one.into, rate)
			}
		}
		a := report(fmt.Sprintf("Ebb, %d workers", n), ours)
		b := report(fmt.Sprintf("River, %d workers", n), theirs)
		fmt.Printf("%-40s %10.2f\n", "ratio of the medians", a/b)
	}
	return nil
}

// ebbJobs measures Ebb. One goroutine claims as many jobs as workers are free, as in River.
func ebbJobs(ctx context.Context, workers int) (rate float64, err error) {
	at, leave, err := fresh(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	store, err := sqlstore.Open(ctx, at)
	if err != nil {
		return 0, err
	}
	defer func() { _ = store.Close() }()
	board := jobs.New(store, jobs.Policy{})
	if err := post(ctx, board, *number, "nothing"); err != nil {
		return 0, err
	}
	free := make(chan chan struct{}, workers) // free workers; the channel is closed when the worker may begin its next job
	for range workers {
		ready := make(chan struct{})
		close(ready)
		free <- ready
	}
	var done atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	begun := time.Now()
	for done.Load() < int64(*number) && ctx.Err() == nil {
		idle := []chan struct{}{<-free}
		runtime.Gosched() // so that workers whose jobs ended together claim together
		for len(free) > 0 {
			idle = append(idle, <-free)
		}
		claims, err := board.Claim(ctx, jobs.ClaimQuery{Limit: len(idle)})
		if err != nil {
			return 0, err
		}
		for i, ready := range idle {
			if i >= len(claims) {
				free <- ready
				continue
			}
			g.Go(func() error {
				<-ready
				next := make(chan struct{})
				switch {
				case *early:
					close(next)
					free <- next
				case *ahead:
					defer close(next)
					free <- next
				default:
					defer func() { close(next); free <- next }()
				}
				defer done.Add(1)
				return board.Finish(ctx, claims[i])
			})
		}
		if len(claims) == 0 { // the last jobs are being finished
			break
		}
	}
	if err := g.Wait(); err != nil {
		return 0, err
	}
	if done.Load() != int64(*number) {
		return 0, fmt.Errorf("%d of %d jobs were finished", done.Load(), *number)
	}
	return perSecond(*number, begun), nil
}

// post posts jobs in large batches.
func post(ctx context.Context, board *jobs.Board, n int, flow string) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(200)
	for i := range n {
		g.Go(func() error {
			_, err := board.Post(ctx, jobs.Job{ID: fmt.Sprint(flow, i), Flow: flow, Input: nothing{i}})
			return err
		})
	}
	return g.Wait()
}

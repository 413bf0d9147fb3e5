package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/conductor"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// steps returns a catalog that has a flow of n tasks, which call f.
func steps(name string, n int, f func()) *conductor.Catalog {
	nodes := make([]flow.Node, n)
	for i := range nodes {
		nodes[i] = atom.Func(fmt.Sprint("step", i), func(context.Context, struct{}) (struct{}, error) {
			f()
			return struct{}{}, nil
		})
	}
	return conductor.NewCatalog().Add(1, flow.Linear(name, nodes...))
}

// serving starts conductors that serve the catalog until stop is called.
func serving(ctx context.Context, stores []*sqlstore.Store, catalog func() *conductor.Catalog, slots int) (
	stop func() error, err error,
) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	errs := make([]error, len(stores))
	for i, store := range stores {
		c, err := conductor.New(jobs.New(store, jobs.Policy{}), catalog(), engine.WithSlots(slots))
		if err != nil {
			cancel()
			return nil, err
		}
		wg.Go(func() { errs[i] = c.Run(ctx) })
	}
	return func() error { cancel(); wg.Wait(); return errors.Join(errs...) }, nil
}

// start measures the time from posting a job to the start of its first task, on an idle conductor. On a server, another
// store posts the job, as another process would.
func start(ctx context.Context) error {
	at, leave, err := fresh(ctx)
	if err != nil {
		return err
	}
	defer leave()
	store, err := sqlstore.Open(ctx, at)
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	from := store
	if isServer() {
		if from, err = sqlstore.Open(ctx, at); err != nil {
			return err
		}
		defer func() { _ = from.Close() }()
	}
	begins := make(chan time.Time, 1)
	stop, err := serving(ctx, []*sqlstore.Store{store}, func() *conductor.Catalog {
		return steps("start", 1, func() { begins <- time.Now() })
	}, 100)
	if err != nil {
		return err
	}
	board := jobs.New(from, jobs.Policy{})
	const all, warm = 1050, 50
	var took []time.Duration
	for i := range all {
		time.Sleep(5*time.Millisecond + rand.N(20*time.Millisecond))
		posted := time.Now()
		if _, err := board.Post(ctx, jobs.Job{ID: fmt.Sprint("j", i), Flow: "start", Input: struct{}{}}); err != nil {
			return err
		}
		if d := (<-begins).Sub(posted); i >= warm {
			took = append(took, d)
		}
	}
	slices.Sort(took)
	n := len(took)
	fmt.Printf("from before the post to the start of the task: p50 %v, p90 %v, p99 %v, at most %v\n", took[n/2],
		took[n*9/10], took[n*99/100], took[n-1])
	return stop()
}

// conductors measures how many steps per second different numbers of conductors execute on one database, in turns.
func conductors(ctx context.Context) error {
	const perRun = 5
	counts, err := numbers(*many)
	if err != nil {
		return err
	}
	rates := map[int][]float64{}
	for range *rounds {
		for _, n := range counts {
			rate, err := conducted(ctx, n, perRun)
			if err != nil {
				return err
			}
			rates[n] = append(rates[n], rate)
		}
	}
	best := 0.0
	for _, n := range counts {
		m, _, _ := median(rates[n])
		best = max(best, m)
	}
	for _, n := range counts {
		m := report(fmt.Sprintf("%d conductors of %d slots, steps", n, slotsOf(n)), rates[n])
		fmt.Printf("%-40s %10.2f of the best\n", "", m/best)
	}
	return nil
}

// slotsOf returns how many runs each of n conductors drives at the same time.
func slotsOf(n int) int {
	const shared = 800
	if *slots > 0 {
		return *slots
	}
	return shared / n
}

func conducted(ctx context.Context, n, perRun int) (float64, error) {
	at, leave, err := fresh(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	stores := make([]*sqlstore.Store, n)
	for i := range stores {
		if stores[i], err = sqlstore.Open(ctx, at); err != nil {
			return 0, err
		}
		defer func() { _ = stores[i].Close() }()
	}
	board := jobs.New(stores[0], jobs.Policy{})
	runs := *number / perRun
	if err := post(ctx, board, runs, "steps"); err != nil {
		return 0, err
	}
	begun := time.Now()
	var done atomic.Int64
	stop, err := serving(ctx, stores, func() *conductor.Catalog { return steps("steps", perRun, func() { done.Add(1) }) },
		slotsOf(n))
	if err != nil {
		return 0, err
	}
	for { // asking the board often would cost more than the jobs
		if done.Load() >= int64(runs*perRun) {
			left, err := stores[0].JobList(ctx, storage.JobQuery{States: []states.Job{
				states.JobUnclaimed, states.JobClaimed,
				states.JobScheduled,
			}, Limit: 1})
			if err != nil {
				return 0, errors.Join(err, stop())
			}
			if len(left) == 0 {
				break
			}
		}
		time.Sleep(2 * time.Millisecond)
	}
	rate := perSecond(runs*perRun, begun)
	return rate, stop()
}

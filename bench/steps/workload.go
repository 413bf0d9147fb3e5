package main

import (
	"context"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// A workload is a number of runs of a number of steps.
type workload struct {
	name     string
	runs     int
	inFlight int // runs at the same time
	steps    int // of each run
	warm     int // steps of the only run that are executed before the clock starts
	parallel bool
}

var workloads = []workload{
	{name: "many", runs: 5000, inFlight: 1000, steps: 5},
	{name: "many-64", runs: 3000, inFlight: 64, steps: 5},
	{name: "many-8", runs: 1000, inFlight: 8, steps: 5},
	{name: "seq", runs: 1, inFlight: 1, steps: 1000},
	{name: "seq-warm", runs: 1, inFlight: 1, steps: 5000, warm: 1000},
	{name: "fan", runs: 1, inFlight: 1, steps: 1000, parallel: true},
}

func workloadNames() (names []string) {
	for _, w := range workloads {
		names = append(names, w.name)
	}
	return names
}

// divided returns a smaller workload of the same shape.
func (w workload) divided(by int) workload {
	if w.runs > 1 {
		w.runs = max(1, w.runs/by)
		w.inFlight = min(w.inFlight, w.runs)
		return w
	}
	w.steps, w.warm = max(2, w.steps/by), w.warm/by
	return w
}

// measured returns how many steps the clock covers.
func (w workload) measured() int { return w.runs*w.steps - w.warm }

// body is the result of each step: 100 bytes as JSON.
var body = strings.Repeat("x", 98)

// A stopwatch measures a workload. It starts when the warm-up ends.
type stopwatch struct {
	mu    sync.Mutex
	warm  int
	began time.Time
}

// step is called by each step. The step after the warm-up starts the clock.
func (s *stopwatch) step() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.warm--; s.warm == -1 {
		s.began = time.Now()
	}
}

// time executes all runs of a workload and returns how long its measured steps took. With no warm-up, the clock
// also covers the creation of the runs.
func (s *stopwatch) time(ctx context.Context, w workload, run func(context.Context, int) error) (time.Duration, error) {
	var g errgroup.Group
	g.SetLimit(w.inFlight)
	begun := time.Now()
	for i := range w.runs {
		g.Go(func() error { return run(ctx, i) })
	}
	err := g.Wait()
	if w.warm > 0 {
		begun = s.began
	}
	return time.Since(begun), err
}

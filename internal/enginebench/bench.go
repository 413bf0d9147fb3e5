package enginebench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Config says what to measure.
type Config struct {
	// DSN says where to create the databases, which are deleted afterwards. "sqlite:PATH" creates them beside that
	// file, on the same disk, and leaves the file unchanged. "memory:" has no ceiling.
	DSN string
	// Workloads are the names of the workloads to run. If there are none, all are run.
	Workloads []string
	// Self is a command line that calls [Act] with the arguments that follow. The workload resume needs it, and a
	// database in a file.
	Self []string
	// Quick divides all sizes by a hundred, to show that the workloads run. The figures then mean nothing.
	Quick bool
}

// A workload is one way to use an engine.
type workload struct {
	name string
	does string
	run  func(context.Context, *bench) error
}

var workloads = []workload{
	{"seq", "one run of 10,000 steps, after 1,000 of warm-up", seq},
	{"many", "1,000 runs of 5 steps at a time", many},
	{"fan", "1,000 parallel steps in one run, again and again", fan},
	{"undo", "1,000 runs at a time that fail at step 5 and are undone", undo},
	{"wait", "100,000 runs that wait are woken", wait},
	{"claim", "jobs are posted, claimed and finished, by 8 workers at a time", claim},
	{"resume", "1,000 runs are half done when their process is killed, and another ends them", resume},
}

// Names returns the names of all workloads, in the order in which they run.
func Names() []string {
	var names []string
	for _, w := range workloads {
		names = append(names, w.name)
	}
	return names
}

// Describe returns a line about each workload.
func Describe() string {
	var b strings.Builder
	for _, w := range workloads {
		fmt.Fprintf(&b, "  %-6s %s\n", w.name, w.does)
	}
	return b.String()
}

// Run runs the workloads one after the other, each on a database of its own. It calls tell with each result as soon as
// it is known.
func Run(ctx context.Context, c Config, tell func(Result) error) error {
	for _, name := range c.Workloads {
		if !slices.Contains(Names(), name) {
			return fmt.Errorf("enginebench: no workload is called %q (there are %s)", name, strings.Join(Names(), ", "))
		}
	}
	for _, w := range workloads {
		if len(c.Workloads) > 0 && !slices.Contains(c.Workloads, w.name) {
			continue
		}
		if w.name == "resume" && (c.Self == nil || c.DSN == "memory:" || isServer(c.DSN)) {
			if len(c.Workloads) > 0 {
				return errors.New("enginebench: resume needs a file and a process of its own")
			}
			continue
		}
		r, err := measure(ctx, c, w)
		if err != nil {
			return fmt.Errorf("enginebench: %s: %w", w.name, err)
		}
		if err := tell(r); err != nil {
			return err
		}
	}
	return nil
}

// measure runs one workload.
func measure(ctx context.Context, c Config, w workload) (r Result, err error) {
	t, err := open(ctx, c.DSN)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	b := &bench{quick: c.Quick, self: c.Self, target: t, meter: newMeter(t)}
	if err := w.run(ctx, b); err != nil {
		return r, err
	}
	if b.own != nil {
		b.own.Workload = w.name
		return *b.own, nil
	}
	r = b.meter.result(w.name)
	r.Cold, r.RevertCost = b.cold, b.revertCost
	if t.raw != nil {
		err = b.ceiling(ctx, &r)
	}
	return r, err
}

// A bench is a workload while it runs.
type bench struct {
	quick  bool
	self   []string
	target *target
	meter  *meter

	cold, revertCost Figure
	own              *Result // the result of a workload that does not use the meter
}

// size returns n, or a hundredth of it if the bench is quick.
func (b *bench) size(n int) int {
	if b.quick {
		return n / 100
	}
	return n
}

// span returns d, or a fiftieth of it if the bench is quick.
func (b *bench) span(d time.Duration) time.Duration {
	if b.quick {
		return d / 50
	}
	return d
}

// Workloads that have no end of their own run for the time of warmup, and are then measured for duration.
const (
	warmup   = time.Second
	duration = 5 * time.Second
)

// during starts work, measures it after the warm-up, and then cancels its context.
func (b *bench) during(ctx context.Context, work func(context.Context) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	failed := make(chan error, 1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		failed <- work(ctx)
	}()
	pause := func(d time.Duration) bool {
		t := time.NewTimer(b.span(d))
		defer t.Stop()
		select {
		case <-t.C:
			return true
		case <-ended: // work has failed
			return false
		}
	}
	pause(warmup)
	err := b.meter.begin(ctx)
	// A busy machine may not execute a step in the time.
	for none := true; none; none = b.meter.steps() == b.meter.from.steps || !b.meter.paced() {
		if !pause(duration) {
			break
		}
	}
	err = errors.Join(err, b.meter.end(ctx))
	stop()
	return errors.Join(err, <-failed)
}

// Command steps measures Ebb, DBOS and, if asked to, Restate in turns: the same workloads, on databases that survive a
// power failure.
//
//	go run .                                 # SQLite, in a new folder beside the current one
//	go run . -dsn postgres://…               # PostgreSQL, in schemas of their own
//	go run . -workload many,seq -rounds 7
//	npm install --prefix /tmp/restate @restatedev/restate-server-linux-x64@1.7.12
//	go run . -restate /tmp/restate/node_modules/@restatedev/restate-server-linux-x64/bin/restate-server
//
// A step returns 100 bytes, and counts once its result is committed. Each system starts each round with an
// empty database, which is removed afterwards.
//
// It is a module of its own, so Ebb does not depend on what it is compared with.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

func main() {
	c := comparison{}
	flag.StringVar(&c.dsn, "dsn", "", "the PostgreSQL database; without it, SQLite in a new folder under -dir")
	flag.StringVar(&c.dir, "dir", ".", "the folder for SQLite databases; its disk is measured")
	flag.IntVar(&c.rounds, "rounds", 5, "how often each system runs each workload")
	flag.IntVar(&c.divisor, "divisor", 1, "divides the sizes of the workloads, to try the program")
	program := flag.String("restate", "", "the program restate-server, to measure it, too; only without -dsn")
	only := flag.String("workload", "", "only these workloads, separated by commas: "+strings.Join(workloadNames(), ", "))
	flag.Parse()
	if *program != "" {
		systems = append(systems, system{"Restate", restateWith(*program)})
	}
	if *only != "" {
		c.workloads = strings.Split(*only, ",")
	}
	if err := c.run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A comparison says which workloads to measure, where, and how often.
type comparison struct {
	dsn, dir        string
	rounds, divisor int
	workloads       []string // none means all
}

// A system executes a workload on an empty database and returns how long its measured steps took.
type system struct {
	name string
	run  func(context.Context, place, workload) (time.Duration, error)
}

var systems = []system{{"Ebb", runEbb}, {"DBOS", runDBOS}}

// run measures the workloads and prints a line for each: the medians and ranges of all systems, and Ebb's ratio to the
// others.
func (c comparison) run(ctx context.Context, out io.Writer) error {
	for _, name := range c.workloads {
		if !slices.Contains(workloadNames(), name) {
			return fmt.Errorf("no workload is called %q; there are %s", name, strings.Join(workloadNames(), ", "))
		}
	}
	for _, w := range workloads {
		if len(c.workloads) > 0 && !slices.Contains(c.workloads, w.name) {
			continue
		}
		if err := c.compare(ctx, w.divided(c.divisor), out); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	return nil
}

// compare measures one workload. The systems take turns, so a disk that becomes slower affects both.
func (c comparison) compare(ctx context.Context, w workload, out io.Writer) error {
	rates := make([][]float64, len(systems))
	for range c.rounds {
		for i, s := range systems {
			took, err := c.measure(ctx, s, w)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			rates[i] = append(rates[i], float64(w.measured())/took.Seconds())
		}
	}
	fmt.Fprintf(out, "%-10s", w.name)
	for i, s := range systems {
		slices.Sort(rates[i])
		least, most := rates[i][0], rates[i][c.rounds-1]
		fmt.Fprintf(out, " %s %7.0f steps/s (%.0f to %.0f),", s.name, median(rates[i]), least, most)
	}
	for i, s := range systems[1:] {
		fmt.Fprintf(out, " ratio to %s %.2f", s.name, median(rates[0])/median(rates[i+1]))
	}
	fmt.Fprintln(out)
	return nil
}

// measure executes a workload once, on a database that it creates and removes.
func (c comparison) measure(ctx context.Context, s system, w workload) (took time.Duration, err error) {
	p, err := newPlace(ctx, c)
	if err != nil {
		return 0, err
	}
	defer func() {
		if left := p.remove(context.WithoutCancel(ctx)); err == nil {
			err = left
		}
	}()
	return s.run(ctx, p, w)
}

// median returns the middle of sorted numbers.
func median(sorted []float64) float64 { return sorted[len(sorted)/2] }

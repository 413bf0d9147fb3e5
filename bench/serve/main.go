// Command serve measures what `ebb serve` offers over HTTP, in a process of its own: the APIs of AWS, whose clients
// sign their requests, and the console.
//
//	go run . [-time 1m] [-dsn postgres://…] [-runs 1000000] [-only REGEXP]
//
// It prints rows of a Markdown table. Beside each rate stand two ceilings from the same run: requests that the server
// refuses without its database, and as many commits of as many rows on one connection.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"time"
)

// A bench says how to measure.
type bench struct {
	dsn     string        // of PostgreSQL; "" means SQLite files
	dir     string        // where the files are
	command string        // file of ebb
	time    time.Duration // of each measurement

	clients    int // connections of most workloads
	pollers    int // idle ones
	machines   int
	ended      int // executions in lists
	viewers    int // of the console
	open       int // executions with a timer each
	due        int // of them, due in the same second
	sfnHistory int // events at most
	swfHistory int // events
	refused    map[string]float64
}

// A workload measures something and returns rows.
type workload struct {
	name string
	run  func(context.Context, *bench) ([]row, error)
}

var workloads = []workload{
	{"aws/start", start},
	{"aws/states", fiveStates},
	{"aws/activities", activities},
	{"aws/sync", sync},
	{"aws/pollers", pollers},
	{"aws/machines", machines},
	{"aws/executions", executions},
	{"aws/history", lastPage},
	{"aws/signals", signals},
	{"aws/tasks", tasks},
	{"aws/timers", timers},
	{"aws/decision", longDecision},
	{"aws/closed", closed},
	{"console/lists", consoleLists},
	{"console/weight", consoleWeight},
	{"console/layout", consoleLayout},
	{"console/viewers", consoleViewers},
}

func main() {
	b := &bench{
		clients: 64, pollers: 1000, viewers: 200, machines: 10_000, ended: 1_000_000, open: 100_000, due: 1000,
		sfnHistory: 25_000, swfHistory: 20_000,
	}
	flag.StringVar(&b.dsn, "dsn", "", "a PostgreSQL database, postgres://…; without it, SQLite files")
	flag.StringVar(&b.dir, "dir", os.TempDir(), "folder on the disk for the SQLite files")
	flag.IntVar(&b.ended, "runs", b.ended, "how many runs lists have")
	flag.DurationVar(&b.time, "time", time.Minute, "how long each measurement takes")
	only := flag.String("only", "", "regular expression for the names of the workloads to run; without it, all")
	flag.Parse()
	if err := b.main(context.Background(), *only); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

func (b *bench) main(ctx context.Context, only string) error {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp(b.dir, "ebb-bench-serve-"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(b.dir) }()
	if b.command, err = build(ctx, b.dir); err != nil {
		return err
	}
	store := "SQLite, synchronous=FULL"
	if b.dsn != "" {
		store = "PostgreSQL"
	}
	fmt.Fprintf(os.Stdout, "%s; %d processors; %v for each measurement; %s\n", store, runtime.NumCPU(), b.time,
		time.Now().Format(time.DateOnly))
	var failed []error
	head := ""
	for _, w := range workloads {
		if !wanted.MatchString(w.name) {
			continue
		}
		rows, err := w.run(ctx, b)
		for i := range rows {
			if next := heading(rows[i].bare); next != head {
				head = next
				fmt.Fprintf(os.Stdout, "\n%s\n", head)
			}
			fmt.Fprintln(os.Stdout, rows[i].String())
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", w.name, err))
		}
	}
	return errors.Join(failed...)
}

// build builds ebb from the checkout, and returns its file.
func build(ctx context.Context, dir string) (string, error) {
	file := filepath.Join(dir, "ebb")
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		return "", err
	}
	c := exec.CommandContext(ctx, "go", "build", "-o", file, "./cmd/ebb")
	c.Dir = root
	c.Env = append(os.Environ(), "GOWORK="+filepath.Join(root, "go.work"))
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building ebb: %w: %s", err, out)
	}
	return file, nil
}

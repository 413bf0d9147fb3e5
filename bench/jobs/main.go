// Command jobs measures jobs on PostgreSQL: how many are claimed and finished per second, in turns with River; how soon
// a posted job starts; and how the rate changes with the number of conductors.
//
//	go run . -dsn postgres://… claim        # Ebb and River in turns
//	go run . -dsn postgres://… bare         # the bound: one connection writes the same rows
//	go run . -dsn postgres://… start        # or -dsn sqlite:PATH
//	go run . -dsn postgres://… conductors
//
// It creates schemas of its own, and drops them. It is a module of its own, so Ebb does not depend on what it is
// compared with.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ebbflow/ebb/storage/sqlstore"
)

var (
	dsn     = flag.String("dsn", "postgres:///postgres?host=/var/run/postgresql", "the database")
	rounds  = flag.Int("rounds", 5, "how often to measure each")
	number  = flag.Int("jobs", 10_000, "number of jobs in a round")
	workers = flag.String("workers", "8,1000", "numbers of workers, measured one after the other")
	many    = flag.String("conductors", "1,2,4,8", "numbers of conductors on one database, measured one after the other")
	slots   = flag.Int("slots", 0, "runs that each conductor drives at the same time; 0 divides 800 among them")
	ahead   = flag.Bool("ahead", false,
		"claim the next job of a worker of Ebb while the end of its last one is written; begin it after that is in the "+
			"database")
	early = flag.Bool("early", false,
		"let Ebb's workers continue before the end of their job is in the database, as River's do")
)

var measures = map[string]func(context.Context) error{
	"claim": claim, "bare": bare, "start": start,
	"conductors": conductors,
}

func main() {
	flag.Parse()
	measure := measures[flag.Arg(0)]
	if measure == nil {
		fmt.Fprintln(os.Stderr, "usage: jobs [-dsn DSN] claim | bare | start | conductors")
		os.Exit(2)
	}
	if err := measure(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// numbers parses numbers that commas separate.
func numbers(list string) (all []int, err error) {
	for _, text := range strings.Split(list, ",") {
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, nil
}

func isServer() bool { return strings.HasPrefix(*dsn, "postgres") }

// fresh returns the DSN of an empty database, and a function that deletes it.
func fresh(ctx context.Context) (at string, leave func(), err error) {
	if !isServer() {
		dir, err := os.MkdirTemp("", "ebb-bench")
		return "sqlite:" + dir + "/ebb.db", func() { _ = os.RemoveAll(dir) }, err
	}
	schema := "ebb_bench_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	u, err := url.Parse(*dsn)
	if err != nil {
		return "", nil, err
	}
	q := u.Query()
	q.Set("schema", schema)
	u.RawQuery = q.Encode()
	if _, err := sqlstore.Migrate(ctx, u.String()); err != nil {
		return "", nil, err
	}
	return u.String(), func() { _ = execute(context.WithoutCancel(ctx), "DROP SCHEMA "+schema+" CASCADE") }, nil
}

func execute(ctx context.Context, text string) error {
	conn, err := pgx.Connect(ctx, *dsn)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, text)
	return errors.Join(err, conn.Close(ctx))
}

// median returns the median, the least and the largest number.
func median(all []float64) (middle, least, most float64) {
	all = slices.Sorted(slices.Values(all))
	return all[len(all)/2], all[0], all[len(all)-1]
}

// report prints the rates of several rounds, and returns their median.
func report(what string, all []float64) float64 {
	middle, least, most := median(all)
	fmt.Printf("%-40s %10.0f/s   (%.0f … %.0f)\n", what, middle, least, most)
	return middle
}

func perSecond(n int, since time.Time) float64 { return float64(n) / time.Since(since).Seconds() }

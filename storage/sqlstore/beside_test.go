//go:build unix

package sqlstore_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/childtest"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

const (
	saturators = 256 // runs that the process steps side by side that leaves no time to others
	pace       = 5 * time.Millisecond
	// waitAim is within what time nearly all writes beside it shall be done.
	waitAim = 50 * time.Millisecond
)

// saturate steps many runs as fast as it can until standard input ends, and then
// says how many steps that were.
func saturate(ctx context.Context, s *sqlstore.Store) error {
	var stop atomic.Bool
	var steps atomic.Int64
	errs := make(chan error, saturators)
	var wg sync.WaitGroup
	for i := range saturators {
		wg.Go(func() {
			run, err := stepperOf(ctx, s, fmt.Sprint("saturator-", i))
			for err == nil && !stop.Load() {
				err = run.step() //nolint:contextcheck // it was given its own
				steps.Add(1)
			}
			errs <- err
		})
	}
	say("begun")
	_, _ = io.Copy(io.Discard, os.Stdin)
	stop.Store(true)
	wg.Wait()
	for range saturators {
		if err := <-errs; err != nil {
			return err
		}
	}
	say(fmt.Sprint(steps.Load()))
	return s.Close()
}

// stepNowAndThen makes as many steps as a line says, with pauses, and reports in microseconds how long they took.
func stepNowAndThen(ctx context.Context, s *sqlstore.Store) error {
	lines := bufio.NewScanner(os.Stdin)
	lines.Scan()
	n, err := strconv.Atoi(lines.Text())
	if err != nil {
		return err
	}
	run, err := stepperOf(ctx, s, fmt.Sprint("modest-", os.Getpid()))
	if err != nil {
		return err
	}
	waits := make([]int64, n)
	for i := range waits {
		time.Sleep(pace)
		begun := time.Now()
		if err := run.step(); err != nil { //nolint:contextcheck // it was given its own
			return err
		}
		waits[i] = time.Since(begun).Microseconds()
	}
	slices.Sort(waits)
	say(fmt.Sprint(waits[n/2], waits[n*9/10], waits[n*99/100], waits[n-1]))
	return s.Close()
}

// TestBesideSaturating lets three processes write now and then beside one that writes as much as it can. No write is
// refused. With EBB_BESIDE=N each makes N writes, and 99 of 100 must take less than 50 ms.
//
// Guarantee (G6): A busy writer shuts out no other. With `EBB_BESIDE=1000`, 99 % of their writes must take less than 50
// ms.
func TestBesideSaturating(t *testing.T) {
	t.Parallel()
	n, err := strconv.Atoi(os.Getenv("EBB_BESIDE"))
	measured := err == nil
	if !measured {
		n = 30
	}
	file := filepath.Join(t.TempDir(), "runs.db")
	busy := start(t, "saturate", file, "")
	busy.Line() // its own run
	if said := busy.Line(); said != "begun" {
		t.Fatal(said)
	}
	begun := time.Now()
	var modest []*childtest.Process
	for range 3 {
		p := start(t, "modest", file, "")
		p.Line()
		p.Tell(strconv.Itoa(n))
		modest = append(modest, p)
	}
	table := []string{fmt.Sprintf("%8s %10s %10s %10s %10s", "process", "p50", "p90", "p99", "max")}
	for i, p := range modest {
		said := p.Line()
		row := []any{i + 1}
		var p99 time.Duration
		for at, field := range strings.Fields(said) {
			micros, err := strconv.ParseInt(field, 10, 64)
			if err != nil {
				t.Fatalf("process %d: %s", i+1, said)
			}
			d := time.Duration(micros) * time.Microsecond
			if row = append(row, d); at == 2 {
				p99 = d
			}
		}
		if err := p.Wait(); err != nil || len(row) != 5 {
			t.Fatalf("process %d said %q, and ended with %v", i+1, said, err)
		}
		table = append(table, fmt.Sprintf("%8d %10v %10v %10v %10v", row...))
		if measured && p99 >= waitAim {
			t.Errorf("process %d: of 100 writes one took %v or more", i+1, p99)
		}
	}
	took := time.Since(begun)
	busy.EndInput()
	steps, err := strconv.ParseInt(busy.Line(), 10, 64)
	if err := busy.Wait(); err != nil {
		t.Error(err)
	}
	if err != nil || steps == 0 {
		t.Errorf("the busy process made %d steps, %v", steps, err)
	}
	if measured {
		t.Logf("%d writes each beside a process that made %.0f steps a second of %d runs:\n%s",
			n, float64(steps)/took.Seconds(), saturators, strings.Join(table, "\n"))
	}
	s := open(t, file)
	defer shut(t, s)
	runs, err := s.Runs(t.Context(), storage.RunQuery{Flow: "bench"})
	total := int64(0)
	for i := range runs {
		total += runs[i].Seq
	}
	if want := steps + int64(3*n); err != nil || total != want {
		t.Errorf("%d steps were acknowledged, %d are there (%v)", want, total, err)
	}
	sound(t, file)
}

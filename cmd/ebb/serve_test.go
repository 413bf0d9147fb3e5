package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// A troop is some processes of ebb serve on one database.
type troop struct {
	*victim

	members []member
	killed  int
}

func (tr *troop) recruit(t *testing.T) {
	t.Helper()
	cmd := tr.ebb("EBB_LOG_LEVEL=off", "serve", "--listen", "off", "--dir", filepath.Dir(tr.file), tr.file)
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tr.members = append(tr.members, member{cmd, bufio.NewReader(said)})
}

// A member is a process of ebb serve.
type member struct {
	*exec.Cmd

	said *bufio.Reader // its output
}

// lose kills one of them at any moment.
func (tr *troop) lose(t *testing.T) {
	t.Helper()
	i := rand.IntN(len(tr.members))
	cmd := tr.members[i]
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	tr.members = append(tr.members[:i], tr.members[i+1:]...)
	tr.killed++
}

// dismiss lets all drain.
func (tr *troop) dismiss(t *testing.T) {
	t.Helper()
	for _, cmd := range tr.members {
		if first, err := cmd.said.ReadString('\n'); first != "ebb: serving\n" { // before that line the process does not handle signals
			t.Errorf("it said %q (%v)", first, err)
		}
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("it drained, and exited with %v", err)
		}
	}
}

// TestServersKilled: three servers share jobs on one database, and are killed repeatedly. All jobs end as they should.
// No undo is missing, and none is wrong.
//
// Guarantee (Jobs): Every job ends as it should while three servers on one SQLite file are killed repeatedly. On
// PostgreSQL also with waits, growth and [stops longer than a lease](../explanation/jobs.md#the-soak-test).
// Also: `TestSoakPostgres`.
func TestServersKilled(t *testing.T) {
	t.Parallel()
	const posted, servers = 40, 3
	tr := &troop{victim: newVictim(t, "../serve/trip.asl.json")}
	ctx := context.Background()
	store, err := sqlstore.Open(ctx, tr.db)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	board := jobs.New(store, jobs.Policy{})
	for i := range posted {
		job := jobs.Job{ID: fmt.Sprintf("j%02d", i), Flow: "trip", Input: map[string]string{"pay": map[bool]string{true: "fail", false: "well"}[i%4 == 0]}}
		if _, err := board.Post(ctx, job); err != nil {
			t.Fatal(err)
		}
	}
	for range servers {
		tr.recruit(t)
	}
	for left := posted; left > 0; {
		pause := time.NewTimer(time.Duration(50+rand.IntN(400)) * time.Millisecond)
		<-pause.C
		tr.lose(t)
		tr.recruit(t)
		list, err := board.List(ctx, storage.JobQuery{States: []states.Job{states.JobUnclaimed, states.JobClaimed, states.JobScheduled, states.JobParked}})
		if err != nil {
			t.Fatal(err)
		}
		left = len(list)
	}
	tr.dismiss(t)
	t.Logf("%d servers were killed", tr.killed)
	done := tr.done(t)
	for i := range posted {
		id := fmt.Sprintf("j%02d", i)
		run, err := store.Run(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		steps := done[id]
		want, undone := states.FlowSuccess, 0
		if i%4 == 0 {
			want, undone = states.FlowReverted, 1
		}
		if run.State != want || run.Owner != "" {
			t.Errorf("%s is %v, want %v", id, run.State, want)
		}
		if steps["Book"] < 1 || steps["Pay"] < 1 || min(steps["Unbook"], 1) != undone {
			t.Errorf("%s did %v", id, steps)
		}
	}
}

// done returns how often each run did each step.
func (tr *troop) done(t *testing.T) map[string]map[string]int {
	t.Helper()
	text, err := os.ReadFile(tr.journal)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	done := map[string]map[string]int{}
	for line := range strings.Lines(string(text)) {
		run, step, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			continue
		}
		if done[run] == nil {
			done[run] = map[string]int{}
		}
		done[run][step]++
	}
	return done
}

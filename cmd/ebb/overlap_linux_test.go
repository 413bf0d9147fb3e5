package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestAttemptsDoNotOverlap kills one of two servers again and again. All that an attempt starts holds the
// lock of its atom, also in a session of its own, so each program finds out whether anything of an earlier
// attempt is still there. At the end no program and no supervisor is left.
func TestAttemptsDoNotOverlap(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("flock"); err != nil {
		t.Skip("needs flock: ", err)
	}
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		v := newVictim(t, "../overlap/hold.asl.json")
		holdAndKill(t, v, v.db)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		holdAndKill(t, newVictim(t, "../overlap/hold.asl.json"), migrated(t, postgrestest.DSN(t)))
	})
}

func holdAndKill(t *testing.T, v *victim, dsn string) {
	const posted, kills = 4, 12
	ctx := context.Background()
	store, err := sqlstore.Open(ctx, dsn)
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
		if _, err := board.Post(ctx, jobs.Job{ID: fmt.Sprintf("j%d", i), Flow: "hold", Input: map[string]string{}}); err != nil {
			t.Fatal(err)
		}
	}
	if dsn == v.db {
		dsn = "sqlite:" + dsn
	}
	serve := func() *exec.Cmd {
		cmd := v.ebb("EBB_LOG_LEVEL=off", "serve", "--listen", "off", "--max-lost", "1000", "--dir", filepath.Dir(v.file), v.file)
		cmd.Env = append(cmd.Env, "EBB_DSN="+dsn)
		cmd.Stderr = nil
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	servers := []*exec.Cmd{serve(), serve()}
	calls := 0
	for killed := 0; ; {
		running, err := board.List(ctx, storage.JobQuery{States: []states.Job{states.JobUnclaimed, states.JobClaimed, states.JobScheduled}})
		if err != nil {
			t.Fatal(err)
		}
		if len(running) == 0 || t.Context().Err() != nil {
			break
		}
		pause := time.NewTimer(time.Duration(20+rand.IntN(200)) * time.Millisecond)
		<-pause.C
		if now := v.calls(); now > calls && killed < kills { // so that each server gets somewhere
			calls = now
			i := rand.IntN(len(servers))
			_ = servers[i].Process.Kill()
			_ = servers[i].Wait()
			servers[i] = serve()
			killed++
		}
	}
	for _, cmd := range servers {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	if text, err := os.ReadFile(filepath.Join(v.dir, "overlaps")); err == nil {
		t.Errorf("attempts began beside earlier ones:\n%s", text)
	}
	for i := range posted {
		run, err := store.Run(ctx, fmt.Sprintf("j%d", i))
		if err != nil || run.State != states.FlowSuccess {
			t.Errorf("run %d is %v, %v, %v", i, run.State, run.Failure, err)
		}
	}
	limit := time.Now().Add(time.Minute)
	for left := v.processes(t); len(left) > 0; left = v.processes(t) {
		if time.Now().After(limit) {
			t.Fatalf("processes are left: %v", left)
		}
		for pid := range left {
			awaitEnd(t, pid, limit)
		}
	}
}

// processes returns the command lines of those that have the victim's journal in their environment, by
// their ids.
func (v *victim) processes(t *testing.T) map[int]string {
	t.Helper()
	lines := map[int]string{}
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		environ, err := os.ReadFile(path + "/environ")
		if err == nil && bytes.Contains(environ, []byte("\x00EBB_TEST_JOURNAL="+v.journal+"\x00")) {
			line, _ := os.ReadFile(path + "/cmdline") // it may be gone by now
			pid, err := strconv.Atoi(filepath.Base(path))
			if err != nil {
				t.Fatal(err)
			}
			lines[pid] = string(line)
		}
	}
	return lines
}

package enginebench_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/internal/enginebench"
	"github.com/ebbflow/ebb/internal/postgrestest"
)

// TestMain is also a process of the workload resume, when it is told to.
func TestMain(m *testing.M) {
	if args := os.Args; len(args) == 5 && args[1] == "act" {
		runs, err := strconv.Atoi(args[4])
		if err == nil {
			err = enginebench.Act(context.Background(), args[2], args[3], runs, os.Stdout)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// TestRun runs each workload, small, on both stores.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, dsn := range []string{"memory:", "sqlite:" + filepath.Join(dir, "ebb.db")} {
		var names []string
		err := enginebench.Run(t.Context(), enginebench.Config{DSN: dsn, Quick: true, Self: []string{self, "act"}},
			func(r enginebench.Result) error {
				names = append(names, r.Workload)
				sqlite := dsn != "memory:"
				if r.Workload == "resume" {
					if r.Steps != 30 || r.Ratio <= 0 || r.Resume <= 0 || !r.ResumeOver.Known() {
						t.Errorf("%s: %+v", dsn, r)
					}
					return nil
				}
				if r.Steps < 1 || r.StepsPerS <= 0 || !r.P50.Known() || r.P50 > r.P99 {
					t.Errorf("%s: %+v", dsn, r)
				}
				if r.Ratio.Known() != sqlite || r.RowsPerStep.Known() != sqlite || sqlite &&
					(r.Ratio <= 0 || r.FsyncsPerStep <= 0 || !r.BytesPerStep.Known()) {
					t.Errorf("%s: %+v", dsn, r)
				}
				text, err := json.Marshal(r)
				t.Logf("%s %v", text, err)
				return err
			})
		if err != nil {
			t.Error(err)
		}
		want := enginebench.Names()
		if dsn == "memory:" {
			want = slices.DeleteFunc(want, func(name string) bool { return name == "resume" })
		}
		if !slices.Equal(names, want) {
			t.Errorf("%s: measured %q; want %q", dsn, names, want)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// TestRefused names what there is.
func TestRefused(t *testing.T) {
	for text, c := range map[string]enginebench.Config{
		"there are seq, many":     {DSN: "memory:", Workloads: []string{"seq", "sec"}},
		"process of its own":      {DSN: "memory:", Workloads: []string{"resume"}},
		"sqlite:PATH or postgres": {DSN: "mysql://localhost/ebb", Workloads: []string{"seq"}},
		"folder":                  {DSN: filepath.Join(t.TempDir(), "none", "ebb.db"), Workloads: []string{"seq"}},
	} {
		err := enginebench.Run(t.Context(), c, func(enginebench.Result) error { return nil })
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%+v: %v; want %q", c, err, text)
		}
	}
}

// TestRunOnServer runs workloads, small, on PostgreSQL, and leaves nothing behind.
func TestRunOnServer(t *testing.T) {
	dsn := postgrestest.DSN(t)
	c := enginebench.Config{DSN: dsn, Quick: true, Workloads: []string{"seq", "many", "claim"}}
	measured := 0
	err := enginebench.Run(t.Context(), c, func(r enginebench.Result) error {
		measured++
		if r.Steps < 1 || r.Ratio <= 0 || r.RowsPerStep <= 0 || !r.BytesPerStep.Known() {
			t.Errorf("%+v", r)
		}
		return nil
	})
	if err != nil || measured != len(c.Workloads) {
		t.Errorf("%d workloads, %v", measured, err)
	}
	c.Workloads = []string{"resume"}
	if err := enginebench.Run(t.Context(), c, nil); err == nil || !strings.Contains(err.Error(), "resume needs a file") {
		t.Errorf("resume: %v", err)
	}
}

package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ebbflow/ebb/cmd/ebb/internal/command"
	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
	"github.com/ebbflow/ebb/internal/childtest"
	"github.com/ebbflow/ebb/internal/failpoint"
	"github.com/ebbflow/ebb/internal/postgrestest"
)

var update = flag.Bool("update", false, "rewrite the golden files and the expected output of the scripts")

// killAt names the place where a child of the crash test kills itself, and
// which visit of it: "engine.growth 3".
const killAt = "EBB_TEST_KILL_AT"

// TestMain makes the test's binary the command itself when it is called ebb.
func TestMain(m *testing.M) {
	testscript.Main(childtest.Waiting{M: m}, map[string]func(){"ebb": func() {
		if place, nth, ok := strings.Cut(os.Getenv(killAt), " "); ok {
			n, err := strconv.ParseInt(nth, 10, 64)
			if err != nil {
				panic(err)
			}
			place, stops := strings.CutPrefix(place, "stop:")
			failpoint.ArmNth(place, n, func() {
				if stops {
					stopSelf()
					return
				}
				if p, err := os.FindProcess(os.Getpid()); err == nil {
					_ = p.Kill()
				}
				select {} // the kill comes first
			})
		}
		main()
	}, "gorun": gorun, "goflow": goflow, "stormserver": stormServer, "attacker": attack})
}

// execute runs the command in this process, and returns its exit status.
func execute(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	return command.Execute(ctx, session.New(in, out, errs), args)
}

// TestScripts runs whole sessions of the command, see testdata/script.
func TestScripts(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the scripts' programs are shell scripts")
	}
	example, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("EXAMPLES", example)
			env.Setenv("PROJECTS", filepath.Join(filepath.Dir(example), "cmd", "ebb", "testdata", "projects"))
			return os.Chmod(env.WorkDir, 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "sqlite": execSQL},
	})
}

// TestPostgresScripts runs the sessions that need a server, each with tables of
// its own, see testdata/postgres.
func TestPostgresScripts(t *testing.T) {
	t.Parallel()
	example, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	scripts, err := filepath.Glob("testdata/postgres/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("scripts: %v, %v", scripts, err)
	}
	for _, script := range append(scripts, "testdata/script/attach.txtar") {
		dsn := postgrestest.DSN(t)
		testscript.Run(t, testscript.Params{
			Files:               []string{script},
			UpdateScripts:       *update,
			RequireExplicitExec: true,
			Setup: func(env *testscript.Env) error {
				env.Setenv("EXAMPLES", example)
				env.Setenv("EBB_DSN", dsn)
				env.Setenv("SCHEMA", postgrestest.Schema(t, dsn))
				return nil
			},
			Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
		})
	}
}

// exits runs a command and wants an exit status: exits 3 ebb run trip.asl.json.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND…")
	}
	err := ts.Exec(args[1], args[2:]...)
	status := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		status = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(status) != args[0] {
		ts.Fatalf("exit status %d; want %s", status, args[0])
	}
}

// execSQL runs statements in a database: sqlite FILE 'PRAGMA user_version=99'.
func execSQL(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sqlite FILE STATEMENTS")
	}
	db, err := sql.Open("sqlite", ts.MkAbs(args[0]))
	ts.Check(err)
	defer func() { ts.Check(db.Close()) }()
	_, err = db.ExecContext(context.Background(), args[1])
	ts.Check(err)
}

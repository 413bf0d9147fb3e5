package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// A population is a killer and its neighbors, as jobs of one database, and a server that is
// started again whenever it dies.
type population struct {
	*victim

	dsn   string
	store *sqlstore.Store
	group string // the control group of the server; "" is the test's own
	flags []string

	died int
}

const (
	killer    = "killer"
	neighbors = 10
)

// populated posts the killer and its neighbors.
func populated(t *testing.T, dsn, killerFlow, neighborFlow string, input any) *population {
	t.Helper()
	p := &population{victim: newVictim(t, ""), dsn: dsn}
	if dsn == "" {
		p.dsn = p.db
	}
	files := map[string]string{
		"killer.asl.json": killerFlow, "neighbor.asl.json": neighborFlow,
		"kill.sh": killScript, "work.sh": "#!/bin/sh\nsleep 0.3\necho '{}'\n",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(p.self, filepath.Join(p.dir, "ebb")); err != nil {
		t.Fatal(err)
	}
	var err error
	if p.store, err = sqlstore.Open(context.Background(), p.dsn); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.store.Close(); err != nil {
			t.Error(err)
		}
	})
	board := jobs.New(p.store, jobs.Policy{})
	post := func(id, flow string) {
		t.Helper()
		if _, err := board.Post(t.Context(), jobs.Job{ID: id, Run: id, Flow: flow, Input: input}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range neighbors {
		post(fmt.Sprintf("neighbor%d", i), "neighbor")
	}
	post(killer, "killer")
	return p
}

// killScript kills the process that started its supervisor, if that is a server.
const killScript = `#!/bin/sh
parent=$(sed -n 's/^PPid:[[:space:]]*//p' /proc/$PPID/status)
tr '\0' ' ' </proc/$parent/cmdline | grep -q '/ebb serve ' || exit 1
kill -9 $parent
sleep 10
`

// serve lets servers start and die until all jobs have ended or are parked, and returns the killer's run.
func (p *population) serve(t *testing.T, patience time.Duration) storage.Run {
	t.Helper()
	dsn := p.dsn
	if dsn == p.db {
		dsn = "sqlite:" + dsn
	}
	over := time.After(patience)
	for {
		var said strings.Builder
		args := append([]string{"serve", "--listen", "off", "--log-level", "warn", "--drain", "1s"}, p.flags...)
		cmd := exec.Command(filepath.Join(p.dir, "ebb"), append(args, "killer.asl.json", "neighbor.asl.json")...)
		if p.group != "" {
			cmd = exec.Command("/bin/sh", append([]string{"-c", `echo $$ >"$0"/cgroup.procs && exec "$@"`, p.group}, cmd.Args...)...)
		}
		cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, &said, &said
		cmd.Env = append(os.Environ(), "EBB_DSN="+dsn, "GOMEMLIMIT=", "EBB_MEMORY=")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		exited := make(chan error, 1)
		go func() { exited <- cmd.Wait() }()
		look := time.NewTicker(100 * time.Millisecond)
		for rests := false; ; {
			select {
			case <-look.C:
				if !rests && p.rest(t) {
					rests = true
					_ = cmd.Process.Signal(os.Interrupt) // it may have died
				}
				continue
			case <-over:
				_ = cmd.Process.Kill() // it may have ended
				<-exited               //nolint:errcheck // it was killed
				run, err := p.store.Run(context.Background(), killer)
				t.Fatalf("after %d deaths the killer is %v, %+v (%v); the last server said:\n%s", p.died, run.State, run.CrashLoop, err, said.String())
			case <-exited: //nolint:errcheck // the state of the process says how it ended
			}
			look.Stop()
			t.Logf("%v:\n%s", cmd.ProcessState, said.String())
			if rests {
				run, err := p.store.Run(t.Context(), killer)
				if err != nil {
					t.Fatal(err)
				}
				return run
			}
			if cmd.ProcessState.ExitCode() >= 0 {
				t.Fatal("it was not killed")
			}
			p.died++
			break
		}
	}
}

// rest reports whether no job is left to be done.
func (p *population) rest(t *testing.T) bool {
	t.Helper()
	left, err := p.store.JobList(t.Context(), storage.JobQuery{States: []states.Job{states.JobUnclaimed, states.JobClaimed, states.JobScheduled}})
	if err != nil {
		t.Fatal(err)
	}
	return len(left) == 0
}

// judge expects the killer to be parked because of that code and text, and its neighbors to
// have succeeded.
func (p *population) judge(t *testing.T, run *storage.Run, code, why string) {
	t.Helper()
	if run.State != states.FlowSuspended || !run.Hold || run.Failure == nil || run.Failure.Code != code || !strings.Contains(run.Failure.Message, why) {
		t.Errorf("the killer is %v, held %t, because of %v", run.State, run.Hold, run.Failure)
	}
	if j, err := p.store.Job(t.Context(), killer); err != nil || j.State != states.JobParked || j.Failure == nil || j.Failure.Code != code {
		t.Errorf("its job is %v because of %v (%v)", j.State, j.Failure, err)
	}
	for i := range neighbors {
		id := fmt.Sprintf("neighbor%d", i)
		if n, err := p.store.Run(t.Context(), id); err != nil || n.State != states.FlowSuccess {
			t.Errorf("%s is %v because of %v (%v)", id, n.State, n.Failure, err)
		}
	}
}

// nestedMaps is a machine of Maps within Maps.
func nestedMaps(depth int) string {
	state, name := `{"Type": "Wait", "Seconds": 600, "End": true}`, "Wait"
	for i := range depth {
		state = fmt.Sprintf(`{"Type": "Map", "ItemsPath": "$.items", "ItemSelector": {"items.$": "$.items"}, "End": true,
			"ItemProcessor": {"StartAt": %q, "States": {%q: %s}}}`, name, name, state)
		name = fmt.Sprintf("Map%d", i)
	}
	return fmt.Sprintf(`{"StartAt": %q, "States": {%q: %s}}`, name, name, state)
}

const sleeper = `{"StartAt": "Sleep", "States": {"Sleep": {"Type": "Wait", "Seconds": 2, "Next": "Awake"}, "Awake": {"Type": "Pass", "End": true}}}`

// thirty are the items of each Map.
func thirty(t *testing.T) any {
	t.Helper()
	items := make([]int, 30)
	text, err := json.Marshal(map[string]any{"items": items})
	if err != nil {
		t.Fatal(err)
	}
	return atom.FromJSON(text)
}

// unbounded are flags that let a run grow until another limit ends it.
var unbounded = []string{"--run-limit", "atoms=100000000", "--run-limit", "values=100000000000"}

// controlGroup makes a control group with a memory limit.
func controlGroup(t *testing.T, limit int64) string {
	t.Helper()
	const memory = "/sys/fs/cgroup/memory"          // the usual place of version 1
	group, err := os.MkdirTemp(memory, "ebb-test-") //nolint:usetesting // control groups live only there
	if err != nil {
		t.Skip("needs to make control groups of version 1: ", err)
	}
	t.Cleanup(func() {
		limit := time.Now().Add(10 * time.Second)
		for time.Now().Before(limit) { // until the last process is gone
			pids, err := os.ReadFile(filepath.Join(group, "cgroup.procs"))
			if err != nil {
				t.Error(err)
				return
			}
			if len(pids) == 0 {
				break
			}
			for text := range strings.FieldsSeq(string(pids)) {
				pid, err := strconv.Atoi(text)
				if err != nil {
					t.Error(err)
					return
				}
				awaitEnd(t, pid, limit)
			}
		}
		if err := os.Remove(group); err != nil {
			t.Error(err)
		}
	})
	if err := os.WriteFile(filepath.Join(group, "memory.limit_in_bytes"), []byte(strconv.FormatInt(limit, 10)), 0o600); err != nil {
		t.Skip("needs to set the limit of a control group: ", err)
	}
	return group
}

// TestNestedMapsBesideSleepers drives five nested Maps over 30 items beside ten runs that
// sleep. With a budget, set or that of a control group, the Maps are parked before the system
// kills the process. Without one the system kills it, and the Maps are parked by isolations. The
// sleepers succeed.
//
// Attack (Runs and processes that die): Five nested Maps over 30 items fill the memory beside ten sleeping runs.
// Result: The sleepers succeed. The process sets the Maps aside at its budget; without one, isolations find them.
// Also: `engine: TestMemoryBudget`.
func TestNestedMapsBesideSleepers(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	for name, c := range map[string]struct {
		limit int64 // of a control group
		flags []string
		code  string
		why   string
		died  int // at least
	}{
		"a budget that is set":    {0, []string{"--memory", "96MiB"}, atom.CodeLimit, "ebb --memory", 0},
		"that of a control group": {400 * mib, nil, atom.CodeLimit, "the memory budget of its process, 251658240 bytes, is used up", 0},
		"killed by the system":    {200 * mib, []string{"--memory", "off", "--max-lost", "1"}, atom.CodeLost, "the run kills the processes that drive it", 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := populated(t, "", nestedMaps(5), sleeper, thirty(t))
			p.flags = slices.Concat(c.flags, unbounded)
			if c.limit > 0 {
				p.group = controlGroup(t, c.limit)
			}
			run := p.serve(t, 5*time.Minute)
			p.judge(t, &run, c.code, c.why)
			if c.died == 0 && p.died > 0 || p.died < c.died {
				t.Errorf("%d processes died", p.died)
			}
		})
	}
}

// TestKillNineBesideInnocents drives a run that kills the process that drives it beside ten
// that do not: it is set aside, and these succeed.
//
// Attack (Runs and processes that die): A task sends SIGKILL to its process, beside ten harmless runs, on SQLite and
// PostgreSQL.
// Result: Its neighbors succeed.
func TestKillNineBesideInnocents(t *testing.T) {
	t.Parallel()
	const (
		kills = `{"StartAt": "Kill", "States": {"Kill": {"Type": "Task", "Resource": "exec:./kill.sh", "End": true}}}`
		works = `{"StartAt": "One", "States": {"One": {"Type": "Task", "Resource": "exec:./work.sh", "Next": "Rest"},
			"Rest": {"Type": "Wait", "Seconds": 1, "Next": "Two"}, "Two": {"Type": "Task", "Resource": "exec:./work.sh", "End": true}}}`
	)
	check := func(t *testing.T, dsn string) {
		t.Helper()
		p := populated(t, dsn, kills, works, map[string]any{})
		p.flags = []string{"--max-lost", "1"}
		run := p.serve(t, 5*time.Minute)
		p.judge(t, &run, atom.CodeLost, fmt.Sprintf("the run kills the processes that drive it: %d died", p.died))
	}
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		check(t, "")
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		check(t, migrated(t, postgrestest.DSN(t)))
	})
}

//go:build unix

package main

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// soakTime is how long the jobs of a soak are posted, such as 10m; without it there
// is a small one.
const soakTime = "EBB_SOAK_POSTGRES"

// soakItems is how many parts a run of the soak grows.
const soakItems = 4

// A soak is some conductors on a PostgreSQL that are killed, or stopped for longer
// than their lease, while jobs come in.
type soak struct {
	runs, conductors int
	lasts            time.Duration // in which the jobs are posted; 0 posts all at once
	lease            time.Duration
	pause            time.Duration // between two disturbances, on average

	dsn, file, journal string
	store              *sqlstore.Store
	admin              *pgx.Conn
	members            []*member
	kills, stops       int
	alone              time.Duration // the longest that a run had no living owner
}

// TestSoakPostgres kills and stops conductors. Every run ends as its script says, with each step done under its own
// key, and none is lost or stuck.
//
// Guarantee (G2): All attempts of a task carry the same key, also if processes are killed, stopped, or lose their
// database.
// Also: `conductor: TestPostgresRestarted`.
func TestSoakPostgres(t *testing.T) {
	t.Parallel()
	s := &soak{runs: 30, conductors: 2, lease: time.Second}
	if text := os.Getenv(soakTime); text != "" {
		lasts, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		s = &soak{runs: 10_000, conductors: 4, lasts: lasts, lease: 5 * time.Second, pause: 4 * time.Second}
	}
	s.open(t)
	for range s.conductors {
		s.recruit(t)
	}
	if s.lasts > 0 {
		s.long(t)
	} else {
		s.post(t, 0, s.runs)
		s.until(t, "all slots of a conductor are taken", func() bool { return s.lines() >= s.runs/2 })
		s.kill(t)
		s.halt(t)
	}
	began := time.Now()
	s.until(t, "all jobs end", func() bool {
		list, err := s.store.JobList(t.Context(), storage.JobQuery{States: []states.Job{states.JobUnclaimed, states.JobClaimed, states.JobScheduled}})
		if err != nil {
			t.Fatal(err)
		}
		return len(list) == 0
	})
	t.Logf("%d runs; %d conductors were killed, %d stopped for longer than their lease; all had ended %v after the last disturbance; "+
		"no run was without a living owner for longer than %v", s.runs, s.kills, s.stops, time.Since(began).Round(time.Millisecond), s.alone.Round(time.Millisecond))
	for _, m := range s.members {
		m.dismiss(t)
	}
	s.judge(t)
}

func (s *soak) open(t *testing.T) {
	t.Helper()
	plain := postgrestest.DSN(t)
	s.dsn = plain + "&lease=" + s.lease.String()
	if _, err := sqlstore.Migrate(t.Context(), s.dsn); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	s.journal = filepath.Join(dir, "journal")
	var err error
	if s.file, err = filepath.Abs("testdata/soak/mixed.asl.json"); err != nil {
		t.Fatal(err)
	}
	if s.store, err = sqlstore.Open(t.Context(), s.dsn); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.store.Close(); err != nil {
			t.Error(err)
		}
	})
	s.admin = postgrestest.Connect(t, plain)
}

func (s *soak) recruit(t *testing.T) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "serve", "--listen", "off", "--slots", "20", "--dir", filepath.Dir(s.file), s.file)
	cmd.Args[0] = "ebb"
	cmd.Dir = filepath.Dir(s.journal)
	cmd.Env = append(os.Environ(), "EBB_DSN="+s.dsn, "EBB_TEST_JOURNAL="+s.journal, "EBB_LOG_LEVEL=off")
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	m := &member{cmd, bufio.NewReader(said)}
	if first, err := m.said.ReadString('\n'); first != "ebb: serving\n" { // before that line the process does not handle signals
		t.Fatalf("it said %q (%v)", first, err)
	}
	s.members = append(s.members, m)
}

// dismiss lets a conductor drain.
func (m *member) dismiss(t *testing.T) {
	t.Helper()
	if err := m.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	if err := m.Wait(); err != nil {
		t.Errorf("it drained, and exited with %v", err)
	}
}

// post posts the jobs from one number to another.
func (s *soak) post(t *testing.T, from, to int) {
	t.Helper()
	board := jobs.New(s.store, jobs.Policy{})
	for i := from; i < to; i++ {
		kind, pay := soakKind(i)
		input := map[string]any{"kind": kind, "pay": pay}
		if kind == "grows" {
			input["items"] = make([]int, soakItems)
		}
		if _, err := board.Post(t.Context(), jobs.Job{ID: soakID(i), Flow: "mixed", Input: input}); err != nil {
			t.Fatal(err)
		}
	}
}

func soakID(i int) string { return fmt.Sprintf("j%05d", i) }

// soakKind returns the work of a run, and whether it is paid or fails.
func soakKind(i int) (kind, pay string) {
	return [...]string{"plain", "waits", "grows"}[i%3], [...]string{"well", "fail"}[i/3%2]
}

// long disturbs the conductors again and again while jobs come in.
func (s *soak) long(t *testing.T) {
	t.Helper()
	posted := 0
	next := time.Now()
	for began := time.Now(); posted < s.runs; {
		due := min(s.runs, int(float64(s.runs)*time.Since(began).Seconds()/s.lasts.Seconds()))
		s.post(t, posted, due)
		posted = due
		if time.Now().Before(next) {
			time.Sleep(50 * time.Millisecond)
			continue
		}
		if rand.IntN(3) == 0 {
			s.halt(t)
		} else {
			s.kill(t)
		}
		next = time.Now().Add(s.pause/2 + rand.N(s.pause))
	}
}

// take takes a conductor out of the list of those that are well.
func (s *soak) take() *member {
	i := rand.IntN(len(s.members))
	m := s.members[i]
	s.members = slices.Delete(s.members, i, i+1)
	return m
}

// kill kills a conductor, and starts another.
func (s *soak) kill(t *testing.T) {
	t.Helper()
	m := s.take()
	if err := m.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = m.Wait() // it was killed
	s.kills++
	s.orphans(t, m.Process.Pid)
	s.recruit(t)
}

// halt stops a conductor until others have taken over its runs, and then continues it.
func (s *soak) halt(t *testing.T) {
	t.Helper()
	m := s.take()
	if err := m.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	s.stops++
	s.orphans(t, m.Process.Pid)
	if err := m.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	s.members = append(s.members, m)
}

// orphans waits until the runs of a process have another owner, or need none, and
// measures how long that takes.
func (s *soak) orphans(t *testing.T, pid int) {
	t.Helper()
	began := time.Now()
	var owned []int64
	var fences []int64
	rows, err := s.admin.Query(t.Context(), `SELECT n, fence FROM runs WHERE owner IN (SELECT id FROM owners WHERE pid = $1)`, pid)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var n, fence int64
		if err := rows.Scan(&n, &fence); err != nil {
			t.Fatal(err)
		}
		owned, fences = append(owned, n), append(fences, fence)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	s.until(t, "others take over what a process had", func() bool {
		left := 0
		err := s.admin.QueryRow(t.Context(), `SELECT count(*) FROM runs r JOIN unnest($1::BIGINT[], $2::BIGINT[]) AS o (n, fence) USING (n)
WHERE r.fence = o.fence AND (r.owner <> '' OR r.due IS NOT NULL)`, owned, fences).Scan(&left)
		if err != nil {
			t.Fatal(err)
		}
		return left == 0
	})
	if len(owned) > 0 {
		s.alone = max(s.alone, time.Since(began))
	}
}

func (s *soak) until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for began := time.Now(); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Since(began) > 10*time.Minute {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// lines returns how many steps were begun.
func (s *soak) lines() int {
	text, _ := os.ReadFile(s.journal) // there is none before the first
	return strings.Count(string(text), "\n")
}

// judge compares what each run did with its script.
func (s *soak) judge(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(s.journal)
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]map[string]bool{} // of each run's step
	lines := 0
	for line := range strings.Lines(string(text)) {
		run, key, ok := strings.Cut(strings.TrimSpace(line), " ")
		step, key, whole := strings.Cut(key, " ")
		if !ok || !whole {
			t.Fatalf("the journal has a line %q", line)
		}
		if keys[run+" "+step] == nil {
			keys[run+" "+step] = map[string]bool{}
		}
		keys[run+" "+step][key] = true
		lines++
	}
	ends := map[states.Flow]int{}
	done := 0
	for i := range s.runs {
		id := soakID(i)
		run, err := s.store.Run(context.WithoutCancel(t.Context()), id)
		if err != nil {
			t.Fatal(err)
		}
		ends[run.State]++
		kind, pay := soakKind(i)
		want := map[string]int{"Book": 1, "Pay": 1}
		if kind == "grows" {
			want["Pack"] = soakItems
		}
		end := states.FlowSuccess
		if pay == "fail" {
			end, want["Unbook"], want["Unpack"] = states.FlowReverted, 1, want["Pack"]
		}
		if run.State != end || run.Owner != "" {
			t.Errorf("%s, which %s and is to be paid %s, is %v of owner %q, want %v", id, kind, pay, run.State, run.Owner, end)
		}
		for _, step := range []string{"Book", "Pay", "Pack", "Unbook", "Unpack"} {
			got := len(keys[id+" "+step])
			done += got
			if got != want[step] {
				t.Errorf("%s, which %s and is to be paid %s, did %s under %d keys, want %d", id, kind, pay, step, got, want[step])
			}
		}
	}
	t.Logf("ends: %v; %d steps, done %d times", ends, done, lines)
}

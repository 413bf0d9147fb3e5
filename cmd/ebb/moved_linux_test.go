package main

import (
	"bytes"
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestMovedWhileServing moves or replaces the database of a server that has nothing to do. The server ends with 7, and
// writes neither to the file that has the name now, nor to one that another process uses by its new name. What was
// acknowledged is in the file that was moved.
//
// Attack (Files): The database of an idle `ebb serve`, or a link to it, is moved, deleted or replaced; jobs are posted to
// the moved file.
// Result: The server ends with 7 and damages no file. In the same folder, posting is refused until it has ended.
func TestMovedWhileServing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		move func(w *movedWorld)
		to   string // where the file is then; "" if it is gone
		used int    // exit status of a command that uses it before the server can notice; -1 for none
	}{
		"moved":               {func(w *movedWorld) { w.rename("data/ebb.db", "data/moved.db") }, "data/moved.db", 7},
		"moved elsewhere":     {func(w *movedWorld) { w.rename("data/ebb.db", "moved.db") }, "moved.db", 0},
		"moved, and not used": {func(w *movedWorld) { w.rename("data/ebb.db", "moved.db") }, "moved.db", -1},
		"replaced":            {func(w *movedWorld) { w.rename("copy.db", "data/ebb.db") }, "data/ebb.db", 7},
		"moved and replaced":  {func(w *movedWorld) { w.rename("data/ebb.db", "old.db"); w.rename("copy.db", "data/ebb.db") }, "old.db", -1},
		"deleted":             {func(w *movedWorld) { w.do(os.Remove(w.path("data/ebb.db"))) }, "", -1},
		"its log deleted":     {func(w *movedWorld) { w.do(os.Remove(w.path("data/ebb.db-wal"))) }, "", -1},
		"its index deleted":   {func(w *movedWorld) { w.do(os.Remove(w.path("data/ebb.db-shm"))) }, "", -1},
		"its folder moved":    {func(w *movedWorld) { w.rename("data", "other") }, "other/ebb.db", -1},
		"a link leads to another": {func(w *movedWorld) {
			w.do(os.Symlink("copy.db", w.path("next")))
			w.rename("next", "link.db")
		}, "data/ebb.db", -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newMovedWorld(t)
			server, _ := w.serves(t, w.path("pass.asl.json"))
			w.post(0, w.db, "before")
			w.run("run", w.path("pass.asl.json"), "--id", "before") // waits for the end
			w.stop(server.Process)
			c.move(w)
			if c.used >= 0 {
				w.post(c.used, w.path(c.to), "after")
			}
			copied, _ := os.ReadFile(w.path("copy.db")) // unless it has the name
			w.do(server.Process.Signal(syscall.SIGCONT))
			if w.exits(server.Wait()) != 7 {
				t.Errorf("the server: %v", server.ProcessState)
			}
			if now, _ := os.ReadFile(w.path("copy.db")); !bytes.Equal(now, copied) {
				t.Error("the copy was changed")
			}
			if c.to == "" {
				return
			}
			w.post(0, w.path(c.to), "later")
			want := []string{"later"}
			if name != "replaced" && c.used != 0 {
				want = append(want, "before")
			}
			if c.used == 0 {
				want = append(want, "after")
			}
			w.holds(w.path(c.to), want...)
		})
	}
}

// A movedWorld is a database that a server is to serve, and a copy of it.
type movedWorld struct {
	*testing.T
	*victim
}

func newMovedWorld(t *testing.T) *movedWorld {
	t.Helper()
	w := &movedWorld{t, newVictim(t, "")}
	w.do(os.Mkdir(w.path("data"), 0o700))
	w.do(os.Symlink("data/ebb.db", w.path("link.db")))
	w.do(os.WriteFile(w.path("pass.asl.json"), []byte(`{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}`), 0o600))
	w.db = w.path("link.db")
	w.post(0, w.db, "first")
	if _, status := w.run("backup", w.path("copy.db")); status != 0 {
		t.Fatal("there is no copy")
	}
	return w
}

func (w *movedWorld) path(name string) string { return filepath.Join(w.dir, name) }

func (w *movedWorld) rename(from, to string) { w.do(os.Rename(w.path(from), w.path(to))) }

// stop stops a process, and waits until all its threads have stopped: else it may still notice what happens next.
func (w *movedWorld) stop(p *os.Process) {
	w.Helper()
	w.do(p.Signal(syscall.SIGSTOP))
	_, err := syscall.Wait4(p.Pid, nil, syscall.WUNTRACED, nil)
	w.do(err)
}

func (w *movedWorld) do(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *movedWorld) run(args ...string) (string, int) {
	out, err := w.ebb("", args...).CombinedOutput()
	return string(out), w.exits(err)
}

func (w *movedWorld) exits(err error) int {
	w.Helper()
	if failed, is := err.(*exec.ExitError); is { //nolint:errorlint // it is not wrapped
		return failed.ExitCode()
	}
	w.do(err)
	return 0
}

// post posts a job, with this exit status.
func (w *movedWorld) post(want int, db, id string) {
	w.Helper()
	if out, status := w.run("post", w.path("pass.asl.json"), "--id", id, "--dsn", "sqlite:"+db); status != want {
		w.Errorf("post %s ends with %d, want %d: %s", id, status, want, out)
	}
}

// holds fails the test unless a database is whole and has these jobs, of which before has ended.
func (w *movedWorld) holds(db string, ids ...string) {
	w.Helper()
	s, err := sqlstore.Open(w.Context(), db)
	w.do(err)
	for _, id := range ids {
		if job, err := s.Job(w.Context(), id); err != nil || (job.State == states.JobComplete) != (id == "before") {
			w.Errorf("%s is %v (%v)", id, job.State, err)
		}
	}
	if jobs, err := s.JobList(w.Context(), storage.JobQuery{}); err != nil || len(jobs) < len(ids) {
		w.Errorf("there are %d jobs (%v)", len(jobs), err)
	}
	w.do(s.Close())
	raw, err := sql.Open("sqlite", db)
	w.do(err)
	defer func() { w.do(raw.Close()) }()
	verdict := ""
	if err := raw.QueryRowContext(w.Context(), "PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		w.Errorf("the file is damaged: %s (%v)", verdict, err)
	}
}

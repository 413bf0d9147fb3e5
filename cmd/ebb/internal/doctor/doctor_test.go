package doctor

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/conductor"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow/swf"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// A patient is a database with a fault that exists before the doctor looks.
type patient struct{ dsn string }

// diagnosed returns the doctor's finding for each check, and its error.
func (p *patient) diagnosed(t *testing.T) (map[string]Finding, error) {
	t.Helper()
	all := map[string]Finding{}
	s := session.New(nil, io.Discard, io.Discard)
	s.DSN = p.dsn
	err := Examine(t.Context(), s, func(f *Finding) error {
		all[f.Check] = *f
		return nil
	})
	return all, err
}

func (p *patient) open(t *testing.T) *sqlstore.Store {
	t.Helper()
	s, err := sqlstore.Open(context.Background(), p.dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// execute runs statements in the file.
func (p *patient) execute(t *testing.T, statements string) {
	t.Helper()
	db, err := sql.Open("sqlite", strings.TrimPrefix(p.dsn, "sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), statements); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// mode sets the permissions of the database file.
func (p *patient) mode(t *testing.T, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(strings.TrimPrefix(p.dsn, "sqlite:"), mode); err != nil {
		t.Fatal(err)
	}
}

// records writes some named records.
func (p *patient) records(t *testing.T) {
	t.Helper()
	if _, err := p.open(t).WriteRecords(t.Context(),
		storage.RecordWrite{Kind: "sfn.machine", Key: "trip", Body: atom.MustEncode("one")},
		storage.RecordWrite{Kind: "sfn.machine", Key: "tour", Body: atom.MustEncode("two")},
		storage.RecordWrite{Kind: "sfn.alias", Key: "trip:live"}); err != nil {
		t.Fatal(err)
	}
}

// execution makes an open execution of Amazon SWF with four events.
func (p *patient) execution(t *testing.T) {
	t.Helper()
	store := p.open(t)
	driven, err := conductor.New(jobs.New(store, jobs.Policy{}), conductor.NewCatalog().Add(1, swf.New(swf.Settings{}).Flow()), engine.WithDrain(0))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	over := make(chan error)
	go func() { over <- driven.Run(ctx) }()
	s := swf.Start{Domain: "d", WorkflowID: "w", Type: swf.Type{Name: "t", Version: "1"}, Configuration: swf.Configuration{
		TaskList: &swf.TaskList{Name: "l"}, TaskStartToCloseTimeout: "60", ExecutionStartToCloseTimeout: "3000", ChildPolicy: swf.PolicyTerminate,
	}}
	run := s.Run("17", nil)
	if err := driven.Start(ctx, run.ID, conductor.Ref{Flow: run.Flow}, engine.Attributes(run.Attributes), engine.Key(run.Key)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		signal := atom.MustEncode(swf.Signal{SignalName: "s"})
		if _, err := driven.Call(ctx, run.ID, swf.CallSignal, signal); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	if err := <-over; err != nil {
		t.Fatal(err)
	}
}

// grown makes a run that has grown so much in a minute.
func (p *patient) grown(t *testing.T, id string, g storage.Growth) {
	t.Helper()
	claim, _, err := backend.ClaimNew(storage.Run{ID: id, Flow: "f", Created: ago(time.Minute)})
	if err != nil {
		t.Fatal(err)
	}
	began := ago(time.Minute)
	head := backend.Head{State: states.FlowRunning, Growth: g, Started: began, Time: began.Add(time.Minute)}
	if err := p.open(t).Commit(t.Context(), claim, &backend.Checkpoint{Head: head}); err != nil {
		t.Fatal(err)
	}
}

// queued makes a run that has waited for a worker of a queue for an hour.
func (p *patient) queued(t *testing.T, id, queue string) {
	t.Helper()
	claim, _, err := backend.ClaimNew(storage.Run{ID: id, Flow: "f", Created: ago(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	cp := backend.Checkpoint{
		Head:   backend.Head{State: states.FlowRunning, Started: ago(time.Hour), Time: ago(time.Hour), Release: true},
		Atoms:  []storage.Atom{{Path: "Work", State: states.TaskRunning, Live: true, Attempt: 1, StartedAt: ago(time.Hour)}},
		Tokens: []storage.Token{{ID: "w", Run: id, Path: "Work", Queue: queue, Attempt: 1}},
	}
	if err := p.open(t).Commit(t.Context(), claim, &cp); err != nil {
		t.Fatal(err)
	}
}

func ago(d time.Duration) time.Time { return time.Now().Add(-d) }

// TestDoctor breaks one thing after the other; the doctor says which, and finds
// nothing else.
//
// Attack (Files): A user who may read an older Ebb's database locks a byte of its `-shm`.
// Result: Open: writers stop for 15 s each time. `ebb doctor` warns of such modes.
//
// Attack (Files): Hard links: the database is opened under two names.
// Result: Open; `ebb doctor` finds it.
func TestDoctor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		broken func(t *testing.T, p *patient)
		check  string // "" is nothing
		state  string
		says   string
		do     string
	}{
		{"nothing", func(t *testing.T, p *patient) { t.Helper(); p.open(t) }, "", "", "", ""},
		{"put back", func(t *testing.T, p *patient) {
			t.Helper()
			r := storage.Run{ID: "r", Flow: "f", Created: time.Now().Add(time.Hour)}
			if err := p.open(t).Create(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}, "past", Wrong, "run r has changed at ", "why the clock was put back"},
		{"records", func(t *testing.T, p *patient) {
			t.Helper()
			p.records(t)
		}, "records", OK, "3 named records of 2 kinds can be read", ""},
		{"damaged records", func(t *testing.T, p *patient) {
			t.Helper()
			p.records(t)
			p.execute(t, `UPDATE records SET body = substr(body, 1, length(body) - 1) WHERE kind = 'sfn.machine'`)
		}, "records", Wrong, `2 named records of 3 cannot be read, such as "tour" of kind "sfn.machine"`, "restore the database"},
		{"damaged row", func(t *testing.T, p *patient) {
			t.Helper()
			p.records(t)
			if err := p.open(t).SetLimit(t.Context(), storage.Limit{Flow: "trip", Runs: 3}); err != nil {
				t.Fatal(err)
			}
			p.execute(t, `UPDATE limits SET runs = 'many'`)
		}, "rows", Wrong, `1 row cannot be read, such as limit flow=trip`, "restore a backup"},
		{"stray key", func(t *testing.T, p *patient) {
			t.Helper()
			if err := p.open(t).Create(t.Context(), storage.Run{ID: "r", Flow: "f", Key: "order-17"}); err != nil {
				t.Fatal(err)
			}
			p.execute(t, `UPDATE runs SET state = 4, ended = created`)
		}, "keys", Wrong, `1 key held by no open run, such as "order-17"`, "ebb doctor --repair"},
		{"executions", func(t *testing.T, p *patient) {
			t.Helper()
			p.execution(t)
		}, "executions", OK, "1 execution of Amazon SWF as their events say", ""},
		{"event lost", func(t *testing.T, p *patient) {
			t.Helper()
			p.execution(t)
			p.execute(t, `UPDATE runs SET events = events + 1`)
		}, "executions", Wrong, "it has 4 events, and its row says 5", "ebb cancel"},
		{"task lost", func(t *testing.T, p *patient) {
			t.Helper()
			p.execution(t)
			p.execute(t, `DELETE FROM tokens`)
		}, "executions", Wrong, "workers can have 0 decision tasks", "ebb cancel"},
		{"key lost", func(t *testing.T, p *patient) {
			t.Helper()
			p.execution(t)
			p.execute(t, `DELETE FROM open_keys`)
		}, "executions", Wrong, "it does not hold its key swf/d/w", "restore the database"},
		{"records of tomorrow", func(t *testing.T, p *patient) {
			t.Helper()
			p.records(t)
			p.execute(t, `UPDATE records SET updated = updated + 86400000000 WHERE key = 'trip:live'`)
		}, "records", Warning, `written at a time which has not come yet: 1 named record, such as "trip:live"`, "clock was put back"},
		{"readable", func(t *testing.T, p *patient) {
			t.Helper()
			p.open(t)
			p.mode(t, 0o644)
		}, "files", Warning, "users who may not write the database may read it (mode 0644)", "chmod 600 "},
		{"writable", func(t *testing.T, p *patient) {
			t.Helper()
			p.open(t)
			p.mode(t, 0o666)
		}, "files", Wrong, "every user of this machine may change or replace the database (mode 0666", "chmod o-w "},
		{"two names", func(t *testing.T, p *patient) {
			t.Helper()
			p.open(t)
			file := strings.TrimPrefix(p.dsn, "sqlite:")
			if err := os.Link(file, file+".too"); err != nil {
				t.Fatal(err)
			}
		}, "files", Wrong, "the file has 2 names", "delete the other names"},
		{"runs", func(t *testing.T, p *patient) {
			t.Helper()
			s := p.open(t)
			for id, due := range map[string]time.Duration{"old": time.Hour, "older": 2 * time.Hour, "new": -time.Hour} {
				r := storage.Run{ID: id, Flow: "trip", Definition: "d", Created: ago(3 * time.Hour), Due: ago(due), Labels: map[string]string{"needs.gpu": "a100", "team": "x"}}
				if err := s.Create(t.Context(), r); err != nil {
					t.Fatal(err)
				}
			}
		}, "runs", Warning, "2 runs wait for a process: older of flow trip for the longest, since", "--offer"},
		{"nobody", func(t *testing.T, p *patient) {
			t.Helper()
			s, err := sqlstore.Open(t.Context(), p.dsn)
			if err != nil {
				t.Fatal(err)
			}
			r := storage.Run{ID: "old", Flow: "trip", Definition: "d", Created: ago(time.Hour), Due: ago(time.Hour)}
			if err := errors.Join(s.Create(t.Context(), r), s.Close()); err != nil {
				t.Fatal(err)
			}
		}, "runs", Warning, "1 run waits", "ebb serve"},
		{"a flow in Go", func(t *testing.T, p *patient) {
			t.Helper()
			r := storage.Run{ID: "old", Flow: "trip", Created: ago(time.Hour), Due: ago(time.Hour)}
			if err := p.open(t).Create(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}, "runs", Warning, "1 run waits", "start the program that has the flow trip"},
		{"growth", func(t *testing.T, p *patient) {
			t.Helper()
			p.grown(t, "r", storage.Growth{Iterations: 90_000_000, Waited: 89_999_999, Bytes: 12 * view.Mebibyte})
			p.grown(t, "larger", storage.Growth{Bytes: 20 * view.Mebibyte})
		}, "growth", Warning, "larger of flow f has written 20.0 MiB in 0 lines of history; r of flow f has written 12.0 MiB in 0 lines of history, " +
			"and is at 90000000 of at most 100000000 iterations", "ebb cancel"},
		{"no growth", func(t *testing.T, p *patient) {
			t.Helper()
			p.grown(t, "r", storage.Growth{Bytes: view.Mebibyte - 1})
		}, "growth", OK, "no run has written 1 MiB or more", ""},
		{"unasked work", func(t *testing.T, p *patient) {
			t.Helper()
			p.queued(t, "r", "gpu")
		}, "queues", Warning, `1 run waits for workers of "gpu"; no worker asks for it, since `, "start a worker"},
		{"asked work", func(t *testing.T, p *patient) {
			t.Helper()
			p.queued(t, "r", "gpu")
			store := p.open(t)
			presence := engine.Presence{Owner: store.Owner().ID, Pollers: []storage.Poller{{Queue: "gpu", Workers: []string{"box"}}}}
			record := storage.RecordWrite{Kind: engine.PresenceRecords, Key: "k", Body: atom.MustEncode(presence)}
			if _, err := store.WriteRecords(t.Context(), record); err != nil {
				t.Fatal(err)
			}
		}, "queues", OK, "no work waits for workers that do not ask for it", ""},
		{"fast growth", func(t *testing.T, p *patient) {
			t.Helper()
			p.grown(t, "r", storage.Growth{Bytes: 1200 * view.Mebibyte})
		}, "growth", Warning, "and grows by 20.0 MiB a second", "--run-limit"},
		{"slow growth", func(t *testing.T, p *patient) {
			t.Helper()
			p.grown(t, "r", storage.Growth{Iterations: 79_000_000, Waited: 79_000_000, Bytes: 50 * view.Mebibyte})
		}, "growth", OK, "r of flow f has written 50.0 MiB", ""},
		{"jobs", func(t *testing.T, p *patient) {
			t.Helper()
			s := p.open(t)
			err := errors.Join(
				s.PostJob(t.Context(), storage.Job{ID: "new", Flow: "trip", Created: time.Now().Add(time.Hour)}),
				s.PostJob(t.Context(), storage.Job{ID: "old", Flow: "trip", Created: ago(time.Hour)}),
			)
			if err != nil {
				t.Fatal(err)
			}
		}, "jobs", Warning, "1 job waits to be claimed: old of flow trip is the next, since", "start the program that has the flow trip"},
		{"parked", func(t *testing.T, p *patient) {
			t.Helper()
			s := p.open(t)
			if err := s.PostJob(t.Context(), storage.Job{ID: "j", Flow: "trip"}); err != nil {
				t.Fatal(err)
			}
			list, err := s.ClaimJobs(t.Context(), backend.JobClaim{Lease: time.Hour})
			if err != nil || len(list) != 1 {
				t.Fatal(list, err)
			}
			end := backend.JobEnd{Job: "j", Epoch: list[0].Epoch, ClaimID: list[0].ClaimID, State: states.JobParked, Failure: &atom.Failure{Code: "C"}}
			if err := s.EndJob(t.Context(), end); err != nil {
				t.Fatal(err)
			}
		}, "parked jobs", Warning, "1 job waits for an operator to decide, such as j", "ebb jobs"},
		{"undo failed", func(t *testing.T, p *patient) {
			t.Helper()
			claim, _, err := backend.ClaimNew(storage.Run{ID: "r", Flow: "f"})
			if err != nil {
				t.Fatal(err)
			}
			head := backend.Head{
				State: states.FlowFailure, Outcome: storage.FailedOutcome, Undo: storage.UndoFailed,
				Failure: &atom.Failure{Code: "C"}, Started: ago(time.Hour), Ended: ago(time.Minute), Release: true,
			}
			out := []storage.Outgoing{{ID: "m", Target: "t", Body: atom.MustEncode(1)}}
			if err := p.open(t).Commit(t.Context(), claim, &backend.Checkpoint{Head: head, Outbox: out}); err != nil {
				t.Fatal(err)
			}
		}, "need a person", Warning, "1 run: their undo failed, or they were set aside, such as r of flow f", "ebb why"},
		{"parked messages", func(t *testing.T, p *patient) {
			t.Helper()
			claim, _, err := backend.ClaimNew(storage.Run{ID: "r", Flow: "f"})
			if err != nil {
				t.Fatal(err)
			}
			out := []storage.Outgoing{{ID: "m", Target: "t", Body: atom.MustEncode(1), Parked: true, Error: "no"}}
			if err := p.open(t).Commit(t.Context(), claim, &backend.Checkpoint{
				Head: backend.Head{State: states.FlowRunning, Started: ago(time.Minute)}, Outbox: out,
			}); err != nil {
				t.Fatal(err)
			}
		}, "parked messages", Warning, "1 message to other systems failed too often, such as of run r", "ebb retry --messages"},
		{"schedules", func(t *testing.T, p *patient) {
			t.Helper()
			if err := p.open(t).PutSchedule(t.Context(), backend.Schedule{ID: "nightly", Spec: "@daily", Flow: "f", Next: ago(time.Hour)}); err != nil {
				t.Fatal(err)
			}
		}, "schedules", Warning, "1 schedule late, such as nightly: it should have ticked at ", "serve"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := &patient{dsn: "sqlite:" + filepath.Join(t.TempDir(), "ebb.db")}
			c.broken(t, p)
			p.finds(t, c.check, c.state, c.says, c.do)
		})
	}
}

// finds wants one thing to be found, and nothing else.
func (p *patient) finds(t *testing.T, check, state, says, do string) {
	t.Helper()
	all, err := p.diagnosed(t)
	if status := exit.Of(err); (status == exit.Failure) != (state == Wrong) || err != nil && status != exit.Failure {
		t.Errorf("it ended with %v", err)
	}
	if len(all) < 3 {
		t.Errorf("it says no more than %+v", all)
	}
	for name, f := range all {
		switch {
		case name == check && (f.State != state || !strings.Contains(f.Says, says) || !strings.Contains(f.Do, do)):
			t.Errorf("it says %+v, want %s that says %q and %q", f, state, says, do)
		case name != check && f.State != OK:
			t.Errorf("it also finds %+v", f)
		}
	}
	if _, found := all[check]; check != "" && !found {
		t.Errorf("it does not say anything of %s: %+v", check, all)
	}
}

package sqlstore_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// notDamaged are columns of which a damaged row concerns all others, and why that cannot be helped.
var notDamaged = map[string]string{
	"messages.arrival=9223372036854775807": "the numbers of messages rise, and this is the last one",
	"record_revisions.last":                "the only row: no record may get a revision that another one had",
}

// TestBadTables writes into each column of each table, for a row of the run bad, what does not belong there. All that
// concerns the run good is read and done as before, also by a process that starts then.
//
// Guarantee (G8): A damaged row, of whatever table, stops only its own run, and no list, loop or start.
func TestBadTables(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		file := filepath.Join(t.TempDir(), "runs.db")
		s := open(t, file)
		fillBadAndGood(t, s)
		columns := columnsOf(t, raw(t, file), `SELECT m.name, p.name, p.type FROM sqlite_schema m, pragma_table_info(m.name) p
WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'`)
		db := raw(t, file)
		if _, err := db.ExecContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
			t.Fatal(err)
		}
		shut(t, s)
		image, err := os.ReadFile(file)
		must(t, err)
		rng, values := dice(t), []string{`x'ff00'`, `'damaged'`, `9223372036854775807`, `-9223372036854775808`}
		for _, at := range columns {
			rng.Shuffle(len(values), func(i, k int) { values[i], values[k] = values[k], values[i] })
			for _, value := range values[:min(crashes(1), len(values))] {
				if notDamaged[at.String()+"="+value] != "" {
					continue
				}
				t.Run(at.String()+"="+value, func(t *testing.T) {
					t.Parallel()
					file := filepath.Join(t.TempDir(), "runs.db")
					must(t, os.WriteFile(file, image, 0o600))
					db := raw(t, file)
					damageColumn(t, at, value, func(query string) (int64, error) {
						res, err := db.ExecContext(t.Context(), query)
						if err != nil {
							return 0, err
						}
						return res.RowsAffected()
					})
					s, err := sqlstore.Open(t.Context(), file)
					must(t, err)
					othersWork(t, s)
					shut(t, s)
				})
			}
		}
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		dsn := postgrestest.DSN(t)
		_, err := sqlstore.Migrate(t.Context(), dsn)
		must(t, err)
		s := openServer(t, dsn)
		fillBadAndGood(t, s)
		for _, at := range badRowsOnServer {
			postgrestest.Exec(t, dsn, `UPDATE `+at[0]+` SET `+at[1]+` WHERE `+badRows[at[0]])
		}
		othersWork(t, s)
		shut(t, s)
	})
}

// badRowsOnServer are values that the columns' types allow.
var badRowsOnServer = [][2]string{
	{"runs", `failure = 'x', state = 3000`},
	{"jobs", `labels = '[', state = 77`},
	{"schedules", `labels = '['`},
	{"audit", `line = '\xff'`},
	{"atoms", `record = '\xff'`},
	{"settled", `record = '\xff'`},
	{"history", `entries = '\xff'`},
	{"timers", `kind = 3000`},
	{"tokens", `state = 3000`},
	{"messages", `failure = '\xff'`},
	{"buckets", `labels = '['`},
}

type column struct{ table, name, kind string }

func (c column) String() string { return c.table + "." + c.name }

func columnsOf(t *testing.T, db *sql.DB, query string) (all []column) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	must(t, err)
	defer func() { must(t, rows.Close()) }()
	for rows.Next() {
		var c column
		must(t, rows.Scan(&c.table, &c.name, &c.kind))
		if notDamaged[c.String()] == "" {
			all = append(all, c)
		}
	}
	must(t, rows.Err())
	return all
}

// badRows selects the rows of the run bad in each table.
var badRows = func() map[string]string {
	const ofRun = `run = (SELECT n FROM origins WHERE id = 'bad')`
	all := map[string]string{
		"runs": `n = (SELECT n FROM origins WHERE id = 'bad')`, "origins": `id = 'bad'`, "limits": `flow = 'bad'`,
		"buckets": `flow = 'bad'`, "rated": `flow = 'bad'`, "families": `root = 'bad'`, "outbox": `run = 'bad'`,
		"jobs": `id = 'bad'`, "schedules": `id = 'bad'`, "owners": `id = 'bad'`, "definitions": `name = 'bad'`,
		"records": `key = 'bad'`, "audit": `subject = 'job bad'`,
	}
	for _, table := range []string{
		"labels", "atoms", "settled", "undo", "history", "payloads", "timers", "tokens", "messages", "message_keys",
		"transactions", "open_keys",
	} {
		all[table] = ofRun
	}
	return all
}()

// damageColumn writes a value into a column of the bad row of its table.
func damageColumn(t *testing.T, at column, value string, exec func(query string) (int64, error)) {
	t.Helper()
	where := badRows[at.table]
	if where == "" {
		t.Fatalf("the table %s is new: add a row of bad to fillBadAndGood and to badRows", at.table)
	}
	changed, err := exec(fmt.Sprintf(`UPDATE %s SET %s = %s WHERE %s`, at.table, at.name, value, where))
	switch {
	case err != nil && (strings.Contains(err.Error(), "UNIQUE") || strings.Contains(err.Error(), "datatype mismatch") ||
		strings.Contains(err.Error(), "generated column")):
		t.Skip(err) // the database refuses it
	case err != nil:
		t.Fatal(err)
	case changed == 0:
		t.Fatalf("no row of %s is bad's", at.table)
	}
}

// fillBadAndGood writes rows of bad and of good into every table.
func fillBadAndGood(t *testing.T, s *sqlstore.Store) {
	t.Helper()
	ctx, past := t.Context(), time.Now().Add(-time.Hour)
	for _, id := range []string{"bad", "good"} {
		must(t, s.SetLimit(ctx, storage.Limit{Flow: id, Runs: 3, Rate: 5, Per: time.Hour}))
		_, err := s.PutDefinition(ctx, storage.Definition{Hash: id, Name: id, Language: "asl", Text: []byte("{}")})
		must(t, err)
		must(t, s.Create(ctx, storage.Run{
			ID: id, Flow: id, Definition: id, Structure: "x", Labels: map[string]string{"who": "me"}, Key: id, Created: past, Due: past,
		}))
		must(t, s.Send(ctx, storage.Message{Run: id, Kind: "signal", Name: "go", Key: "k"}))
		claim, snap, err := s.Begin(ctx, id)
		must(t, err)
		_, err = s.Transact(ctx, claim, "k", func(*sql.Tx) (atom.Value, error) { return atom.MustEncode("sent"), nil })
		must(t, err)
		cp := &backend.Checkpoint{
			Head:     backend.Head{State: states.FlowRunning, Started: past, Time: past, Entries: 10, Refs: 1, Due: past},
			Payloads: []backend.Payload{{Ref: 1, Data: big(id)}},
			Push:     []storage.Undo{{N: 1, Path: "A"}},
			Timers:   []storage.TimerRow{{Path: "W", Kind: storage.TimerWait, Incarnation: 1, Due: past}},
			Tokens:   []storage.Token{{ID: id, Path: "T", Queue: "queue", Since: past, Work: atom.MustEncode("work")}},
			Outbox:   []storage.Outgoing{{ID: id, Target: "bus", Body: atom.MustEncode("hello")}},
			Children: []storage.Run{{ID: id + "/child", Flow: "child", Parent: id, Root: id, Depth: 1, Created: past}},
		}
		for i := range 10 { // too large for the run's row
			text := atom.MustEncode(strings.Repeat("x", 4000))
			cp.Atoms = append(cp.Atoms, storage.Atom{
				Path: fmt.Sprint("A", i), State: states.TaskSuccess, Live: i%2 == 0, Result: storage.Held{Data: text},
			})
			cp.History = append(cp.History, storage.Entry{
				Seq: int64(i + 1), Kind: storage.EntryAtom, Path: fmt.Sprint("A", i), Time: past, Body: storage.Held{Data: text},
			})
		}
		must(t, s.Commit(ctx, claim, cp))
		must(t, s.Release(ctx, claim, snap.Run.Wakeups, past))
		must(t, s.PostJob(ctx, storage.Job{ID: id + "/counted", Flow: id}))
		jobs, err := s.ClaimJobs(ctx, backend.JobClaim{Flows: []string{id}, Limit: 1})
		must(t, err)
		if len(jobs) != 1 {
			t.Fatal("not claimed")
		}
		must(t, s.PostJob(ctx, storage.Job{ID: id, Flow: id, Labels: map[string]string{"a": "b"}}))
		must(t, s.PutSchedule(ctx, backend.Schedule{ID: id, Spec: "@daily", Flow: "f", Next: past}))
		_, err = s.WriteRecords(ctx, storage.RecordWrite{Kind: "kind", Key: id, Body: atom.MustEncode(1)})
		must(t, err)
		must(t, s.WriteAudit(ctx, backend.AuditLine{Subject: "job " + id, Entry: storage.Entry{
			Kind: storage.EntryCommand, Type: "post", Time: past, Issuer: &storage.Issuer{Via: "test", Name: "me"},
		}}))
	}
	must(t, sqlstore.Register(ctx, s, "bad"))
}

// othersWork checks that all that concerns the run good can be read and done.
func othersWork(t *testing.T, s *sqlstore.Store) {
	t.Helper()
	ctx := t.Context()
	has := func(what string, ids []string, err error) {
		t.Helper()
		if err != nil || !slices.ContainsFunc(ids, func(id string) bool { return strings.Contains(id, "good") }) {
			t.Errorf("%s: %q, %v", what, ids, err)
		}
	}
	ok := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	var ids []string
	var runs []storage.Run
	var failed error
	for run, err := range storage.EachRun(ctx, s, storage.RunQuery{}) {
		if failed = errors.Join(failed, err); len(ids) > 100 {
			t.Fatal("the list does not end")
		}
		ids, runs = append(ids, run.ID), append(runs, run)
	}
	has("Runs", ids, failed)
	_, _, err := s.InProgress(ctx, runs, 1000)
	ok("InProgress", err)
	for _, q := range []storage.RunQuery{
		{Flow: "good"}, {Labels: map[string]string{"who": "me"}}, {States: []states.Flow{states.FlowRunning}}, {Limit: 1, Order: storage.ByEnded},
	} {
		_, err := s.Runs(ctx, q)
		ok(fmt.Sprintf("Runs of %+v", q), err)
		_, err = s.CountRuns(ctx, q)
		ok(fmt.Sprintf("CountRuns of %+v", q), err)
		_, err = s.Tally(ctx, q, backend.TallyQuery{})
		ok(fmt.Sprintf("Tally of %+v", q), err)
	}
	labeled, err := s.Labeled(ctx, "me", "who")
	has("Labeled", labeled["who"], err)
	ids = nil
	for job, err := range backend.EachJob(ctx, s, storage.JobQuery{}) {
		ok("JobList", err)
		ids = append(ids, job.ID)
	}
	has("JobList", ids, nil)
	_, err = s.JobCounts(ctx)
	ok("JobCounts", err)
	has("Schedules", collect(t, backend.EachSchedule(ctx, s, backend.ScheduleQuery{}), func(v *backend.Schedule) string { return v.ID }), nil)
	definitions, err := s.Definitions(ctx, backend.DefinitionQuery{})
	has("Definitions", texts(definitions), err)
	has("NamedRecords", collect(t, storage.EachRecord(ctx, s, storage.RecordQuery{Kind: "kind"}), func(v *storage.NamedRecord) string { return v.Key }), nil)
	limits, err := s.Limits(ctx)
	has("Limits", texts(limits), err)
	audit, err := s.Audit(ctx, backend.AuditQuery{})
	has("Audit", texts(audit), err)
	outbox, err := s.Outgoing(ctx, s.Now(), 0)
	has("Outgoing", texts(outbox), err)
	_, err = s.ParkedMessages(ctx, 0)
	ok("ParkedMessages", err)
	_, err = s.Status(ctx)
	ok("Status", err)
	_, err = s.Owners(ctx)
	ok("Owners", err)
	_, err = s.Largest(ctx, 5)
	ok("Largest", err)
	_, err = s.StrayKeys(ctx, 0)
	ok("StrayKeys", err)
	_, err = s.RecordKinds(ctx)
	ok("RecordKinds", err)
	_, _, err = s.RunsWithMessages(ctx, 0)
	ok("RunsWithMessages", err)
	due, _, err := s.Due(ctx, backend.DueQuery{By: s.Now()})
	ids = nil
	for i := range due {
		ids = append(ids, due[i].Run)
		if due[i].Run == "good" {
			ok("Due", due[i].Err)
		}
	}
	has("Due", ids, err)
	ticks, _, _, err := s.DueSchedules(ctx, backend.Schedule{}, 0)
	has("DueSchedules", texts(ticks), err)
	claimed, err := s.ClaimJobs(ctx, backend.JobClaim{Lease: time.Hour, Limit: 5})
	has("ClaimJobs", texts(claimed), err)
	ids = nil
	for range 2 {
		token, err := s.TakeToken(ctx, storage.WorkRequest{Queues: []string{"queue"}, Worker: "w", Lease: time.Hour})
		if ids = append(ids, token.ID); token.ID == "good" {
			has("TakeToken", ids, err)
			break
		}
	}
	has("TakeToken", ids, nil)
	goodWorks(ctx, t, s, ok)
	badIsRead(ctx, t, s)
}

// goodWorks drives the run good.
func goodWorks(ctx context.Context, t *testing.T, s *sqlstore.Store, ok func(what string, err error)) {
	t.Helper()
	ok("Send", s.Send(ctx, storage.Message{Run: "good", Kind: "signal", Name: "go"}))
	entries, err := s.History(ctx, "good", 0, 0)
	if ok("History", err); len(entries) < 10 {
		t.Errorf("History: %d entries", len(entries))
	}
	_, err = s.Definition(ctx, "good")
	ok("Definition", err)
	_, err = s.PutDefinition(ctx, storage.Definition{Hash: "new", Name: "good", Language: "asl", Text: []byte("[]")})
	ok("PutDefinition", err)
	ok("SetLimit", s.SetLimit(ctx, storage.Limit{Flow: "other", Runs: 3}))
	ok("Create", s.Create(ctx, storage.Run{ID: "new", Flow: "good", Key: "new"}))
	ok("PostJob", s.PostJob(ctx, storage.Job{ID: "new", Flow: "good"}))
	ok("PutSchedule", s.PutSchedule(ctx, backend.Schedule{ID: "new", Spec: "@daily", Flow: "f"}))
	_, err = s.WriteRecords(ctx, storage.RecordWrite{Kind: "kind", Key: "new", Body: atom.MustEncode(1)})
	ok("WriteRecords", err)
	claim, snap, err := s.Begin(ctx, "good")
	if ok("Begin", err); err != nil {
		return
	}
	if len(snap.Tokens) != 1 || len(snap.Timers) != 1 || len(snap.Messages) < 2 || len(snap.Atoms) != 5 || len(snap.Run.Labels) != 1 {
		t.Errorf("Begin: %d tokens, %d timers, %d messages, %d atoms, labels %v", len(snap.Tokens), len(snap.Timers), len(snap.Messages),
			len(snap.Atoms), slices.Collect(maps.Keys(snap.Run.Labels)))
	}
	r := &snap.Run
	ok("Commit", s.Commit(ctx, claim, &backend.Checkpoint{Head: backend.Head{
		Seq: r.Seq, State: states.FlowSuccess, Started: r.Started, Ended: time.Now(), Entries: r.Entries, Refs: r.Refs, Time: time.Now(),
		Release: true,
	}}))
}

// badIsRead checks that what cannot be read of the run bad is an error that names what to do, or is left out.
func badIsRead(ctx context.Context, t *testing.T, s *sqlstore.Store) {
	t.Helper()
	_, history := s.History(ctx, "bad", 0, 1)
	_, timers := s.RunTimers(ctx, "bad")
	_, tokens := s.RunTokens(ctx, "bad")
	_, _, unread := s.Unread(ctx, "bad", 5)
	_, outbox := s.RunOutbox(ctx, "bad", 5)
	for what, err := range map[string]error{
		"History": history, "RunTimers": timers, "RunTokens": tokens, "Unread": unread, "RunOutbox": outbox,
	} {
		if err != nil && !errors.Is(err, storage.ErrNotFound) && !errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("%s of bad: %v", what, err)
		}
	}
	if _, _, err := s.Begin(ctx, "bad"); err != nil && !strings.Contains(err.Error(), "bad") && !strings.Contains(err.Error(), "-owner-") {
		t.Errorf("Begin of bad: %v", err)
	}
}

func collect[T any](t *testing.T, all func(func(T, error) bool), id func(*T) string) (ids []string) {
	t.Helper()
	for one, err := range all {
		if err != nil {
			t.Error(err)
			return ids
		}
		if ids = append(ids, id(&one)); len(ids) > 100 {
			t.Fatal("the list does not end")
		}
	}
	return ids
}

// texts returns each record as a text.
func texts[T any](all []T) (out []string) {
	for i := range all {
		out = append(out, fmt.Sprintf("%+v", all[i]))
	}
	return out
}

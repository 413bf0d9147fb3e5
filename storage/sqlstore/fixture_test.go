//go:build unix

package sqlstore_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// A fixture is a small database of one schema of Ebb, with its content as JSON: testdata/schema-N.db and
// testdata/schema-N.json. They are created once, by the last code with that schema:
//
//	go test ./storage/sqlstore -run TestMakeFixture -fixture
//
// After a release, a developer who adds migration N+1 first makes the fixture of N, if it is not there, and commits it;
// what the new schema has more is then put into fillFixture and fixtureFlows for the next one. The test refuses to
// overwrite. Until the first release, the schema is one file: change it, give it the next number, and make its fixture.
var makeFixture = flag.Bool("fixture", false, "make testdata/schema-N.db of the present schema")

// TestMakeFixture creates the fixture of the present schema on request.
func TestMakeFixture(t *testing.T) {
	t.Parallel()
	if !*makeFixture {
		t.Skip("run with -fixture when the schema is about to change")
	}
	file := filepath.Join(t.TempDir(), "runs.db")
	s := open(t, file)
	fillFixture(t, s)
	runFixture(t, s)
	db := raw(t, file)
	var version int
	var busy, frames, copied int64
	if err := errors.Join(
		db.QueryRow("PRAGMA user_version").Scan(&version),
		db.QueryRow("PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &copied),
	); err != nil || busy != 0 {
		t.Fatal(busy, err)
	}
	// While the store is open, so that its owner is there, and will be found dead.
	image, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	shut(t, s)
	to := filepath.Join("testdata", fmt.Sprintf("schema-%d", version))
	if _, err := os.Stat(to + ".db"); err == nil {
		t.Fatalf("%s.db is there already, and fixtures are made once", to)
	}
	if err := os.WriteFile(to+".db", image, 0o666); err != nil {
		t.Fatal(err)
	}
	started = time.Now() // the runs that were due before are in the fixture
	if err := os.WriteFile(to+".json", dumpOf(t, copyFixture(t, to+".db")), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestFixtures opens a copy of each fixture, which migrates it, and finds the written records in it (G7).
func TestFixtures(t *testing.T) {
	t.Parallel()
	for _, fixture := range fixtures(t) {
		t.Run(filepath.Base(fixture), func(t *testing.T) {
			t.Parallel()
			file := copyFixture(t, fixture)
			sameAsWritten(t, fixture, file)
			sound(t, file)
		})
	}
}

// sameAsWritten opens a copy of a fixture and compares its content with the written records.
func sameAsWritten(t *testing.T, fixture, file string, opts ...sqlstore.Option) {
	t.Helper()
	golden, err := os.ReadFile(fixture[:len(fixture)-len(".db")] + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var d dump // fields that came later are zero
	if err := json.Unmarshal(golden, &d); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(d.text(t)), string(dumpOf(t, file, opts...))); diff != "" {
		t.Errorf("what is read differs from what was written (-written +read):\n%s", diff)
	}
}

// fixtures returns the databases of the schemas there were.
func fixtures(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join("testdata", "schema-*.db"))
	if err != nil || len(found) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	return found
}

func copyFixture(t *testing.T, fixture string) string {
	t.Helper()
	image, err := os.ReadFile(fixture)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "runs.db")
	if err := os.WriteFile(file, image, 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// A dump has all readable content of a store, without its owners and the engine's own runs. TestFixturesGoOn covers
// those.
type dump struct {
	Runs        []runDump
	Tokens      []storage.Token
	Definitions []storage.Definition
	Outbox      []storage.Outgoing
	Jobs        []storage.Job
	Schedules   []backend.Schedule
	Limits      []storage.Limit
	Records     []storage.NamedRecord
}

type runDump struct {
	Run      storage.Run
	Atoms    []storage.Atom
	History  []storage.Entry
	Undos    []storage.Undo
	Timers   []storage.TimerRow
	Wakeups  int64
	Messages []storage.Message
}

func (d *dump) text(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(d); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// started is before all that tests do, and after all that fixtures hold.
var started = time.Now()

// dumpOf opens a database and returns its content.
func dumpOf(t *testing.T, file string, opts ...sqlstore.Option) []byte {
	t.Helper()
	s := open(t, file, opts...)
	defer shut(t, s)
	ctx, d, errs := t.Context(), dump{}, []error(nil)
	note := func(err error) { errs = append(errs, err) }
	runs, err := s.Runs(ctx, storage.RunQuery{})
	note(err)
	for _, run := range runs {
		if run.Due.After(started) {
			run.Due, run.Lost, run.CrashLoop = time.Time{}, 0, storage.CrashLoop{} // as its owner was found dead just now
		}
		r := runDump{Run: run}
		if !slices.ContainsFunc(fixtureFlows, func(f fixtureFlow) bool { return f.name == run.Flow }) {
			r.Atoms, err = s.Atoms(ctx, run.ID, storage.AtomQuery{})
			note(err)
			r.History, err = s.History(ctx, run.ID, 0, 0)
			note(err)
			r.Undos, err = s.Undos(ctx, run.ID, 0, 0)
			note(err)
			r.Timers, err = s.RunTimers(ctx, run.ID)
			note(err)
			r.Wakeups, r.Messages, err = s.Messages(ctx, run.ID, 0)
			note(err)
		}
		d.Runs = append(d.Runs, r)
	}
	for _, id := range []string{"t-open", "t-done", "t-failed", "t-leased"} {
		token, err := s.Token(ctx, id)
		note(err)
		d.Tokens = append(d.Tokens, token)
	}
	for _, hash := range []string{"h1", "h2"} {
		def, err := s.Definition(ctx, hash)
		note(err)
		d.Definitions = append(d.Definitions, def)
	}
	d.Outbox, err = s.Outgoing(ctx, time.Now(), 0)
	note(err)
	d.Jobs, err = s.JobList(ctx, storage.JobQuery{})
	note(err)
	d.Schedules, err = s.Schedules(ctx, backend.ScheduleQuery{})
	note(err)
	limits, err := s.Limits(ctx)
	note(err)
	d.Limits = append(d.Limits, limits...) // nil when there are none
	for _, kind := range []string{"machine", "alias"} {
		records, err := s.NamedRecords(ctx, storage.RecordQuery{Kind: kind})
		note(err)
		d.Records = append(d.Records, records...)
	}
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return d.text(t)
}

// at returns a moment of the fixtures' own time.
func at(seconds int) time.Time {
	return time.Date(2026, 3, 1, 12, 0, 0, 123_000, time.UTC).Add(time.Duration(seconds) * time.Second)
}

// big returns a value that does not fit inline.
func big(seed string) atom.Value {
	return atom.MustEncode(string(bytes.Repeat([]byte(seed), backend.InlineLimit)))
}

func small(v any) storage.Held { return storage.Held{Data: atom.MustEncode(v)} }

// fillFixture writes something into every table, through the contract alone.
func fillFixture(t *testing.T, s *sqlstore.Store) {
	t.Helper()
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, def := range []storage.Definition{
		{Hash: "h1", Name: "trip", Language: "asl", Text: []byte(`{"StartAt":"A"}`), Created: at(0)},
		{Hash: "h2", Name: "trip", Language: "asl", Text: []byte(`{"StartAt":"B"}`), Created: at(1)},
	} {
		_, err := s.PutDefinition(ctx, def)
		must(err)
	}
	must(s.Create(ctx, storage.Run{
		ID: "waiting", Flow: "trip", Definition: "h1", Structure: "s1", Labels: map[string]string{"who": "me", "where": ""},
		Parent: "nobody", Trace: "00-trace", Input: storage.Held{Data: big("in")}, Attrs: atom.MustEncode(map[string]int{"a": 1}),
		Secrets: storage.Secrets{Symbols: []string{"pin"}, Atoms: []string{"Login"}}, Created: at(0), Due: at(5),
	}))
	for _, id := range []string{"held", "full", "over"} {
		must(s.Create(ctx, storage.Run{ID: id, Flow: "trip", Input: small("in"), Created: at(1)}))
	}
	claim, _, err := s.Begin(ctx, "held")
	must(err)
	must(s.Commit(ctx, claim, &backend.Checkpoint{Head: backend.Head{
		State: states.FlowSuspended, Hold: true, Started: at(2), Time: at(3), Release: true, Memory: atom.MustEncode([]int{1, 2}),
	}}))
	must(s.Send(ctx,
		storage.Message{Run: "held", Kind: "signal", Path: "A", Incarnation: 2, Name: "go", Key: "k1", Body: atom.MustEncode("now"), Sent: at(4)},
		storage.Message{Run: "held", Kind: "cancel", Sent: at(4)},
	))
	fillRunning(t, s)
	claim, _, err = s.Begin(ctx, "over")
	must(err)
	must(s.Commit(ctx, claim, &backend.Checkpoint{
		Head: backend.Head{
			State: states.FlowFailure, Outcome: storage.FailedOutcome, Undo: storage.UndonePart, Refs: 1, Output: storage.Held{Ref: 1},
			Failure: &atom.Failure{Atom: "A", Code: "C", Message: "m", Stack: "main.go:1", Attempt: 2},
			Started: at(2), Ended: at(6), Time: at(6), Release: true,
		},
		Payloads: []backend.Payload{{Ref: 1, Data: big("out")}},
		Outbox: []storage.Outgoing{
			{ID: "o1", Target: "bus", Body: atom.MustEncode("hello"), Attempts: 2, NotUntil: at(7), Error: "down"},
			{ID: "o2", Target: "bus"},
		},
		Children: []storage.Run{{ID: "child", Flow: "leg", Parent: "over", Root: "over", Depth: 1, Created: at(6), Due: at(6)}},
		Messages: []storage.Message{{Run: "waiting", Kind: "event", Name: "ended", Body: big("letter"), Sent: at(6)}},
	}))
	for i, job := range []storage.Job{
		{ID: "j-free", Run: "later", Flow: "trip", Version: 2, Input: atom.MustEncode("in"), Labels: map[string]string{"gpu": "yes"}, Priority: 3},
		{ID: "j-claimed", Run: "held", Flow: "leg"},
		{ID: "j-parked", Run: "over", Flow: "tour", Unique: "invoice-17"},
	} {
		job.Created = at(i)
		must(s.PostJob(ctx, job))
	}
	_, err = s.ClaimJobs(ctx, backend.JobClaim{Flows: []string{"leg"}, Lease: time.Minute})
	must(err)
	parked, err := s.ClaimJobs(ctx, backend.JobClaim{Flows: []string{"tour"}, Lease: time.Minute})
	must(err)
	must(s.EndJob(ctx, backend.JobEnd{
		Job: "j-parked", Epoch: parked[0].Epoch, ClaimID: parked[0].ClaimID, State: states.JobParked, NotUntil: at(9),
		Failure: &atom.Failure{Code: "Lost", Message: "three times"},
	}))
	must(s.PostJob(ctx, storage.Job{
		ID: "j-over", Run: "gone", Flow: "leg", RunLabels: map[string]string{"who": "me"}, Created: at(3),
		Trace: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
	}))
	must(s.EndJob(ctx, backend.JobEnd{Job: "j-over", State: states.JobComplete, Failure: &atom.Failure{Code: "Cancelled"}}))
	must(s.PutSchedule(ctx, backend.Schedule{
		ID: "nightly", Spec: "TZ=Europe/Rome 30 2 * * *", Flow: "trip", Version: 2, Input: atom.MustEncode("in"), Needs: map[string]string{"gpu": "yes"},
		Labels: map[string]string{"who": "me"}, Priority: 3, CatchUp: 2, Created: at(0), Next: at(100), Last: at(50),
	}))
	records, err := s.WriteRecords(ctx,
		storage.RecordWrite{Kind: "machine", Key: "trip", Body: big("machine")}, storage.RecordWrite{Kind: "alias", Key: "trip:live"})
	must(err)
	_, err = s.WriteRecords(ctx, storage.RecordWrite{Kind: "alias", Key: "trip:live", Was: records[1].Revision, Body: atom.MustEncode(1)})
	must(err)
	must(s.SetLimit(ctx, storage.Limit{Flow: "other", Label: "who", Runs: 3, Rate: 5, Per: time.Minute}))
}

// fillRunning leaves a run in the middle, owned by the store.
func fillRunning(t *testing.T, s *sqlstore.Store) {
	t.Helper()
	claim, _, err := s.Begin(t.Context(), "full")
	if err != nil {
		t.Fatal(err)
	}
	failure := &atom.Failure{Atom: "B", Code: "C", Message: "broken", Stack: "main.go:1", Attempt: 2, Bare: true}
	full := storage.Atom{
		Path: "Ship[3]/Pack#2", Kind: storage.KindRetry, Incarnation: 3, Attempt: 2, RevertAttempt: 4, State: states.TaskReverting,
		Intention: states.IntendRevert, Live: true,
		Spec: atom.MustEncode(map[string]any{"kind": "exec"}), Input: storage.Held{Ref: 1}, Note: small("note"), Result: storage.Held{Ref: 2},
		Ended: grow.EndHandled, Failure: failure, RevertResult: small("undone"), RevertFailure: &atom.Failure{Code: "R"},
		Tries: &atom.History{
			Tries:   []atom.Try{{Value: atom.MustEncode(1), Failures: []*atom.Failure{{Code: "A"}, {Code: "<B>"}}}, {Value: atom.MustEncode(2)}},
			Failure: &atom.Failure{Code: "T"},
		},
		Progress: 0.25, Details: atom.MustEncode("half"), Due: at(8), StartedAt: at(3), EndedAt: at(4),
	}
	running := backend.Head{State: states.FlowRunning, Started: at(2), Time: at(3), Entries: 3, Events: 1, Refs: 2, Memory: atom.MustEncode("frontier")}
	for i, cp := range []*backend.Checkpoint{
		{
			Head:     running,
			Payloads: []backend.Payload{{Ref: 1, Data: big("one")}, {Ref: 2, Data: big("two")}},
			Atoms:    []storage.Atom{full, {Path: "A", State: states.TaskSuccess, Result: small(1), Attempt: 1}, {Path: "gone", Live: true}},
			History: []storage.Entry{
				{Seq: 1, Kind: storage.EntryFlow, Time: at(2), From: uint8(states.FlowPending), To: uint8(states.FlowRunning)},
				{
					Seq: 2, Kind: storage.EntryAtom, Time: at(3), Path: "B", From: uint8(states.TaskRunning), To: uint8(states.TaskFailure),
					Incarnation: 2, Attempt: 4, Failure: failure, Body: storage.Held{Ref: 1},
				},
				{
					Seq: 3, Kind: storage.EntryEvent, Time: at(3), Path: "A", Number: 1, Type: "TaskFailed",
					Details: atom.MustEncode(map[string]string{"cause": "<none>"}), Key: "output", Body: small("o"),
				},
			},
			Push: []storage.Undo{{N: 1, Path: "A"}, {N: 2, Path: "Ship[3]/Pack#2"}, {N: 3, Path: "gone"}},
			Timers: []storage.TimerRow{
				{Path: "", Kind: storage.TimerDeadline, Due: at(99)},
				{Path: "W", Kind: storage.TimerWait, Incarnation: 1, Due: at(9)},
				{Path: "B", Kind: storage.TimerRetry, Due: at(8)},
			},
			Tokens: []storage.Token{
				{
					ID: "t-open", Path: "A", Incarnation: 1, Attempt: 2, Deadline: at(50), Heartbeat: 3 * time.Second, Beat: at(3), Worker: "w",
				},
				{ID: "t-done", Path: "B"},
				{ID: "t-failed", Path: "C"},
				{
					ID: "t-leased", Path: "D", Beat: at(3), Queue: "other", Worker: "w", Take: 2, Lease: at(90),
					Work: atom.MustEncode("what to do"), Since: at(2), ScheduleToStart: time.Minute, StartToClose: time.Hour,
				},
			},
		},
		{
			Head:    backend.Head{Seq: 1, State: states.FlowRunning, Started: at(2), Time: at(4), Entries: 4, Events: 1, Refs: 2},
			Forget:  []string{"gone"},
			Pop:     1,
			History: []storage.Entry{{Seq: 4, Kind: storage.EntryAtom, Time: at(4), Path: "A", To: uint8(states.TaskSuccess), Body: storage.Held{Ref: 2}}},
		},
	} {
		if err := s.Commit(t.Context(), claim, cp); err != nil {
			t.Fatal(i, err)
		}
	}
	_, sent := s.Transact(t.Context(), claim, "k", func(*sql.Tx) (atom.Value, error) { return atom.MustEncode("sent"), nil })
	_, done := s.EndToken(t.Context(), "t-done", storage.TokenEnd{Result: atom.MustEncode("ok")})
	_, failed := s.EndToken(t.Context(), "t-failed", storage.TokenEnd{Failure: &atom.Failure{Code: "Bad", Message: "worse"}})
	if err := errors.Join(sent, done, failed); err != nil {
		t.Fatal(err)
	}
}

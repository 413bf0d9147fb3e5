package storagetest

import (
	"context"
	"errors"
	"flag"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/longtest"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A Maker creates the stores under test.
type Maker struct {
	// Open returns an empty store. The suite closes it. Required.
	Open func(t testing.TB) backend.Store
	// Join returns another store on the same records, as for a second process. The suite closes it. Required.
	Join func(t testing.TB, s backend.Store) backend.Store
	// Die makes the owner of a store appear as a dead process. The suite closes the store later. Without Die, deaths
	// are not tested.
	Die func(t testing.TB, s backend.Store)
}

// fewerCases lets rapid try fewer cases of the models, unless a flag says how many.
var fewerCases = sync.OnceValue(func() error {
	set := false
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == "rapid.checks" })
	if set {
		return nil
	}
	return flag.Set("rapid.checks", strconv.Itoa(longtest.Count(20, 100, 1000)))
})

// Run runs the suite. Its tests are parallel to each other.
func Run(t *testing.T, m Maker) {
	t.Helper()
	if err := fewerCases(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		test func(*testing.T, Maker)
	}{
		{"Create", testCreate},
		{"New", testNew},
		{"NewIsAtomic", testNewIsAtomic},
		{"NewOfJob", testNewOfJob},
		{"NewLimited", testNewLimited},
		{"RaceNew", testRaceNew},
		{"CreateLargeInput", testCreateLargeInput},
		{"Runs", testRuns},
		{"RunsDue", testRunsDue},
		{"Listings", testListings},
		{"RunQueries", testRunQueries},
		{"Progress", testProgress},
		{"Begin", testBegin},
		{"BeginAfterOwnerClosed", testBeginAfterOwnerClosed},
		{"Due", testDue},
		{"DueHeld", testDueHeld},
		{"DueClaim", testDueClaim},
		{"DueTaken", testDueTaken},
		{"Load", testLoad},
		{"LoadOfDead", testLoadOfDead},
		{"Limits", testLimits},
		{"LimitsOfClaims", testLimitsOfClaims},
		{"LimitsDue", testLimitsDue},
		{"Commit", testCommit},
		{"CommitIsAtomic", testCommitIsAtomic},
		{"CommitAgain", testCommitAgain},
		{"CommitRelease", testCommitRelease},
		{"CommitOrigin", testCommitOrigin},
		{"CommitLabels", testCommitLabels},
		{"Labeled", testLabeled},
		{"CommitOutcome", testCommitOutcome},
		{"CommitInvalid", testCommitInvalid},
		{"Release", testRelease},
		{"Step", testStep},
		{"StepPanics", testStepPanics},
		{"Atoms", testAtoms},
		{"AtomPages", testAtomPages},
		{"LargePages", testLargePages},
		{"History", testHistory},
		{"Audit", testAudit},
		{"Events", testEvents},
		{"Payloads", testPayloads},
		{"UndoStack", testUndoStack},
		{"Timers", testTimers},
		{"Messages", testMessages},
		{"Keys", testKeys},
		{"RaceKeys", testRaceKeys},
		{"KeyModel", testKeyModel},
		{"MessagesByKey", testMessagesByKey},
		{"Receipts", testReceipts},
		{"RaceReceipts", testRaceReceipts},
		{"Texts", testTexts},
		{"RunsWithMessages", testRunsWithMessages},
		{"ManyRunsWithMessages", testManyRunsWithMessages},
		{"Tokens", testTokens},
		{"Queues", testQueues},
		{"Leases", testLeases},
		{"WorkLimits", testWorkLimits},
		{"AwaitEnd", testAwaitEnd},
		{"AwaitToken", testAwaitToken},
		{"AwaitWork", testAwaitWork},
		{"TokenUses", testTokenUses},
		{"Heartbeats", testHeartbeats},
		{"QueueOrder", testQueueOrder},
		{"Children", testChildren},
		{"Families", testFamilies},
		{"RaceFamilies", testRaceFamilies},
		{"Stopping", testStopping},
		{"Outbox", testOutbox},
		{"Definitions", testDefinitions},
		{"Records", testRecords},
		{"RecordsInvalid", testRecordsInvalid},
		{"RecordListings", testRecordListings},
		{"RecordPages", testRecordPages},
		{"RunOnRecords", testRunOnRecords},
		{"RunOnRecordsLimited", testRunOnRecordsLimited},
		{"RaceRecords", testRaceRecords},
		{"RaceRunsOnRecords", testRaceRunsOnRecords},
		{"RecordModel", testRecordModel},
		{"Transact", testTransact},
		{"TransactRefused", testTransactRefused},
		{"Purge", testPurge},
		{"Discard", testDiscard},
		{"Owners", testOwners},
		{"CrashLoops", testCrashLoops},
		{"Closed", testClosed},
		{"Cancelled", testCancelled},
		{"NotFound", testNotFound},
		{"Jobs", testJobs},
		{"PostJobs", testPostJobs},
		{"UniqueJobs", testUniqueJobs},
		{"JobClaims", testJobClaims},
		{"JobOrder", testJobOrder},
		{"JobsOfDefinitions", testJobsOfDefinitions},
		{"JobEndInCommit", testJobEndInCommit},
		{"JobOfRun", testJobOfRun},
		{"JobsOfNewRuns", testJobsOfNewRuns},
		{"JobsOfManyRuns", testJobsOfManyRuns},
		{"JobChanged", testJobChanged},
		{"Needs", testNeeds},
		{"JobOfDeadOwner", testJobOfDeadOwner},
		{"PurgeJobs", testPurgeJobs},
		{"Rates", testRates},
		{"RatesOfLabels", testRatesOfLabels},
		{"RaceRates", testRaceRates},
		{"Schedules", testSchedules},
		{"RaceSchedules", testRaceSchedules},
		{"RaceFence", testRaceFence},
		{"Fencing", testFencing},
		{"RaceBegin", testRaceBegin},
		{"RaceDue", testRaceDue},
		{"RaceManyDue", testRaceManyDue},
		{"RaceWakeups", testRaceWakeups},
		{"RaceCommitRelease", testRaceCommitRelease},
		{"RaceTokens", testRaceTokens},
		{"RaceSteps", testRaceSteps},
		{"RaceClaims", testRaceClaims},
		{"RaceRunsWithMessages", testRaceRunsWithMessages},
		{"RaceTransact", testRaceTransact},
		{"Changed", testChanged},
		{"Model", testModel},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, m)
		})
	}
}

func (m Maker) open(tb testing.TB) backend.Store {
	tb.Helper()
	s := m.Open(tb)
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("Close: %v", err)
		}
	})
	return s
}

func (m Maker) join(tb testing.TB, s backend.Store) backend.Store {
	tb.Helper()
	other := m.Join(tb, s)
	tb.Cleanup(func() {
		if err := other.Close(); err != nil {
			tb.Errorf("Close: %v", err)
		}
	})
	return other
}

// at returns a time on the tests' own clock.
func at(seconds int) time.Time {
	return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(seconds) * time.Second)
}

// run returns a run to create.
func run(id string) storage.Run {
	return storage.Run{ID: id, Flow: "trip", Created: at(0)}
}

func value(v any) atom.Value { return atom.MustEncode(v) }

func inline(v any) storage.Held { return storage.Held{Data: value(v)} }

// large returns a value that is not stored inline.
func large(seed string) atom.Value { return value(strings.Repeat(seed, backend.InlineLimit)) }

func create(t tester, s backend.Store, runs ...storage.Run) {
	t.Helper()
	for _, r := range runs {
		if err := s.Create(t.Context(), r); err != nil {
			t.Fatalf("Create %q: %v", r.ID, err)
		}
	}
}

// tester is the common part of the tests of packages testing and rapid.
type tester interface {
	Helper()
	Context() context.Context
	Fatalf(format string, args ...any)
}

// joined joins the names of a list, so that lists are easy to compare.
func joined[T any](list []T, name func(T) string) string {
	var b strings.Builder
	for _, v := range list {
		b.WriteString(name(v))
	}
	return b.String()
}

// must fails the test unless err is nil.
func must(t tester, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// want fails the test unless err is target.
func want(t tester, what string, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Fatalf("%s: got error %v, want %v", what, err, target)
	}
}

// same fails the test if got is not want. It ignores the numbers of runs and jobs, see testListings.
func same(t tester, what string, want, got any, opts ...cmp.Option) {
	t.Helper()
	if reflect.DeepEqual(want, got) { // nearly always, and much faster
		return
	}
	numbers := cmp.Options{
		cmpopts.IgnoreFields(storage.Run{}, "Number"), cmpopts.IgnoreFields(storage.Job{}, "Number"),
	}
	if diff := cmp.Diff(want, got, append(opts, cmpopts.EquateEmpty(), numbers)...); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

// ask fails the test on an error, and otherwise returns the answer.
func ask[T any](t tester, what string) func(T, error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		must(t, what, err)
		return v
	}
}

func load(t tester, s backend.Store, id string) storage.Run {
	t.Helper()
	return ask[storage.Run](t, "Run")(s.Run(t.Context(), id))
}

// A pen writes checkpoints under a claim and keeps the numbers that they continue.
type pen struct {
	store backend.Store
	claim backend.Claim
	snap  *backend.Snapshot
	head  backend.Head
	undos int64
}

func begin(t tester, s backend.Store, id string) *pen {
	t.Helper()
	claim, snap, err := s.Begin(t.Context(), id)
	must(t, "Begin", err)
	return &pen{store: s, claim: claim, snap: snap, head: headOf(&snap.Run), undos: snap.Run.Undos}
}

// headOf returns the head under which nothing of the run changes.
func headOf(r *storage.Run) backend.Head {
	return backend.Head{
		Seq: r.Seq, State: r.State, Outcome: r.Outcome, Undo: r.Undo, Hold: r.Hold,
		Output: r.Output, Failure: r.Failure, Started: r.Started, Ended: r.Ended,
		Entries: r.Entries, Events: r.Events, Refs: r.Refs, Time: at(int(r.Seq) + 1),
	}
}

// number completes cp so that it continues head.
func number(cp *backend.Checkpoint, head backend.Head, undos int64) {
	h := &cp.Head
	h.Seq, h.Entries, h.Events, h.Refs = head.Seq, head.Entries, head.Events, head.Refs
	if h.Time.IsZero() {
		h.Time = head.Time
	}
	for i := range cp.Payloads {
		h.Refs++
		cp.Payloads[i].Ref = h.Refs
	}
	for i := range cp.History {
		h.Entries++
		cp.History[i].Seq = h.Entries
		if cp.History[i].Kind == storage.EntryEvent {
			h.Events++
			cp.History[i].Number = h.Events
		}
	}
	for i := range cp.Push {
		cp.Push[i].N = undos - int64(cp.Pop) + int64(i) + 1
	}
}

// next completes cp so that it is the next checkpoint.
func (p *pen) next(cp backend.Checkpoint) *backend.Checkpoint {
	number(&cp, p.head, p.undos)
	return &cp
}

// commit writes a checkpoint that next made.
func (p *pen) commit(ctx context.Context, cp *backend.Checkpoint) error {
	err := p.store.Commit(ctx, p.claim, cp)
	if err == nil {
		p.head = cp.Head
		p.head.Seq++
		p.head.Time = p.head.Time.Add(time.Second)
		p.undos += int64(len(cp.Push) - cp.Pop)
	}
	return err
}

// write completes cp and commits it.
func (p *pen) write(t tester, cp backend.Checkpoint) {
	t.Helper()
	must(t, "Commit", p.commit(t.Context(), p.next(cp)))
}

// finish commits the end of the run and releases it.
func (p *pen) finish(t tester, state states.Flow) {
	t.Helper()
	p.write(t, backend.Checkpoint{Head: backend.Head{State: state, Release: true, Wakeups: p.snap.Run.Wakeups}})
}

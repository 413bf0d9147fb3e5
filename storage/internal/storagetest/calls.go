package storagetest

import (
	"context"
	"iter"
	"testing"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// errOf3 returns the error of a call that returns three values beside it.
func errOf3[A, B, C any](_ A, _ B, _ C, err error) error { return err }

// cancelled returns a context that is cancelled.
func cancelled(t tester) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// Calls calls every method that may fail, and yields the errors. The claim is that of a run that was not written yet.
func Calls(ctx context.Context, s backend.Store, claim backend.Claim) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, c := range []struct {
			name string
			err  error
		}{
			{"Create", s.Create(ctx, run("x"))},
			{"Begin", errOf2(s.Begin(ctx, "a"))},
			{"Seize", errOf2(s.Seize(ctx, "a"))},
			{"BeginIsolated", errOf2(s.BeginIsolated(ctx, "a"))},
			{"EndIsolation", s.EndIsolation(ctx, claim)},
			{"SetLimit", s.SetLimit(ctx, storage.Limit{Runs: 1})},
			{"Limits", errOf(s.Limits(ctx))},
			{"Due", errOf2(s.Due(ctx, backend.DueQuery{By: at(1)}))},
			{"Commit", s.Commit(ctx, claim, &backend.Checkpoint{})},
			{"Release", s.Release(ctx, claim, 0, at(1))},
			{"Step", s.Step(ctx, "a", idle)},
			{"Send", s.Send(ctx, storage.Message{Run: "a"})},
			{"Audit", errOf(s.Audit(ctx, backend.AuditQuery{}))},
			{"WriteAudit", s.WriteAudit(ctx, backend.Audited(storage.Issuer{Via: storage.ViaLibrary}, "v", "s", at(0)))},
			{"EndToken", errOf(s.EndToken(ctx, "t", storage.TokenEnd{}))},
			{"Beat", errOf(s.Beat(ctx, "t"))},
			{"Stopping", errOf(s.Stopping(ctx, "a", 1))},
			{"Received", errOf(s.Received(ctx, "a", "k"))},
			{"Messages", errOf2(s.Messages(ctx, "a", 0))},
			{"RunsWithMessages", errOf2(s.RunsWithMessages(ctx, 0))},
			{"KeepToken", errOf(s.KeepToken(ctx, "t", storage.Heartbeat{Take: 1, Lease: 0}))},
			{"TakeToken", errOf(s.TakeToken(ctx, storage.WorkRequest{Queues: []string{"q"}, Worker: "w"}))},
			{"AwaitEnd", errOf(s.AwaitEnd(ctx, "none"))},
			{"AwaitToken", errOf(s.AwaitToken(ctx, storage.WorkRequest{Queues: []string{"q"}, Worker: "w"}, 0, nil))},
			{"Run", errOf(s.Run(ctx, "a"))},
			{"Limited", errOf(s.Limited(ctx, "a"))},
			{"Rated", errOf(s.Rated(ctx, &storage.Job{ID: "j"}))},
			{"Runs", errOf(s.Runs(ctx, storage.RunQuery{}))},
			{"CountRuns", errOf(s.CountRuns(ctx, storage.RunQuery{}))},
			{"Look", errOf(s.Look(ctx, storage.RunQuery{}, 1))},
			{"Tally", errOf(s.Tally(ctx, storage.RunQuery{}, backend.TallyQuery{Most: 1}))},
			{"Labeled", errOf(s.Labeled(ctx, "v", "k"))},
			{"Descendants", errOf(s.Descendants(ctx, "a"))},
			{"Atoms", errOf(s.Atoms(ctx, "a", storage.AtomQuery{}))},
			{"Atom", errOf(s.Atom(ctx, "a", "x"))},
			{"AtomsAt", errOf(s.AtomsAt(ctx, "a", "x"))},
			{"Tries", errOf(s.Tries(ctx, "a", "x"))},
			{"History", errOf(s.History(ctx, "a", 0, 0))},
			{"Events", errOf(s.Events(ctx, "a", storage.EventQuery{}))},
			{"Undos", errOf(s.Undos(ctx, "a", 0, 0))},
			{"InProgress", errOf2(s.InProgress(ctx, []storage.Run{{ID: "a", Number: 1}}, 1))},
			{"RunTimers", errOf(s.RunTimers(ctx, "a"))},
			{"RunTokens", errOf(s.RunTokens(ctx, "a"))},
			{"Token", errOf(s.Token(ctx, "t"))},
			{"PutDefinition", errOf(s.PutDefinition(ctx, storage.Definition{Hash: "h"}))},
			{"Definition", errOf(s.Definition(ctx, "h"))},
			{"Definitions", errOf(s.Definitions(ctx, backend.DefinitionQuery{}))},
			{"WriteRecords", errOf(s.WriteRecords(ctx, storage.RecordWrite{Kind: "k", Key: "a"}))},
			{"NamedRecord", errOf(s.NamedRecord(ctx, "k", "a"))},
			{"NamedRecords", errOf(s.NamedRecords(ctx, storage.RecordQuery{Kind: "k"}))},
			{"CountRecords", errOf(s.CountRecords(ctx, "k", ""))},
			{"Outgoing", errOf(s.Outgoing(ctx, at(1), 0))},
			{"ParkedMessages", errOf(s.ParkedMessages(ctx, 0))},
			{"RunOutbox", errOf(s.RunOutbox(ctx, "a", 0))},
			{"Sent", s.Sent(ctx, 1)},
			{"Unsent", s.Unsent(ctx, storage.Outgoing{N: 1})},
			{"Purge", errOf(s.Purge(ctx, "a"))},
			{"Owners", errOf(s.Owners(ctx))},
			{"PostJob", s.PostJob(ctx, storage.Job{ID: "j"})},
			{"ClaimJobs", errOf(s.ClaimJobs(ctx, backend.JobClaim{}))},
			{"EndJob", s.EndJob(ctx, backend.JobEnd{Job: "j"})},
			{"Job", errOf(s.Job(ctx, "j"))},
			{"JobList", errOf(s.JobList(ctx, storage.JobQuery{}))},
			{"JobCounts", errOf(s.JobCounts(ctx))},
			{"PurgeJobs", errOf(s.PurgeJobs(ctx, backend.JobPurge{}))},
			{"PutSchedule", s.PutSchedule(ctx, backend.Schedule{ID: "s"})},
			{"MoveSchedule", s.MoveSchedule(ctx, backend.ScheduleMove{ID: "s"})},
			{"DeleteSchedule", s.DeleteSchedule(ctx, "s")},
			{"Schedule", errOf(s.Schedule(ctx, "s"))},
			{"Schedules", errOf(s.Schedules(ctx, backend.ScheduleQuery{}))},
			{"DueSchedules", errOf3(s.DueSchedules(ctx, backend.Schedule{}, 0))},
		} {
			if !yield(c.name, c.err) {
				return
			}
		}
	}
}

func testNotFound(t *testing.T, m Maker) {
	s := m.open(t)
	ctx := t.Context()
	for name, err := range map[string]error{
		"Release":       s.Release(ctx, backend.Claim{Run: "zz"}, 0, at(1)),
		"BeginIsolated": errOf2(s.BeginIsolated(ctx, "zz")),
		"EndIsolation":  s.EndIsolation(ctx, backend.Claim{Run: "zz"}),
		"Messages":      errOf2(s.Messages(ctx, "zz", 0)),
		"Run":           errOf(s.Run(ctx, "zz")),
		"Atoms":         errOf(s.Atoms(ctx, "zz", storage.AtomQuery{})),
		"Atom":          errOf(s.Atom(ctx, "zz", "x")),
		"AtomsAt":       errOf(s.AtomsAt(ctx, "zz", "x")),
		"Tries":         errOf(s.Tries(ctx, "zz", "x")),
		"History":       errOf(s.History(ctx, "zz", 0, 0)),
		"Undos":         errOf(s.Undos(ctx, "zz", 0, 0)),
		"RunTimers":     errOf(s.RunTimers(ctx, "zz")),
		"RunTokens":     errOf(s.RunTokens(ctx, "zz")),
		"EndJob":        s.EndJob(ctx, backend.JobEnd{Job: "zz"}),
		"Job":           errOf(s.Job(ctx, "zz")),

		"NamedRecord": errOf(s.NamedRecord(ctx, "zz", "zz")),
	} {
		want(t, name, err, storage.ErrNotFound)
	}
}

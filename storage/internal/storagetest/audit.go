package storagetest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// testAudit writes lines of commands with checkpoints and on their own, and reads them in pages: newest first, of all
// runs and of one. Without an owner, a run that has ended gets a line in a Step, and does not change. Purging a run
// deletes its lines. A message keeps its issuer.
func testAudit(t *testing.T, m Maker) {
	s := m.open(t)
	alice, bob := &storage.Issuer{Via: storage.ViaConsole, Name: "alice"}, &storage.Issuer{Via: storage.ViaCommand}
	var all []backend.AuditLine
	pens := map[string]*pen{}
	for i := range 5 {
		for _, name := range []string{"a", "b"} {
			id := fmt.Sprint(name, i)
			create(t, s, run(id))
			p := begin(t, s, id)
			pens[id] = p
			refused := &atom.Failure{Code: atom.CodeRefused, Message: "no"}
			cp := p.next(backend.Checkpoint{History: []storage.Entry{
				{Kind: storage.EntryFlow, Time: at(1)},
				{Kind: storage.EntryCommand, Time: at(1), Type: "cancel", Path: "x", Issuer: alice},
				{Kind: storage.EntryCommand, Time: at(1), Type: "skip", Failure: refused, Issuer: bob},
			}})
			must(t, "Commit", p.commit(t.Context(), cp))
			for _, e := range cp.History[1:] {
				all = append(all, backend.AuditLine{Run: id, Entry: e})
			}
		}
		line := backend.AuditLine{Subject: fmt.Sprint("job ", i), Entry: storage.Entry{
			Kind: storage.EntryCommand, Time: at(i), Type: "release", Issuer: alice,
		}}
		must(t, "WriteAudit", s.WriteAudit(t.Context(), line))
		all = append(all, line)
	}
	slices.Reverse(all)
	read := func(run string, limit int) (out []backend.AuditLine) {
		for below := int64(math.MaxInt64); ; {
			page := audited(t, s, backend.AuditQuery{Below: below, Run: run, Limit: limit})
			if len(page) == 0 {
				return out
			}
			if limit > 0 && len(page) > limit {
				t.Fatalf("a page of %d lines, limit %d", len(page), limit)
			}
			below = page[len(page)-1].N
			for i := range page {
				page[i].N = 0
			}
			out = append(out, page...)
		}
	}
	for _, limit := range []int{0, 1, 3, math.MaxInt} {
		same(t, fmt.Sprint("all lines by ", limit), all, read("", limit))
	}
	var ofOne []backend.AuditLine
	for _, line := range all {
		if line.Run == "b3" {
			ofOne = append(ofOne, line)
		}
	}
	same(t, "lines of one run", ofOne, read("b3", 1))
	same(t, "lines of no run", []backend.AuditLine(nil), read("none", 0))
	pens["a2"].finish(t, states.FlowSuccess)
	ended := ask[storage.Run](t, "Run")(s.Run(t.Context(), "a2"))
	must(t, "Step", s.Step(t.Context(), "a2", func(snap *backend.Snapshot) (*backend.Checkpoint, error) {
		r, e := &snap.Run, all[0].Entry
		e.Seq = r.Entries + 1
		return &backend.Checkpoint{History: []storage.Entry{e}, Head: backend.Head{
			Seq: r.Seq, State: r.State, Outcome: r.Outcome, Undo: r.Undo, Output: r.Output, Failure: r.Failure,
			Started: r.Started, Ended: r.Ended, Entries: e.Seq, Events: r.Events, Refs: r.Refs, Growth: r.Growth, Time: at(9),
		}}, nil
	}))
	if lines := read("a2", 0); len(lines) != 3 || lines[0].Entry.Seq != ended.Entries+1 {
		t.Errorf("the run that has ended has the lines %+v", lines)
	}
	now := ask[storage.Run](t, "Run")(s.Run(t.Context(), "a2"))
	now.Seq, now.Fence, now.ClaimID, now.Entries = ended.Seq, ended.Fence, ended.ClaimID, ended.Entries
	now.Updated = ended.Updated
	same(t, "the run that has ended", ended, now)
	ask[int](t, "Purge")(s.Purge(t.Context(), "a2"))
	all = slices.DeleteFunc(all, func(l backend.AuditLine) bool { return l.Run == "a2" })
	same(t, "lines after a purge", all, read("", 0))

	must(t, "Send", s.Send(t.Context(), storage.Message{Run: "b0", Kind: "signal", Name: "go", Issuer: alice}))
	_, messages, err := s.Messages(t.Context(), "b0", 0)
	must(t, "Messages", err)
	if len(messages) != 1 || messages[0].Issuer == nil || *messages[0].Issuer != *alice {
		t.Errorf("the message of alice is %+v", messages)
	}
	for _, wrong := range []backend.AuditLine{
		{},
		{Run: "a0", Subject: "x", Entry: all[0].Entry},
		{Subject: "job", Entry: storage.Entry{Kind: storage.EntryFlow}},
		{Subject: strings.Repeat("x", backend.MaxSubject+1), Entry: all[0].Entry},
		{Subject: "a\x00b", Entry: all[0].Entry},
	} {
		want(t, "WriteAudit of a wrong line", s.WriteAudit(t.Context(), wrong), storage.ErrInvalid)
	}
	beside(t, s, alice)
}

func audited(t *testing.T, s backend.Store, q backend.AuditQuery) []backend.AuditLine {
	t.Helper()
	lines, err := s.Audit(t.Context(), q)
	must(t, "Audit", err)
	return lines
}

// beside commits lines and records with changes, or neither.
func beside(t *testing.T, s backend.Store, alice *storage.Issuer) {
	t.Helper()
	before := len(audited(t, s, backend.AuditQuery{}))
	line := backend.Audited(*alice, "post", "job x", at(0))
	once := storage.RecordWrite{Kind: "once", Key: "k", Body: value("first")}
	job := storage.Job{ID: "beside", Run: "beside", Flow: "f"}
	is := func(what string, lines int, err, wanted error) {
		t.Helper()
		want(t, what, err, wanted)
		if got := len(audited(t, s, backend.AuditQuery{})) - before; got != lines {
			t.Fatalf("%s: %d lines; want %d", what, got, lines)
		}
	}
	ctx := backend.Beside(t.Context(), &line, once)
	is("a job", 1, s.PostJob(ctx, job), nil)
	job.ID = "other"
	is("a job under a used key", 1, s.PostJob(ctx, job), storage.ErrConflict)
	_, err := s.Job(t.Context(), job.ID)
	want(t, "the job under a used key", err, storage.ErrNotFound)
	job.ID = "beside"
	once.Key = "l"
	ctx = backend.Beside(t.Context(), &line, once)
	is("a job that exists", 1, s.PostJob(ctx, job), storage.ErrExists)
	is("no schedule", 1, s.DeleteSchedule(ctx, "none"), storage.ErrNotFound)
	_, err = s.NamedRecord(t.Context(), "once", "l")
	want(t, "the record of what changed nothing", err, storage.ErrNotFound)
	is("a schedule", 2, s.PutSchedule(backend.Beside(t.Context(), &line), backend.Schedule{ID: "beside", Flow: "f"}), nil)
	is("the end of a job", 3, s.EndJob(ctx, backend.JobEnd{Job: "beside", State: states.JobComplete}), nil)
	is("its end under a used key", 3, s.DeleteSchedule(ctx, "beside"), storage.ErrConflict)
	wrong := backend.Beside(t.Context(), &backend.AuditLine{})
	is("a wrong line", 3, s.DeleteSchedule(wrong, "beside"), storage.ErrInvalid)
}

// Package faultstore is a store that passes calls on to another and lets chosen ones go wrong:
// they fail, wait, or lose their answer. It is for tests of what runs on a store.
package faultstore

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/storage"
)

// A Call is a call of one of a store's methods.
type Call struct {
	Method     string // its name: Commit, Begin, Send …
	Nth        int    // of the calls of this method, from 1
	Run        string // the run it is about; "" when it is not about one
	Checkpoint *storage.Checkpoint
}

// A Fault describes how a call fails. With the zero Fault, the call does not fail.
type Fault struct {
	Delay time.Duration // before anything else; the end of the call's context ends it
	Err   error         // what is answered
	Done  bool          // with Err: it was done all the same, only the answer is lost
}

// What stores answer when something is wrong with them.
var (
	// ErrBusy is that the database is locked: it passes.
	ErrBusy = errors.New("faultstore: the database is locked")
	// ErrDisk is that the disk is full, or broken.
	ErrDisk = errors.New("faultstore: the disk is full")

	// Busy and Disk do nothing and say why.
	Busy = Fault{Err: ErrBusy}
	Disk = Fault{Err: ErrDisk}
	// Lost is a call that was done, and whose answer is lost; Unsure is one that was
	// not done, and cannot be told from it.
	Lost   = Fault{Err: storage.ErrUnsure, Done: true}
	Unsure = Fault{Err: storage.ErrUnsure}
)

// A Plan returns the Fault of a call. It is asked about one call at a time.
type Plan func(Call) Fault

// At lets the nth call of a method go wrong, from 1.
func At(method string, nth int, f Fault) Plan {
	return func(c Call) Fault {
		if c.Method == method && c.Nth == nth {
			return f
		}
		return Fault{}
	}
}

// From lets the nth call of a method go wrong and all that follow.
func From(method string, nth int, f Fault) Plan {
	return func(c Call) Fault {
		if c.Method == method && c.Nth >= nth {
			return f
		}
		return Fault{}
	}
}

// Sometimes lets a share of the calls that write go wrong, with one of the
// faults; which, the seed decides. Of the faults that leave open whether the call
// was done only Commit gets any, as it alone can be repeated without looking.
func Sometimes(seed uint64, share float64, faults ...Fault) Plan {
	rng := rand.New(rand.NewPCG(seed, seed)) //nolint:gosec // the same seed, the same faults
	return func(c Call) Fault {
		if len(faults) == 0 || !writes[c.Method] || rng.Float64() >= share {
			return Fault{}
		}
		f := faults[rng.IntN(len(faults))]
		if errors.Is(f.Err, storage.ErrUnsure) && c.Method != "Commit" {
			return Fault{}
		}
		return f
	}
}

var writes = map[string]bool{
	"Create": true, "Begin": true, "Try": true, "Acquit": true, "Commit": true, "Release": true, "Step": true,
	"Transact": true,
	"Send":     true, "EndToken": true, "TakeToken": true, "KeepToken": true, "Beat": true,
	"PutDefinition": true, "WriteRecords": true, "WriteAudit": true, "Sent": true, "Unsent": true, "Purge": true,
	"PostJob": true, "ClaimJobs": true, "RenewJob": true, "EndJob": true, "PurgeJobs": true,
	"PutSchedule": true, "MoveSchedule": true, "DeleteSchedule": true,
}

// New returns a store that passes calls on to another and lets go wrong what
// the plan says. It is a [storage.Transactor] when the other is.
func New(s storage.Store, plan Plan) storage.Store {
	f := &store{Store: s, plan: plan, count: map[string]int{}}
	if tx, ok := s.(storage.Transactor); ok {
		return &transactor{f, tx}
	}
	return f
}

type store struct {
	storage.Store

	mu    sync.Mutex
	plan  Plan
	count map[string]int
}

type transactor struct {
	*store

	tx storage.Transactor
}

// fault asks the plan, and waits if it says so.
func (f *store) fault(ctx context.Context, c Call) (Fault, error) {
	f.mu.Lock()
	f.count[c.Method]++
	c.Nth = f.count[c.Method]
	fault := f.plan(c)
	f.mu.Unlock()
	if fault.Delay <= 0 {
		return fault, nil
	}
	timer := time.NewTimer(fault.Delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return fault, nil
	case <-ctx.Done():
		return fault, ctx.Err()
	}
}

// do makes a call that answers with an error alone.
func (f *store) do(ctx context.Context, c Call, call func() error) error {
	_, err := answer(ctx, f, c, func() (struct{}, error) { return struct{}{}, call() })
	return err
}

// answer makes a call that answers with something.
func answer[T any](ctx context.Context, f *store, c Call, call func() (T, error)) (T, error) {
	var none T
	fault, err := f.fault(ctx, c)
	switch {
	case err != nil:
		return none, err
	case fault.Err == nil:
		return call()
	case fault.Done:
		if _, err := call(); err != nil {
			return none, err
		}
	}
	return none, fault.Err
}

func (f *store) Create(ctx context.Context, run storage.Run, checks ...storage.RecordCheck) error {
	return f.do(ctx, Call{Method: "Create", Run: run.ID}, func() error { return f.Store.Create(ctx, run, checks...) })
}

func (f *store) Begin(ctx context.Context, run string) (storage.Claim, *storage.Snapshot, error) {
	return f.begin(ctx, Call{Method: "Begin", Run: run}, func() (storage.Claim, *storage.Snapshot, error) {
		return f.Store.Begin(ctx, run)
	})
}

func (f *store) Seize(ctx context.Context, run string) (storage.Claim, *storage.Snapshot, error) {
	return f.begin(ctx, Call{Method: "Seize", Run: run}, func() (storage.Claim, *storage.Snapshot, error) {
		return f.Store.Seize(ctx, run)
	})
}

func (f *store) Try(ctx context.Context, run string) (storage.Claim, *storage.Snapshot, error) {
	return f.begin(ctx, Call{Method: "Try", Run: run}, func() (storage.Claim, *storage.Snapshot, error) {
		return f.Store.Try(ctx, run)
	})
}

func (f *store) Acquit(ctx context.Context, claim storage.Claim) error {
	return f.do(ctx, Call{Method: "Acquit", Run: claim.Run}, func() error { return f.Store.Acquit(ctx, claim) })
}

func (f *store) begin(ctx context.Context, c Call, call func() (storage.Claim, *storage.Snapshot, error)) (
	storage.Claim, *storage.Snapshot, error,
) {
	var snap *storage.Snapshot
	claim, err := answer(ctx, f, c, func() (claim storage.Claim, err error) {
		claim, snap, err = call()
		return claim, err
	})
	if err != nil {
		return storage.Claim{}, nil, err
	}
	return claim, snap, nil
}

func (f *store) Due(ctx context.Context, q storage.DueQuery) (due []storage.Due, next time.Time, err error) {
	due, err = answer(ctx, f, Call{Method: "Due"}, func() (due []storage.Due, err error) {
		due, next, err = f.Store.Due(ctx, q)
		return due, err
	})
	return due, next, err
}

func (f *store) Commit(ctx context.Context, claim storage.Claim, cp *storage.Checkpoint) error {
	return f.do(ctx, Call{Method: "Commit", Run: claim.Run, Checkpoint: cp}, func() error {
		return f.Store.Commit(ctx, claim, cp)
	})
}

func (f *store) Release(ctx context.Context, claim storage.Claim, wakeups int64, due time.Time) error {
	return f.do(ctx, Call{Method: "Release", Run: claim.Run}, func() error {
		return f.Store.Release(ctx, claim, wakeups,
			due)
	})
}

func (f *store) Step(ctx context.Context, run string, step func(*storage.Snapshot) (*storage.Checkpoint, error)) error {
	return f.do(ctx, Call{Method: "Step", Run: run}, func() error { return f.Store.Step(ctx, run, step) })
}

func (f *transactor) Transact(ctx context.Context, claim storage.Claim, key string, fn func(*sql.Tx) (atom.Value,
	error),
) (atom.Value, error) {
	return answer(ctx, f.store, Call{Method: "Transact", Run: claim.Run}, func() (atom.Value, error) {
		return f.tx.Transact(ctx, claim, key, fn)
	})
}

func (f *store) Send(ctx context.Context, messages ...storage.Message) error {
	return f.do(ctx, Call{Method: "Send"}, func() error { return f.Store.Send(ctx, messages...) })
}

func (f *store) EndToken(ctx context.Context, id string, end storage.TokenEnd) (storage.Token, error) {
	return answer(ctx, f, Call{Method: "EndToken"}, func() (storage.Token, error) {
		return f.Store.EndToken(ctx, id, end)
	})
}

func (f *store) Beat(ctx context.Context, id string) (storage.Token, error) {
	return answer(ctx, f, Call{Method: "Beat"}, func() (storage.Token, error) { return f.Store.Beat(ctx, id) })
}

func (f *store) Messages(ctx context.Context, run string, after int64) (wakeups int64, messages []storage.Message,
	err error,
) {
	err = f.do(ctx, Call{Method: "Messages", Run: run}, func() (err error) {
		wakeups, messages, err = f.Store.Messages(ctx, run, after)
		return err
	})
	return wakeups, messages, err
}

func (f *store) RunsWithMessages(ctx context.Context, since int64) (changed []storage.Arrival, now int64, err error) {
	err = f.do(ctx, Call{Method: "RunsWithMessages"}, func() (err error) {
		changed, now, err = f.Store.RunsWithMessages(ctx, since)
		return err
	})
	return changed, now, err
}

func (f *store) KeepToken(ctx context.Context, id string, k storage.Keeping) (storage.Token, error) {
	return answer(ctx, f, Call{Method: "KeepToken"}, func() (storage.Token, error) {
		return f.Store.KeepToken(ctx, id, k)
	})
}

func (f *store) TakeToken(ctx context.Context, q storage.Taking) (t storage.Token, err error) {
	err = f.do(ctx, Call{Method: "TakeToken"}, func() (err error) {
		t, err = f.Store.TakeToken(ctx, q)
		return err
	})
	return t, err
}

func (f *store) SetLimit(ctx context.Context, limit storage.Limit) error {
	return f.do(ctx, Call{Method: "SetLimit"}, func() error { return f.Store.SetLimit(ctx, limit) })
}

func (f *store) Limits(ctx context.Context) ([]storage.Limit, error) {
	return answer(ctx, f, Call{Method: "Limits"}, func() ([]storage.Limit, error) { return f.Store.Limits(ctx) })
}

func (f *store) Limited(ctx context.Context, run string) (*storage.LimitedError, error) {
	return answer(ctx, f, Call{Method: "Limited", Run: run}, func() (*storage.LimitedError, error) {
		return f.Store.Limited(ctx, run)
	})
}

func (f *store) Run(ctx context.Context, id string) (storage.Run, error) {
	return answer(ctx, f, Call{Method: "Run", Run: id}, func() (storage.Run, error) { return f.Store.Run(ctx, id) })
}

func (f *store) Runs(ctx context.Context, q storage.RunQuery) ([]storage.Run, error) {
	return answer(ctx, f, Call{Method: "Runs"}, func() ([]storage.Run, error) { return f.Store.Runs(ctx, q) })
}

func (f *store) Events(ctx context.Context, run string, q storage.EventQuery) ([]storage.Entry, error) {
	return answer(ctx, f, Call{Method: "Events", Run: run}, func() ([]storage.Entry, error) {
		return f.Store.Events(ctx, run, q)
	})
}

func (f *store) Look(ctx context.Context, q storage.RunQuery, most int) (storage.Sight, error) {
	return answer(ctx, f, Call{Method: "Look"}, func() (storage.Sight, error) { return f.Store.Look(ctx, q, most) })
}

func (f *store) Tally(ctx context.Context, q storage.RunQuery, t storage.Tallying) (storage.Tally, error) {
	return answer(ctx, f, Call{Method: "Tally"}, func() (storage.Tally, error) { return f.Store.Tally(ctx, q, t) })
}

func (f *store) Received(ctx context.Context, run, key string) (bool, error) {
	return answer(ctx, f, Call{Method: "Received", Run: run}, func() (bool, error) {
		return f.Store.Received(ctx, run, key)
	})
}

func (f *store) ParkedMessages(ctx context.Context, limit int) ([]storage.Outgoing, error) {
	return answer(ctx, f, Call{Method: "ParkedMessages"}, func() ([]storage.Outgoing, error) {
		return f.Store.ParkedMessages(ctx, limit)
	})
}

func (f *store) InProgress(ctx context.Context, runs []storage.Run, most int) (
	list []storage.Progress, cut bool, err error,
) {
	list, err = answer(ctx, f, Call{Method: "InProgress"}, func() (list []storage.Progress, err error) {
		list, cut, err = f.Store.InProgress(ctx, runs, most)
		return list, err
	})
	return list, cut, err
}

func (f *store) CountRuns(ctx context.Context, q storage.RunQuery) (int, error) {
	return answer(ctx, f, Call{Method: "CountRuns"}, func() (int, error) { return f.Store.CountRuns(ctx, q) })
}

func (f *store) Atoms(ctx context.Context, run string, q storage.AtomQuery) ([]storage.Atom, error) {
	return answer(ctx, f, Call{Method: "Atoms", Run: run}, func() ([]storage.Atom, error) {
		return f.Store.Atoms(ctx, run, q)
	})
}

func (f *store) AtomsAt(ctx context.Context, run string, paths ...string) ([]storage.Atom, error) {
	return answer(ctx, f, Call{Method: "AtomsAt", Run: run}, func() ([]storage.Atom, error) {
		return f.Store.AtomsAt(ctx, run, paths...)
	})
}

func (f *store) Atom(ctx context.Context, run, path string) (storage.Atom, error) {
	return answer(ctx, f, Call{Method: "Atom", Run: run}, func() (storage.Atom, error) {
		return f.Store.Atom(ctx, run, path)
	})
}

func (f *store) Tries(ctx context.Context, run, path string) (atom.History, error) {
	return answer(ctx, f, Call{Method: "Tries", Run: run}, func() (atom.History, error) {
		return f.Store.Tries(ctx, run, path)
	})
}

func (f *store) History(ctx context.Context, run string, after int64, limit int) ([]storage.Entry, error) {
	return answer(ctx, f, Call{Method: "History", Run: run}, func() ([]storage.Entry, error) {
		return f.Store.History(ctx, run, after, limit)
	})
}

func (f *store) Undos(ctx context.Context, run string, below int64, limit int) ([]storage.Undo, error) {
	return answer(ctx, f, Call{Method: "Undos", Run: run}, func() ([]storage.Undo, error) {
		return f.Store.Undos(ctx, run, below, limit)
	})
}

func (f *store) RunTimers(ctx context.Context, run string) ([]storage.TimerRow, error) {
	return answer(ctx, f, Call{Method: "RunTimers", Run: run}, func() ([]storage.TimerRow, error) {
		return f.Store.RunTimers(ctx, run)
	})
}

func (f *store) RunTokens(ctx context.Context, run string) ([]storage.Token, error) {
	return answer(ctx, f, Call{Method: "RunTokens", Run: run}, func() ([]storage.Token, error) {
		return f.Store.RunTokens(ctx, run)
	})
}

func (f *store) Token(ctx context.Context, id string) (storage.Token, error) {
	return answer(ctx, f, Call{Method: "Token"}, func() (storage.Token, error) { return f.Store.Token(ctx, id) })
}

func (f *store) WriteRecords(ctx context.Context, writes ...storage.RecordWrite) ([]storage.NamedRecord, error) {
	return answer(ctx, f, Call{Method: "WriteRecords"}, func() ([]storage.NamedRecord, error) {
		return f.Store.WriteRecords(ctx, writes...)
	})
}

func (f *store) NamedRecord(ctx context.Context, kind, key string) (storage.NamedRecord, error) {
	return answer(ctx, f, Call{Method: "NamedRecord"}, func() (storage.NamedRecord, error) {
		return f.Store.NamedRecord(ctx, kind, key)
	})
}

func (f *store) NamedRecords(ctx context.Context, q storage.RecordQuery) ([]storage.NamedRecord, error) {
	return answer(ctx, f, Call{Method: "NamedRecords"}, func() ([]storage.NamedRecord, error) {
		return f.Store.NamedRecords(ctx, q)
	})
}

func (f *store) CountRecords(ctx context.Context, kind, prefix string) (int, error) {
	return answer(ctx, f, Call{Method: "CountRecords"}, func() (int, error) {
		return f.Store.CountRecords(ctx, kind, prefix)
	})
}

func (f *store) AwaitEnd(ctx context.Context, run string) (storage.Run, error) {
	return answer(ctx, f, Call{Method: "AwaitEnd", Run: run}, func() (storage.Run, error) {
		return f.Store.AwaitEnd(ctx, run)
	})
}

func (f *store) AwaitToken(ctx context.Context, t storage.Taking, wait time.Duration,
	enough <-chan struct{},
) (storage.Token, error) {
	return answer(ctx, f, Call{Method: "AwaitToken"}, func() (storage.Token, error) {
		return f.Store.AwaitToken(ctx, t, wait, enough)
	})
}

func (f *store) PutDefinition(ctx context.Context, def storage.Definition) (storage.Definition, error) {
	return answer(ctx, f, Call{Method: "PutDefinition"}, func() (storage.Definition, error) {
		return f.Store.PutDefinition(ctx, def)
	})
}

func (f *store) Definitions(ctx context.Context, name string) ([]storage.Definition, error) {
	return answer(ctx, f, Call{Method: "Definitions"}, func() ([]storage.Definition, error) {
		return f.Store.Definitions(ctx, name)
	})
}

func (f *store) Definition(ctx context.Context, hash string) (storage.Definition, error) {
	return answer(ctx, f, Call{Method: "Definition"}, func() (storage.Definition, error) {
		return f.Store.Definition(ctx, hash)
	})
}

func (f *store) Outgoing(ctx context.Context, now time.Time, limit int) ([]storage.Outgoing, error) {
	return answer(ctx, f, Call{Method: "Outgoing"}, func() ([]storage.Outgoing, error) {
		return f.Store.Outgoing(ctx, now, limit)
	})
}

func (f *store) Sent(ctx context.Context, n ...int64) error {
	return f.do(ctx, Call{Method: "Sent"}, func() error { return f.Store.Sent(ctx, n...) })
}

func (f *store) OpenRun(ctx context.Context, key string) (string, error) {
	return answer(ctx, f, Call{Method: "OpenRun"}, func() (string, error) { return f.Store.OpenRun(ctx, key) })
}

func (f *store) StrayKeys(ctx context.Context, limit int) ([]string, error) {
	return answer(ctx, f, Call{Method: "StrayKeys"}, func() ([]string, error) { return f.Store.StrayKeys(ctx, limit) })
}

func (f *store) Labeled(ctx context.Context, value string, keys ...string) (map[string][]string, error) {
	return answer(ctx, f, Call{Method: "Labeled"}, func() (map[string][]string, error) {
		return f.Store.Labeled(ctx, value, keys...)
	})
}

func (f *store) Descendants(ctx context.Context, root string) (int64, error) {
	return answer(ctx, f, Call{Method: "Descendants", Run: root}, func() (int64, error) {
		return f.Store.Descendants(ctx, root)
	})
}

func (f *store) RunOutbox(ctx context.Context, run string, limit int) ([]storage.Outgoing, error) {
	return answer(ctx, f, Call{Method: "RunOutbox", Run: run}, func() ([]storage.Outgoing, error) {
		return f.Store.RunOutbox(ctx, run, limit)
	})
}

func (f *store) Unsent(ctx context.Context, out storage.Outgoing) error {
	return f.do(ctx, Call{Method: "Unsent", Run: out.Run}, func() error { return f.Store.Unsent(ctx, out) })
}

func (f *store) Purge(ctx context.Context, runs ...string) (int, error) {
	return answer(ctx, f, Call{Method: "Purge"}, func() (int, error) { return f.Store.Purge(ctx, runs...) })
}

func (f *store) Owners(ctx context.Context) ([]storage.Owner, error) {
	return answer(ctx, f, Call{Method: "Owners"}, func() ([]storage.Owner, error) { return f.Store.Owners(ctx) })
}

func (f *store) PostJob(ctx context.Context, job storage.Job) error {
	return f.do(ctx, Call{Method: "PostJob", Run: job.Run}, func() error { return f.Store.PostJob(ctx, job) })
}

func (f *store) ClaimJobs(ctx context.Context, q storage.JobClaim) ([]storage.Job, error) {
	return answer(ctx, f, Call{Method: "ClaimJobs"}, func() ([]storage.Job, error) { return f.Store.ClaimJobs(ctx, q) })
}

func (f *store) RenewJob(ctx context.Context, id string, epoch int64, claim string, lease time.Duration) error {
	return f.do(ctx, Call{Method: "RenewJob"}, func() error { return f.Store.RenewJob(ctx, id, epoch, claim, lease) })
}

func (f *store) EndJob(ctx context.Context, end storage.JobEnd) error {
	return f.do(ctx, Call{Method: "EndJob"}, func() error { return f.Store.EndJob(ctx, end) })
}

func (f *store) Job(ctx context.Context, id string) (storage.Job, error) {
	return answer(ctx, f, Call{Method: "Job"}, func() (storage.Job, error) { return f.Store.Job(ctx, id) })
}

func (f *store) JobList(ctx context.Context, q storage.JobQuery) ([]storage.Job, error) {
	return answer(ctx, f, Call{Method: "JobList"}, func() ([]storage.Job, error) { return f.Store.JobList(ctx, q) })
}

func (f *store) JobCounts(ctx context.Context) ([]storage.JobCount, error) {
	return answer(ctx, f, Call{Method: "JobCounts"}, func() ([]storage.JobCount, error) { return f.Store.JobCounts(ctx) })
}

func (f *store) PurgeJobs(ctx context.Context, q storage.JobPurge) (int, error) {
	return answer(ctx, f, Call{Method: "PurgeJobs"}, func() (int, error) { return f.Store.PurgeJobs(ctx, q) })
}

func (f *store) PutSchedule(ctx context.Context, s storage.Schedule) error {
	return f.do(ctx, Call{Method: "PutSchedule"}, func() error { return f.Store.PutSchedule(ctx, s) })
}

func (f *store) MoveSchedule(ctx context.Context, move storage.ScheduleMove) error {
	return f.do(ctx, Call{Method: "MoveSchedule"}, func() error { return f.Store.MoveSchedule(ctx, move) })
}

func (f *store) DeleteSchedule(ctx context.Context, id string) error {
	return f.do(ctx, Call{Method: "DeleteSchedule"}, func() error { return f.Store.DeleteSchedule(ctx, id) })
}

func (f *store) Schedule(ctx context.Context, id string) (storage.Schedule, error) {
	return answer(ctx, f, Call{Method: "Schedule"}, func() (storage.Schedule, error) { return f.Store.Schedule(ctx, id) })
}

func (f *store) Schedules(ctx context.Context) ([]storage.Schedule, error) {
	return answer(ctx, f, Call{Method: "Schedules"}, func() ([]storage.Schedule, error) { return f.Store.Schedules(ctx) })
}

func (f *store) DueSchedules(ctx context.Context, limit int) (due []storage.Schedule, now, next time.Time, err error) {
	err = f.do(ctx, Call{Method: "DueSchedules"}, func() (err error) {
		due, now, next, err = f.Store.DueSchedules(ctx, limit)
		return err
	})
	return due, now, next, err
}

func (f *store) WriteAudit(ctx context.Context, line storage.AuditLine) error {
	return f.do(ctx, Call{Method: "WriteAudit"}, func() error { return f.Store.WriteAudit(ctx, line) })
}

func (f *store) Audit(ctx context.Context, q storage.AuditQuery) ([]storage.AuditLine, error) {
	return answer(ctx, f, Call{Method: "Audit", Run: q.Run}, func() ([]storage.AuditLine, error) {
		return f.Store.Audit(ctx, q)
	})
}

package sqlstore

import (
	"context"
	"slices"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
)

const (
	// Neglected is how long work may be due before [Status] reports it.
	Neglected = time.Minute
	// MaxFound bounds the counts of a [Found], so that a backlog does not make them expensive.
	MaxFound = 10_000
)

// A Status is the state of a whole database at one moment. Metrics and `ebb doctor` report it.
type Status struct {
	At         time.Time           // by the database's clock
	Runs       map[states.Flow]int // stored runs by state
	Driven     int                 // runs that a process drives
	Undriven   Found               // runs that no process drives: due for [Neglected], or their process has died
	Limited    Found               // the same, of runs that a limit counts, while a limit is used up
	NeedPerson Found               // runs whose undo failed or that were set aside: an operator must decide
	CrashLoops int                 // runs that may kill the processes that drive them
	Isolated   int                 // of them, isolated now
	Jobs       []backend.JobCount  // jobs that have not ended
	Unclaimed  Found               // jobs that were ready to be claimed for [Neglected]
	ParkedJobs Found               // jobs that an operator must decide about
	Parked     Found               // messages to other systems whose delivery failed too often
	Late       Found               // schedules whose tick was due for [Neglected]
	Limits     []LimitUse          // limits on driven runs
	Processes  int                 // processes that use the database
}

// A Found says how many of something there are, and which is the oldest.
type Found struct {
	Count int       // at most [MaxFound]
	ID    string    // of the oldest: the id of a run, job or schedule
	Flow  string    // of the oldest; "" if unknown
	Since time.Time // since when the oldest waits; zero if unknown
}

// A LimitUse says how much of a limit on driven runs is in use.
type LimitUse struct {
	storage.Limit

	Used int // driven runs; of a limit by label, those of the value with the most
}

const (
	// countRuns groups by the class only for the sake of its index.
	countRuns  = `SELECT state, count(*) AS runs FROM runs GROUP BY class, state`
	countOwned = `SELECT owner, count(*) AS runs FROM runs WHERE owner <> '' GROUP BY owner`

	countDue     = `SELECT count(*) FROM (SELECT 1 FROM runs WHERE ` + freeDue + ` LIMIT $2 + 0) r`
	countLimited = `SELECT count(*) FROM (SELECT 1 FROM runs WHERE ` + limitedDue + ` LIMIT $2 + 0) r`
	countPerson  = `SELECT count(*) FROM (SELECT 1 FROM runs WHERE ` + needsPerson + ` LIMIT $1 + 0) r`
	countParked  = `SELECT count(*) FROM (SELECT 1 FROM outbox WHERE parked LIMIT $1 + 0) o`
	countLate    = `SELECT count(*) FROM (SELECT 1 FROM schedules WHERE ` + isLate + ` LIMIT $2 + 0) s`

	countUnclaimed  = `SELECT count(*) FROM (SELECT 1 FROM jobs WHERE ` + unclaimed + ` LIMIT $2 + 0) j`
	countParkedJobs = `SELECT count(*) FROM (SELECT 1 FROM jobs WHERE ` + parkedJob + ` LIMIT $1 + 0) j`

	oldestDue     = oldestRun + freeDue + ` ORDER BY due LIMIT 1`
	oldestLimited = oldestRun + limitedDue + ` ORDER BY bucket, due LIMIT 1`
	oldestPerson  = oldestRun + needsPerson + ` ORDER BY n LIMIT 1`
	oldestParked  = `SELECT run AS id, '' AS flow, NULL AS since FROM outbox WHERE parked ORDER BY n LIMIT 1`
	oldestLate    = `SELECT id, flow, next AS since FROM schedules WHERE ` + isLate + ` ORDER BY next LIMIT 1`

	firstUnclaimed = `SELECT id, flow, created AS since FROM jobs WHERE ` + unclaimed + `
		ORDER BY priority DESC, n LIMIT 1`
	firstParkedJob = `SELECT id, flow, created AS since FROM jobs WHERE ` + parkedJob + `
		ORDER BY priority DESC, n LIMIT 1`

	// The condition on the time stands first: runs that are not due yet are not read.
	freeDue    = `bucket IS NULL AND due IS NOT NULL AND due <= $1 AND NOT hold`
	limitedDue = `bucket IS NOT NULL AND due IS NOT NULL AND due <= $1 AND NOT hold`
	isLate     = `next IS NOT NULL AND next <= $1 AND NOT paused`
	unclaimed  = `state = ` + jobUnclaimed + ` AND created <= $1 AND (not_until IS NULL OR not_until <= $1)`
	// The run of a parked job, if there is one, needs a person itself.
	parkedJob = `state = ` + jobParked + ` AND state <> ` + jobComplete + `
  AND NOT EXISTS (SELECT 1 FROM origins WHERE origins.id = jobs.run AND origins.job = jobs.id)`
	someOwned = `SELECT (SELECT id FROM origins WHERE n = runs.n) AS id, (SELECT flow FROM origins
		WHERE n = runs.n) AS flow,
  updated AS since FROM runs WHERE owner <> '' AND owner = $1 LIMIT 1`
	oldestRun = `SELECT (SELECT id FROM origins WHERE n = runs.n) AS id, (SELECT flow FROM origins
		WHERE n = runs.n) AS flow,
  due AS since FROM runs WHERE `
)

// Status: see [Store.Status].
func (s *store) Status(ctx context.Context) (*Status, error) {
	owners, err := s.Owners(ctx)
	if err != nil {
		return nil, err
	}
	st, alive := &Status{Runs: map[states.Flow]int{}}, map[string]bool{}
	for i := range owners {
		if owners[i].Alive {
			st.Processes++
			alive[owners[i].ID] = true
		}
	}
	if st.Jobs, err = s.JobCounts(ctx); err != nil {
		return nil, err
	}
	looping, tried, err := s.countCrashLoops(ctx)
	if err != nil {
		return nil, err
	}
	st.CrashLoops, st.Isolated = int(looping), int(tried)
	return st, s.view(ctx, func(r *session) error { return st.read(ctx, r, alive) })
}

// read reads what one transaction can see.
func (st *Status) read(ctx context.Context, r *session, alive map[string]bool) (err error) {
	if st.At, err = r.now(ctx); err != nil {
		return err
	}
	if _, err := readable(ctx, r, func(row *runCountRow) (bool, error) {
		st.Runs[states.Flow(row.State)] += row.Runs
		return true, nil
	}, countRuns); err != nil {
		return err
	}
	due := micros(st.At.Add(-Neglected))
	for _, look := range []struct {
		found         *Found
		count, oldest string
		args          []any
	}{
		{&st.Undriven, countDue, oldestDue, []any{due}},
		{&st.Limited, countLimited, oldestLimited, []any{due}},
		{&st.NeedPerson, countPerson, oldestPerson, nil},
		{&st.Parked, countParked, oldestParked, nil},
		{&st.Unclaimed, countUnclaimed, firstUnclaimed, []any{due}},
		{&st.ParkedJobs, countParkedJobs, firstParkedJob, nil},
		{&st.Late, countLate, oldestLate, []any{due}},
	} {
		if err := look.found.read(ctx, r, look.count, look.oldest, look.args); err != nil {
			return err
		}
	}
	st.Limits, err = limitUses(ctx, r)
	full := slices.ContainsFunc(st.Limits, func(l LimitUse) bool { return l.Used >= l.Runs })
	if !full && st.Limited.Count > 0 { // no limit keeps them from being driven
		if st.Undriven.Count == 0 || st.Limited.Since.Before(st.Undriven.Since) {
			st.Undriven.ID, st.Undriven.Flow, st.Undriven.Since = st.Limited.ID, st.Limited.Flow, st.Limited.Since
		}
		st.Undriven.Count, st.Limited = st.Undriven.Count+st.Limited.Count, Found{}
	}
	if err != nil {
		return err
	}
	return st.readOwned(ctx, r, alive)
}

// readOwned reads which runs have an owner. A run whose owner has died waits for another process, as one that is due.
func (st *Status) readOwned(ctx context.Context, r *session, alive map[string]bool) error {
	owned, err := ownedRuns(ctx, r)
	if err != nil {
		return err
	}
	for owner, n := range owned {
		if alive[owner] {
			st.Driven += n
			continue
		}
		rows, err := each[foundRow](ctx, r, someOwned, owner)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			continue
		}
		row := rows[0]
		if since := row.Since.time(); st.Undriven.Count == 0 || since.Before(st.Undriven.Since) {
			st.Undriven.ID, st.Undriven.Flow, st.Undriven.Since = row.ID, row.Flow, since
		}
		st.Undriven.Count = min(st.Undriven.Count+n, MaxFound)
	}
	return nil
}

type runCountRow struct {
	unread

	State, Runs int
}

// A foundRow is a row that a [Found] names.
type foundRow struct {
	unread

	ID, Flow string
	Since    moment
}

func (f *Found) read(ctx context.Context, r *session, count, oldest string, args []any) error {
	if err := r.Get(ctx, &f.Count, count, append(args, MaxFound)...); err != nil || f.Count == 0 {
		return err
	}
	rows, err := each[foundRow](ctx, r, oldest, args...)
	if len(rows) > 0 {
		f.ID, f.Flow, f.Since = rows[0].ID, rows[0].Flow, rows[0].Since.time()
	}
	return err
}

// limitUses returns the limits on driven runs, and how much of each is in use.
func limitUses(ctx context.Context, r *session) ([]LimitUse, error) {
	limits, err := readLimits(ctx, r)
	if err != nil || len(limits) == 0 {
		return nil, err
	}
	t := rules.NewLimiterState(limits)
	if err := count(ctx, r, t, selectDriven, 0); err != nil {
		return nil, err
	}
	limits, most := t.Most()
	uses := make([]LimitUse, len(limits))
	for i := range limits {
		uses[i] = LimitUse{Limit: limits[i], Used: most[i]}
	}
	return uses, nil
}
